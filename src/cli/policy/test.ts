// `cuff policy test`: what a policy would have said about everything in the journal.

import { resolve } from 'node:path';
import { AppError } from '../../errors.ts';
import { homeOf } from '../../places.ts';
import { type PolicyFile, readPolicyFile } from '../../policies/files.ts';
import { forAgent } from '../../policy/agents.ts';
import { type Backtest, backtestJson, testPolicy } from '../../recordings/evidence.ts';
import { countText, sinceText } from '../../text/dates.ts';
import { printable, shortLine } from '../../text/printable.ts';
import { paint, put, putJson, say } from '../output.ts';
import { Progress } from '../record/progress.ts';
import { damagedLines, NO_RECORDINGS } from '../record/words.ts';

export type PolicyTestFlags = {
  /** The policy's file, as it was typed. */
  readonly file: string;
  /** The journal. */
  readonly directory: string;
  /** Epoch milliseconds, and as it was typed. */
  readonly since?: number | undefined;
  readonly sinceText?: string | undefined;
  readonly json: boolean;
  /** As if this agent had run everything, with a proven name. */
  readonly agent?: string | undefined;
};

const SHOWN_MAX = 10;
const SHOWN_LENGTH_MAX = 80;

/** Exit 0 whatever it says; a policy that cannot be read is `settings_invalid`. */
export async function policyTest(flags: PolicyTestFlags): Promise<void> {
  const home = homeOf(process.env);
  const policy = loadedPolicy(flags, home);
  const progress = new Progress('entries');
  const { directory, since } = flags;
  const step = (): void => progress.step();
  const { result, damagedLines: damaged } = testPolicy(policy, { directory, since, home, step });
  progress.end();
  if (damaged > 0) say(damagedLines(damaged));
  if (flags.json) return putJson(backtestJson(result));
  if (result.commands === 0 && since === undefined) return put(NO_RECORDINGS);
  const period = sinceText(flags.sinceText);
  if (result.commands === 0) return put(`No recordings found (${period}).\n`);
  await put(testText(result, `Back-test of ${printable(flags.file)} (${period})`));
}

type Loaded = Extract<PolicyFile, { readonly kind: 'good' }>['loaded'];

export function loadedPolicy(
  { file, agent }: Pick<PolicyTestFlags, 'file' | 'agent'>,
  home: string,
): Loaded {
  const place = { path: resolve(file), origin: 'user', named: true, piped: true } as const;
  const read = readPolicyFile(place, { home, project: process.cwd() });
  if (read.kind === 'good') {
    const [own = read.loaded] = agent === undefined ? [] : forAgent([read.loaded], agent);
    return own;
  }
  const problem = read.kind === 'bad' ? read.problem : `${printable(file)}: not found`;
  throw new AppError('settings_invalid', problem);
}

function testText(result: Backtest, title: string): string {
  const lines = [
    title,
    paint('dim', '─'.repeat(title.length + 1)),
    '',
    ...verdictLines(result),
    ...backtestSections(result, { rules: true }),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

export function verdictLines({ counts, commands, distinct }: Backtest): readonly string[] {
  const share = (count: number): string => `${((100 * count) / commands).toFixed(1)}%`;
  return [
    `Commands: ${countText(commands)} (${countText(distinct)} different)`,
    ...(['allow', 'ask', 'deny'] as const).map(
      (name) => `  ${name.padEnd(6)}- ${countText(counts[name])} (${share(counts[name])})`,
    ),
  ];
}

/** What was not allowed, and what would help; `rules`: also which rules were used. */
export function backtestSections(
  { rules, codes, refused, additions }: Backtest,
  given: { readonly rules: boolean },
): readonly string[] {
  const known = given.rules ? rules : [];
  const used = known.filter(({ hits }) => hits > 0).sort((a, b) => b.hits - a.hits);
  const dead = known.filter(({ hits }) => hits === 0);
  return [
    ...section('Not allowed, by reason', codes, ({ code, count }) => [count, code]),
    ...section('Most frequent of them', refused, ({ command, code, count }) => [
      count,
      `${command === undefined ? '(looks like a secret)' : shown(command)}  ${paint('dim', code)}`,
    ]),
    ...section('Rules that were used', used, ({ hits, pattern }) => [hits, shown(pattern)]),
    ...section('Rules that were not', dead, ({ pattern }) => [0, shown(pattern)]),
    ...section('Rules that would help most', additions, ({ gained, pattern }) => [
      gained,
      shown(pattern),
    ]),
  ];
}

function section<T>(
  title: string,
  items: readonly T[],
  row: (item: T) => readonly [number, string],
): readonly string[] {
  if (items.length === 0) return [];
  const rows = items.slice(0, SHOWN_MAX).map(row);
  const width = Math.max(...rows.map(([count]) => countText(count).length));
  const more = items.length - rows.length;
  return [
    '',
    `${title}:`,
    ...rows.map(([count, text]) => `  ${countText(count).padStart(width)}  ${text}`),
    ...(more > 0 ? [`  ... and ${countText(more)} more`] : []),
  ];
}

function shown(text: string): string {
  return shortLine(text, SHOWN_LENGTH_MAX);
}
