// The policy that comes with a project, beside those of the user and of the system: it tightens,
// and opens nothing until a person trusts it.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { allowAlways } from '../../src/policies/add-rule.ts';
import { PolicyEngine, type PolicyOptions } from '../../src/policies/engine.ts';
import * as files from '../../src/policies/files.ts';
import { countingSettings } from '../../src/trust/settings.ts';
import { until } from '../cli/helper.ts';
import { trusted } from '../trust.ts';
import { PolicyPlace } from './place.ts';

const USER = 'default: ask\npolicies: [{ name: u, commands: [{ pattern: ls }] }]\n';

const PROJECT = `default: allow
policies:
  - name: p
    commands:
      - { pattern: touch *, args: any }
      - { pattern: cat *, decision: deny }
      - { pattern: ls, decision: ask }
scopes: { read: [/srv/**], write: [/srv/**], protect: [kept/**] }
redirects: [out.txt]
env: [FOO]
network: [example.org]
`;

class Place extends PolicyPlace {
  readonly user = join(this.dir, 'config', 'cuff', 'policy.yml');
  readonly env: Record<string, string> = {
    HOME: join(this.dir, 'home'),
    XDG_CONFIG_HOME: join(this.dir, 'config'),
  };

  open(change: Partial<PolicyOptions> = {}): PolicyEngine {
    const { project, env, dir } = this;
    const systemFile = join(dir, 'etc', 'policy.yml');
    const places = { project, env, systemFile, stateRoot: join(dir, 'state') };
    const engine = PolicyEngine.open({ ...places, settleMs: 10, pollMs: 20, ...change }, files);
    onTestFinished(() => engine.close());
    return engine;
  }

  verdicts(engine: PolicyEngine, ...commands: readonly string[]): unknown[] {
    return commands.map((one) => engine.decide(one, this.project)?.decision.verdict);
  }
}

const COMMANDS = ['touch x', 'cat x', 'ls', 'echo hi > out.txt', 'FOO=1 true'];

describe('the policy of a project', () => {
  it('opens nothing beside that of the user until it is trusted, and tightens', async () => {
    const place = new Place();
    place.write(place.user, USER);
    place.write(place.own, PROJECT);
    const engine = place.open();
    expect(place.verdicts(engine, ...COMMANDS)).toEqual(['ask', 'deny', 'ask', 'ask', 'ask']);
    expect(engine.waiting).toEqual([
      "Parts of the project's policy in .cuff/policy.yml wait for a person to run `cuff trust`: " +
        '1 allow rule, scopes.read, scopes.write, redirects, env, network; what it denies, asks ' +
        'about and protects is in force.',
    ]);
    const [, own] = engine.policies;
    expect(own?.policy.scopes).toEqual({ cwd: [], read: [], write: [], protect: ['kept/**'] });
    trusted(place.project, place.env);
    await until(() => engine.waiting.length === 0, 'trust is noticed');
    expect(place.verdicts(engine, 'touch x', 'cat x', 'ls')).toEqual(['allow', 'deny', 'ask']);
    place.write(place.own, `${PROJECT}# another line\n`);
    await until(() => engine.waiting.length === 1, 'the change is noticed');
    expect(place.verdicts(engine, 'touch x', 'cat x')).toEqual(['ask', 'deny']);
  });

  it('counts as it is where it is alone, and for a process that was told so', () => {
    const place = new Place();
    place.write(place.own, PROJECT);
    const alone = place.open();
    expect([place.verdicts(alone, 'touch x'), alone.waiting]).toEqual([['allow'], []]);
    place.write(place.user, USER);
    const told = place.open({ trusted: true });
    expect([place.verdicts(told, 'touch x'), told.waiting]).toEqual([['allow'], []]);
  });

  it('opens nothing when the policy of the user is removed while it is in force', async () => {
    const place = new Place();
    place.write(place.user, USER);
    place.write(place.own, PROJECT);
    const engine = place.open();
    fs.rmSync(place.user);
    await until(() => engine.health().problems.length > 0, 'its absence is noticed');
    expect(place.verdicts(engine, 'touch x')).toEqual(['ask']);
  });

  it('is not the user’s because a variable names it', () => {
    const place = new Place();
    place.write(place.user, USER);
    const named = join(place.project, 'ci', 'mine.yml');
    place.write(named, PROJECT);
    place.env.CUFF_POLICY = 'ci/mine.yml';
    const waits = place.open();
    expect(place.verdicts(waits, 'touch x', 'cat x')).toEqual(['ask', 'deny']);
    expect(waits.waiting[0]).toContain('`CUFF_POLICY=ci/mine.yml cuff trust`');
    trusted(place.project, place.env);
    expect(place.verdicts(place.open(), 'touch x', 'cat x')).toEqual(['allow', 'deny']);
  });
});

