// Recorded commands by hand, and what a generated policy says about a command.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { judge } from '../../../src/policy/decide.ts';
import {
  type Evidence,
  type GeneratedPolicy,
  generatePolicy,
  type Strategy,
} from '../../../src/policy/generate/index.ts';
import type { Policy } from '../../../src/policy/policy.ts';

export const HOME = '/home/user';
export const PROJECT = '/home/user/app';
const NOW = Date.UTC(2026, 0, 18, 14, 30, 52);

/** `3 x git status` is three times; a list of lists is a list of sessions. */
export function evidenceOf(sessions: readonly (readonly string[])[]): readonly Evidence[] {
  return sessions.flatMap((lines, at) =>
    lines.map((line) => {
      const [, times, text] = /^(\d+) x ([\s\S]*)$/.exec(line) ?? [];
      const count = times === undefined ? 1 : Number(times);
      const sessionId = `s${at + 1}`;
      return { command: text ?? line, cwd: PROJECT, sessionId, project: PROJECT, count };
    }),
  );
}

export function generated(
  evidence: readonly Evidence[],
  strategy: Strategy,
  minFrequency = 2,
): GeneratedPolicy {
  return generatePolicy(evidence, { strategy, minFrequency, now: NOW, home: HOME });
}

/** Every pattern by the name of its group. */
export function patternsOf({
  policy,
}: GeneratedPolicy): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    policy.policies.map(({ name, commands }) => [name, commands.map(({ pattern }) => pattern)]),
  );
}

export type Place = { readonly command: string; readonly cwd: string; readonly project: string };

export function allowing(policy: Policy): (place: Place) => boolean {
  const policies = [{ policy, origin: 'user', file: undefined } as const];
  const judgements = new Map<string, ReturnType<typeof judge>>();
  return ({ command, cwd, project }) => {
    const known = judgements.get(project) ?? judge({ policies, project, home: HOME });
    judgements.set(project, known);
    return known.decide(command, cwd).verdict === 'allow';
  };
}

export type Recorded = {
  readonly session: string;
  readonly cwd: string;
  readonly command: string;
};

export function readLines<T>(path: string): readonly T[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): T => JSON.parse(line));
}

/** Ordinary work on eight days in five projects. */
export function benign(): readonly Recorded[] {
  return readLines(join(import.meta.dirname, '..', 'fixtures', 'benign.jsonl'));
}

/** Thirteen more, in as many projects: long, mixed, with much that nobody should generalise. */
export function longSessions(): readonly Recorded[] {
  const text = readFileSync(join(import.meta.dirname, '..', 'fixtures', 'sessions.txt'), 'utf8');
  return text
    .split(/^%% /m)
    .slice(1)
    .flatMap((block) => {
      const [head = '', ...lines] = block.trimEnd().split('\n');
      const [session = '', cwd = ''] = head.split(' ');
      // A line that begins with a tab goes on with the one before.
      const commands = lines.join('\n').split(/\n(?!\t)/);
      return commands.map((one) => ({ session, cwd, command: one.replaceAll('\n\t', '\n') }));
    });
}

export function recorded(lines: readonly Recorded[]): readonly Evidence[] {
  return lines.map(({ session, cwd, command }) => ({
    command,
    cwd,
    sessionId: session,
    project: cwd,
  }));
}
