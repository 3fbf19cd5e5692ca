// What a text that is unclear may do where its programs are judged when they start.
import { describe, expect, it } from 'vitest';
import { decideBy, denyBy } from '../../src/policies/decide.ts';
import { judge } from '../../src/policy/decide.ts';
import { readPolicy } from '../../src/policy/load.ts';

type Rules = Readonly<Record<string, 'deny' | 'ask'>>;

function policyOf(rules: Rules) {
  const commands = Object.entries(rules).map(([pattern, decision]) => ({ pattern, decision }));
  const text = JSON.stringify({ default: 'allow', policies: [{ name: 'x', commands }] });
  const read = readPolicy(text, { home: '/home/me', project: '/project' });
  if (!('policy' in read)) throw new Error(JSON.stringify(read.problems));
  const policies = [{ policy: read.policy, origin: 'user', file: undefined }] as const;
  const judgement = judge({ policies, project: '/project', home: '/home/me' });
  return { decide: decideBy(judgement, policies), denies: denyBy(judgement, policies) };
}

function told(rules: Rules, command: string, gated = true) {
  const { decision, relies } = policyOf(rules).decide(command, '/project', { gated });
  return [decision.verdict, relies];
}

const HIDDEN = 'base64 -d < x | sh';

describe('a text that hides what it runs', () => {
  it('may run where its programs are judged, and relies on that', () => {
    expect(told({ 'rm *': 'deny' }, HIDDEN, false)).toEqual(['ask', false]);
    expect(told({ 'rm *': 'deny' }, HIDDEN)).toEqual(['allow', true]);
    expect(told({ 'rm *': 'deny' }, '$x v')).toEqual(['allow', true]);
  });

  it('is asked about where no process tells what a rule is about', () => {
    expect(told({ 'rm *': 'deny', 'kill *': 'deny' }, HIDDEN)).toEqual(['ask', false]);
    expect(told({ 'rm *': 'deny', 'git push *': 'ask' }, HIDDEN)).toEqual(['ask', false]);
    expect(told({ '{rm,unlink} *': 'deny' }, HIDDEN)).toEqual(['ask', false]);
  });

  it('is asked about where a program that a rule names may be hidden in its words', () => {
    expect(told({ 'rm *': 'deny' }, 'cp /bin/rm x && ./x v')).toEqual(['ask', false]);
    expect(told({ 'git push *': 'deny' }, 'git -c alias.p=push p')).toEqual(['ask', false]);
    expect(told({ 'rm *': 'deny' }, 'sudo sh < script')).toEqual(['ask', false]);
    expect(told({ 'rm *': 'deny' }, 'docker run -v /:/h x sh y')).toEqual(['ask', false]);
    expect(told({ 'rm *': 'deny' }, 'busybox sh y')).toEqual(['ask', false]);
  });

  it('does not rely on it where it is clear, or denied', () => {
    expect(told({ 'rm *': 'deny' }, 'ls -l')).toEqual(['allow', false]);
    expect(told({ 'rm *': 'deny' }, `${HIDDEN}; rm v`)).toEqual(['deny', false]);
  });
});

describe('a process', () => {
  it('does not start when a rule denies it, or what it would run without asking', () => {
    const { denies } = policyOf({ 'rm *': 'deny' });
    for (const words of ['rm -rf v', 'sudo rm v', 'busybox rm v', 'busybox sh -c rm']) {
      expect([words, denies(words.split(' '), '/project')?.rule?.pattern]).toEqual([words, 'rm *']);
    }
    const fine = ['ls rm', 'grep rm x', 'man rm', 'sh -c rm', 'cp farm v', 'sudo ls'];
    for (const words of fine) {
      expect([words, denies(words.split(' '), '/project')]).toEqual([words, undefined]);
    }
  });
});
