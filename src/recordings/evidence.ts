// Policies and what was recorded: the journal as evidence to make a policy from, or to try one on.
// Entries are read one after the other and only their commands are kept, equal ones once.

import { resolve } from 'node:path';
import { readMetadata } from '../journal/reader.ts';
import { comparePolicies, type PolicyDiff } from '../policy/backtest/compare.ts';
import { type Backtest, backtest } from '../policy/backtest/index.ts';
import {
  type Evidence,
  type GeneratedPolicy,
  generatePolicy,
  policyJson,
  policyYaml,
  STRATEGIES,
  type Strategy,
} from '../policy/generate/index.ts';
import type { LoadedPolicy } from '../policy/policy.ts';
import type { Entry } from '../types.ts';
import { projectOf } from './directory.ts';
import { sessionEntries, sessionsSince } from './sessions.ts';

export { type Backtest, type GeneratedPolicy, type PolicyDiff, policyJson, policyYaml, STRATEGIES };

type History = {
  readonly evidence: readonly Evidence[];
  readonly entries: number;
  readonly damagedLines: number;
};

export type HistoryQuery = {
  readonly directory: string;
  /** Commands that began then or later (epoch ms). */
  readonly since?: number | undefined;
  /** Also what a policy refused, and so was never run. */
  readonly refused?: boolean;
  readonly step?: () => void;
};

/** Every command of the journal with its place. */
function journalHistory({ directory, since, refused, step }: HistoryQuery): History {
  const all = new Map<string, Evidence & { count: number; at: string }>();
  // When a command was last denied, by its directory and text.
  const denials = new Map<string, string>();
  const damage = { lines: 0 };
  const home = projectOf(directory);
  let entries = 0;
  for (const id of sessionsSince(directory, since)) {
    const started = readMetadata(directory, id)?.working_directory ?? '/';
    for (const entry of sessionEntries(directory, id, damage)) {
      step?.();
      if (since !== undefined && Date.parse(entry.timestamp) < since) continue;
      const cwd = resolve('/', entry.working_directory);
      if (refused !== true && wasDenied(entry)) noteDenial(denials, cwd, entry);
      if (refused !== true && (wasRefused(entry) || hadMore(entry))) continue;
      if (entry.redacted?.includes('text') === true) continue;
      entries += 1;
      const imported = entry.source === 'transcript';
      const key = `${id}\0${imported}\0${cwd}\0${entry.command}`;
      const known = all.get(key);
      const at = entry.timestamp;
      if (known !== undefined) Object.assign(known, { count: known.count + 1, at });
      else {
        const project = projectFor(cwd, home, started);
        const { command } = entry;
        all.set(key, { command, cwd, sessionId: id, project, count: 1, imported, at });
      }
    }
  }
  const evidence = [...all.values()].map(({ at, ...one }) => {
    const deniedAt = denials.get(`${one.cwd}\0${one.command}`);
    return deniedAt === undefined || !isLater(deniedAt, at) ? one : { ...one, denied: true };
  });
  return { evidence, entries, damagedLines: damage.lines };
}

/** By a rule, or by a person. That no rule is there yet is what rules are made for. */
function wasDenied(entry: Entry): boolean {
  if (entry.source === 'transcript') return entry.end_reason === 'denied';
  const { decision } = entry;
  return wasRefused(entry) && decision?.verdict === 'deny' && decision.rule !== null;
}

function noteDenial(denials: Map<string, string>, cwd: string, entry: Entry): void {
  const key = `${cwd}\0${entry.command}`;
  const known = denials.get(key);
  if (known === undefined || isLater(entry.timestamp, known)) denials.set(key, entry.timestamp);
}

function isLater(a: string, b: string): boolean {
  return Date.parse(a) > Date.parse(b);
}

/** What was refused says nothing about what may run. */
function wasRefused({ decision, source, end_reason }: Entry): boolean {
  if (source === 'transcript' && (end_reason === 'denied' || end_reason === 'failed')) return true;
  if (decision === null || decision === undefined || decision.mode !== 'enforce') return false;
  return decision.verdict !== 'allow' && decision.approved === null;
}

/** Its text is not all of what was run: no rule that is made from it would be about that. */
function hadMore({ decision }: Entry): boolean {
  return (decision?.beside?.length ?? 0) > 0;
}

/** The project of the journal, where the command ran in it; else where its session began. */
function projectFor(cwd: string, journal: string | undefined, started: string): string {
  const within = [journal, resolve('/', started)].find(
    (place) => place !== undefined && (cwd === place || cwd.startsWith(`${place}/`)),
  );
  return within ?? cwd;
}

export type GenerateQuery = HistoryQuery & {
  readonly strategy: Strategy;
  readonly minFrequency: number;
  readonly now: number;
  readonly home: string;
};

export function generateFromJournal(query: GenerateQuery): {
  readonly generated: GeneratedPolicy;
  readonly damagedLines: number;
} {
  const { strategy, minFrequency, now, home } = query;
  const { evidence, damagedLines } = journalHistory(query);
  return {
    generated: generatePolicy(evidence, { strategy, minFrequency, now, home }),
    damagedLines,
  };
}

/** What the policy would have said about everything in the journal. */
export function testPolicy(
  policy: LoadedPolicy,
  query: HistoryQuery & { readonly home: string },
): { readonly result: Backtest; readonly damagedLines: number } {
  const { evidence, damagedLines } = journalHistory({ ...query, refused: true });
  return { result: backtest(policy, evidence, query.home), damagedLines };
}

/** What differs between two policies, and what that does to everything in the journal. */
export function diffPolicies(
  before: LoadedPolicy,
  after: LoadedPolicy,
  query: HistoryQuery & { readonly home: string },
): PolicyDiff {
  const { evidence } = journalHistory({ ...query, refused: true });
  return comparePolicies(before, after, evidence, query.home);
}

/** As `cuff policy test --json` has it. */
export function backtestJson(result: Backtest) {
  return {
    commands: result.commands,
    distinct: result.distinct,
    ...result.counts,
    codes: result.codes,
    rules: result.rules,
    dead_rules: result.rules.filter(({ hits }) => hits === 0).map(({ pattern }) => pattern),
    not_allowed: result.refused.map(({ command, ...rest }) => ({
      command: command ?? null,
      ...rest,
    })),
    additions: result.additions,
  };
}
