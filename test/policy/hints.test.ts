// What a refusal says to do instead: a sentence for every code, and none that leads around.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { judge } from '../../src/policy/decide.ts';
import { HINTS, hintFor } from '../../src/policy/hints.ts';
import { unsaved } from '../../src/policy/policy.ts';
import { explain } from '../../src/policy/reasons.ts';
import { HOME, judgement, PROJECT, policyOf } from './helper.ts';

const SOURCE = join(import.meta.dirname, '..', '..', 'src', 'policy');
const decision = readFileSync(join(SOURCE, 'decision.ts'), 'utf8');
const union = /export type ReasonCode =([\s\S]*?);/.exec(decision)?.[1] ?? '';
const CODES = [...union.matchAll(/\| '([^']+)'/g)].map(([, code = '']) => code);

const ALLOWING = ['rule.allow', 'default.allow', 'builtin'];

/** Words that would name another way to the same end, or another judge. */
const AROUND = new RegExp(
  [
    'instead use|another (?:program|tool|way|agent|shell)|python|node |sudo|base64|alias',
    'bypass|work ?around|disable|turn off|mode:|\\.cuff|edit the policy|rename|copy',
    'script that|without cuff|--no-',
  ].join('|'),
  'i',
);

describe('the hints', () => {
  it('are there for every code that refuses', () => {
    expect(CODES.length).toBeGreaterThan(25);
    expect(Object.keys(HINTS)).toEqual(CODES.filter((code) => !ALLOWING.includes(code)));
  });

  it.each(Object.entries(HINTS))('%s: one plain sentence that leads nowhere else', (_, hint) => {
    expect(hint).toMatch(/^[A-Z][^.]*\.$/);
    expect(hint.length).toBeLessThan(90);
    expect(hint).not.toMatch(AROUND);
  });

  it('name the word that they are about, and no other text', () => {
    expect(hintFor('argument.effect', '--output=x')).toBe('Leave `--output=x` out.');
    expect(hintFor('argument.effect', '`id`')).toBe('Leave it out.');
    expect(hintFor('argument.unknown', '$&')).toContain('Write `$&` as it is');
    expect(hintFor('rule.allow', undefined)).toBeUndefined();
  });
});

const RULES = {
  allow: ['git log *', 'ls *', 'npm test', 'cat <path>', 'grep *'],
  ask: ['git push *'],
  deny: ['git rebase *'],
};

it.each([
  ['git log --output=/tmp/x', 'Leave `--output=/tmp/x` out.'],
  ['git log --no-such-option', 'Leave `--no-such-option` out.'],
  ['git push', 'Say what it is for: a person decides.'],
  ['git rebase main', 'Leave it, and tell the person what it was for.'],
  ['rm -rf /', 'Leave it, and name the files that are meant.'],
  ['cd /tmp && ls', 'Directories that commands may run in are listed under scopes.cwd.'],
])('a refusal of `%s` says so', (command, hint) => {
  const decided = judgement(RULES).decide(command, PROJECT);
  expect(decided.verdict).not.toBe('allow');
  expect(explain(decided)).toContain(hint);
  expect(decided.reasons[0]?.hint).toContain(hint);
});

it('what is allowed, and what a rule explains itself, gets no hint', () => {
  expect(judgement(RULES).decide('ls', PROJECT).reasons[0]?.hint).toBeUndefined();
  expect(judgement({}).decide('ls', PROJECT).reasons[0]?.hint).toBe(HINTS['default.ask']);
  const rules = '[{pattern: ls, decision: deny, reason: Use the tool.}]';
  const policy = policyOf(`policies: [{name: r, commands: ${rules}}]`);
  const own = judge({ policies: [unsaved(policy)], project: PROJECT, home: HOME });
  expect(own.decide('ls', PROJECT).reasons[0]?.hint).toBeUndefined();
});
