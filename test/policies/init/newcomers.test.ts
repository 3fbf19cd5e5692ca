// A newcomer's first day under each preset: what runs at once, what is asked about and why, and
// what no preset lets through.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { presetText } from '../../../src/policies/init/document.ts';
import { PRESETS, type Preset } from '../../../src/policies/init/presets.ts';
import { type ProjectFacts, projectFacts } from '../../../src/policies/init/project.ts';
import { type Judgement, judge } from '../../../src/policy/decide.ts';
import { exportPolicy } from '../../../src/policy/export/index.ts';
import { attacksAllowed } from '../../../src/policy/generate/trial.ts';
import { lintPolicy } from '../../../src/policy/lint.ts';
import { readPolicy } from '../../../src/policy/load.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import attacks from '../../policy/fixtures/attacks.json' with { type: 'json' };
import { NEWCOMERS, type NewcomerList } from './newcomers.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'cuff-newcomers-')));
const home = join(root, 'you');

afterAll(() => rmSync(root, { recursive: true, force: true }));

type Made = { readonly project: string; readonly facts: ProjectFacts };

function made({ kind, files }: Pick<NewcomerList, 'kind' | 'files'>): Made {
  const project = join(home, kind);
  mkdirSync(join(project, '.git'), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
  return { project, facts: projectFacts(project) };
}

function textOf(preset: Preset, { facts }: Made): string {
  return presetText({ preset, facts, schema: './policy.schema.json' });
}

function policyOf(preset: Preset, project: Made): Policy {
  const read = readPolicy(textOf(preset, project), { home, project: project.project });
  if ('policy' in read) return read.policy;
  throw new Error(read.problems.map(({ line, message }) => `${line}: ${message}`).join('\n'));
}

function judgementOf(preset: Preset, project: Made): Judgement {
  const policy = policyOf(preset, project);
  const policies = [{ policy, origin: 'project', file: undefined }] as const;
  return judge({ policies, project: project.project, home });
}

function verdicts(preset: Preset, list: NewcomerList): ReadonlyMap<string, string> {
  const project = made(list);
  const judgement = judgementOf(preset, project);
  return new Map(
    list.commands.map((one) => [one, judgement.decide(one, project.project).verdict] as const),
  );
}

/** What of the lists would change a source, the repository or another process. */
const CHANGES =
  /--fix|--write|fmt$|format|gofmt -w|<<|mv |sed -i|git add|kill|run dev|-dev |add serde|get git/;

it('a rule for `manage.py` covers no option that says whose code runs', () => {
  const files = { 'manage.py': '', 'requirements.txt': 'django\n' };
  const project = made({ kind: 'Django', files });
  const judgement = judgementOf('dev', project);
  const verdict = (words: string): string =>
    judgement.decide(`python manage.py ${words}`, project.project).verdict;
  const usual = ['check --deploy', 'test', 'test shop.tests -v 2', 'test --keepdb shop'];
  expect(usual.map(verdict)).toEqual(usual.map(() => 'allow'));
  const other = ['check --pythonpath /srv', 'test --settings=evil', 'test -t ..', 'test ../other'];
  expect(other.map(verdict)).toEqual(other.map(() => 'ask'));
});

describe.each(NEWCOMERS)('a newcomer to a $kind project', (list) => {
  it(`may run ${list.allowedMin} of ${list.commands.length} commands at the first try`, () => {
    const found = [...verdicts('dev', list)];
    const allowed = found.filter(([, verdict]) => verdict === 'allow').length;
    const { commands, allowedMin, kind } = list;
    process.stderr.write(`${kind}: dev allows ${allowed} of ${commands.length}\n`);
    expect(allowed).toBeGreaterThanOrEqual(allowedMin);
    const asked = found.filter(([, verdict]) => verdict !== 'allow').map(([command]) => command);
    expect(asked).toEqual([...list.asked.keys()]);
    expect(found.filter(([, verdict]) => verdict === 'deny')).toEqual([]);
  });

  it('may look, and nothing else, under `read-only`', () => {
    const found = [...verdicts('read-only', list)];
    const allowed = found.flatMap(([, verdict], at) => (verdict === 'allow' ? [at] : []));
    expect(allowed).toEqual(list.reading);
  });

  it('is asked nothing under `ci`, which changes no source', () => {
    const found = [...verdicts('ci', list)];
    expect(found.filter(([, verdict]) => verdict === 'ask')).toEqual([]);
    const allowed = found.flatMap(([command, verdict]) => (verdict === 'allow' ? [command] : []));
    expect(allowed.filter((command) => CHANGES.test(command))).toEqual([]);
    expect(allowed.length).toBeGreaterThan(list.reading.length);
  });

  it.each(PRESETS)('gets from `%s` a file that a linter has nothing to say about', (preset) => {
    const project = made(list);
    const text = textOf(preset, project);
    expect(lintPolicy(text, { home, project: project.project, guest: true })).toEqual({
      kind: 'valid',
      warnings: [],
    });
    expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=./policy.schema.json');
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(160);
  });
});

it('only `dev` writes by scopes and lets filters through', () => {
  const project = made({ kind: 'empty', files: {} });
  const keys = PRESETS.map((preset) => {
    const { version, filters, default: fallback, mode } = policyOf(preset, project);
    return [preset, version, filters, fallback, mode];
  });
  expect(keys).toEqual([
    ['dev', 2, true, 'ask', 'enforce'],
    ['read-only', 1, false, 'ask', 'enforce'],
    ['ci', 1, false, 'deny', 'enforce'],
  ]);
});

const PAYLOAD =
  /evil|payload|pwn|\/tmp\/p|passwd|\.ssh|\.env\b|\bsh\b|id_rsa|\/etc\/|\.git\/|~\/|sudo/;

describe('a project of every kind at once', () => {
  const files = Object.assign({}, ...NEWCOMERS.map((list) => list.files));
  const everything = made({ kind: 'everything', files });

  it.each(PRESETS)('lets no attack of the trial through `%s`', (preset) => {
    const allowed = attacksAllowed(policyOf(preset, everything), home);
    expect(allowed.map(({ reasons: [reason] }) => reason?.unit)).toEqual([]);
  });

  it.each(PRESETS)('exports of `%s` only commands that are allowed here, whole', (preset) => {
    const policy = policyOf(preset, everything);
    const { text } = exportPolicy(policy, 'claude', { loose: false });
    const { allow } = JSON.parse(text).permissions as { allow: readonly string[] };
    const commands = allow.map((one) => /^Bash\((.*)\)$/s.exec(one)?.[1] ?? one);
    expect(commands.filter((one) => one.includes('*'))).toEqual([]);
    const judgement = judgementOf(preset, everything);
    const { project } = everything;
    expect(commands.filter((one) => judgement.decide(one, project).verdict !== 'allow')).toEqual(
      [],
    );
    expect(commands.length).toBeGreaterThan(0);
  });

  it.each(PRESETS)('lets no attack of the suite through `%s`', (preset) => {
    const judgement = judgementOf(preset, everything);
    // The suite has each command for the rule beside it, and some of them are fine for others.
    const commands = attacks.flatMap((one) => one.commands).filter((one) => PAYLOAD.test(one));
    expect(commands.length).toBeGreaterThan(1_000);
    const { project } = everything;
    const allowed = commands.filter((one) => judgement.decide(one, project).verdict === 'allow');
    // A server of this machine, which `dev` may ask; the mark behind `#` is never sent.
    const local = 'curl http://localhost:3000/../../x#@evil';
    expect(allowed).toEqual(preset === 'dev' ? [local] : []);
  });
});