it('a file of the repository is none of the user’s, wherever in it a server is started', () => {
  const place = new Place();
  const { project, dir, env } = place;
  place.write(place.user, USER);
  place.write(join(dir, 'mine.yml'), PROJECT);
  place.write(join(dir, 'own.yml'), 'plugins: { derun: }\n');
  Object.assign(env, { CUFF_POLICY: '../mine.yml', CUFF_SETTINGS: '../own.yml' });
  const counting = (): unknown => countingSettings({ cwd: project, env }).file;
  // Outside of a repository, what a variable names above the directory is the user's.
  expect(place.verdicts(place.open(), 'touch x', 'cat x')).toEqual(['allow', 'deny']);
  expect(counting()).toBe(join(dir, 'own.yml'));
  fs.mkdirSync(join(dir, '.git'));
  expect(place.verdicts(place.open(), 'touch x', 'cat x')).toEqual(['ask', 'deny']);
  expect(counting()).toBeUndefined();
  expect(countingSettings({ cwd: project, env }).waiting).toHaveLength(1);
  trusted(project, env);
  expect(place.verdicts(place.open(), 'touch x', 'cat x')).toEqual(['allow', 'deny']);
  expect(counting()).toBe(join(dir, 'own.yml'));
  // A home directory may be a repository; what is in it is still the user's.
  place.write(join(dir, 'mine.yml'), `${PROJECT}mode: enforce\n`);
  env.HOME = dir;
  expect(place.verdicts(place.open(), 'touch x')).toEqual(['allow']);
});

it('does not let a command write the list of what is trusted', () => {
  const place = new Place();
  place.write(place.user, 'default: allow\n');
  const list = join(place.dir, 'config', 'cuff', 'trusted.json');
  const engine = place.open();
  expect(place.verdicts(engine, 'touch other')).toEqual(['allow']);
  expect(place.verdicts(engine, `echo {} > ${list}`, `rm ${list}`)).not.toContain('allow');
});

describe('a rule that is added for good', () => {
  const request = (place: Place, command: string) =>
    ({ command, cwd: place.project, scope: 'project' }) as const;

  it('renews the trust of a file that was trusted, and trusts one that it makes', async () => {
    const place = new Place();
    place.write(place.user, USER);
    const engine = place.open();
    expect(await allowAlways(engine, request(place, 'touch x'))).toMatchObject({ kind: 'written' });
    expect(await allowAlways(engine, request(place, 'touch y'))).toMatchObject({ kind: 'written' });
    expect(place.verdicts(engine, 'touch x', 'touch y')).toEqual(['allow', 'allow']);
    expect(place.verdicts(place.open(), 'touch x', 'touch y')).toEqual(['allow', 'allow']);
  });

  it('does not trust what was in the file before', async () => {
    const place = new Place();
    place.write(place.user, USER);
    place.write(place.own, PROJECT.replace('touch', 'mkdir'));
    const engine = place.open();
    const before = fs.readFileSync(place.own, 'utf8');
    const made = await allowAlways(engine, request(place, 'touch x'));
    expect(made).toEqual({ kind: 'impossible', why: `${place.own} waits for \`cuff trust\`` });
    expect(fs.readFileSync(place.own, 'utf8')).toBe(before);
    fs.rmSync(place.user);
    const alone = place.open();
    fs.writeFileSync(place.own, 'default: ask\n');
    alone.reload();
    expect(await allowAlways(alone, request(place, 'touch x'))).toMatchObject({ kind: 'written' });
    place.write(place.user, USER);
    expect(place.verdicts(place.open(), 'touch x')).toEqual(['ask']);
  });
});
