// Many snippets through a real bash and through `analyse`, and what they disagree about. A snippet
// depends on the seed and its number alone, so that one number is enough to see it again.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Analysis } from '../../../src/policy/unit.ts';
import { snippet } from './commands.ts';
import { unexplained } from './explain.ts';
import { JAIL_CWD, JAIL_HOME, type Jail } from './jail.ts';
import { mutated } from './mutate.ts';
import { chance } from './random.ts';

export type Analyse = (text: string, options: { cwd: string; home: string }) => Analysis;

export type Finding = {
  readonly number: number;
  readonly snippet: string;
  readonly complaints: readonly string[];
};

export type Campaign = {
  readonly seed: number;
  readonly count: number;
  readonly analyse: Analyse;
  readonly jails: readonly Jail[];
  readonly findingsMax: number;
  /** It ends then although there are more to do. */
  readonly budgetMs: number;
};

export type Figures = {
  readonly findings: readonly Finding[];
  readonly snippets: number;
  /** In which bash started at least one program. */
  readonly executing: number;
  /** Of those, the ones that `analyse` has no problem with: here it must be right. */
  readonly judged: number;
  readonly slowestMs: number;
};

const FIXTURES = join(import.meta.dirname, '..', 'fixtures');
const CORPUS = join(import.meta.dirname, '..', '..', '..', '..', 'shared', 'policy-corpus.jsonl');

function blocks(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return text.trimEnd().split('\n-----\n');
}

export const SEEDS = blocks(join(import.meta.dirname, 'seeds.txt'));
export const ORDINARY = [
  ...readFileSync(join(FIXTURES, 'ordinary-lines.txt'), 'utf8').trimEnd().split('\n'),
  ...blocks(join(FIXTURES, 'ordinary-scripts.txt')),
];

function corpus(): string[] {
  if (!existsSync(CORPUS)) return [];
  const lines = readFileSync(CORPUS, 'utf8').trimEnd().split('\n');
  return lines.map((line) => (JSON.parse(line) as { command: string }).command);
}

const POOL = [...SEEDS, ...ORDINARY, ...corpus()];

export function snippetOf(seed: number, number: number): string {
  const by = chance(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b));
  return by.once(2) ? snippet(by) : mutated(by, POOL, () => snippet(by));
}

/** Fewer would say nothing about what is usual, however long they take. */
const COUNT_MIN = 300;

export async function runCampaign(campaign: Campaign): Promise<Figures> {
  const figures = { executing: 0, judged: 0, snippets: 0, slowestMs: 0 };
  const findings: Finding[] = [];
  const until = performance.now() + campaign.budgetMs;
  let next = 0;
  const inTime = (): boolean => next < COUNT_MIN || performance.now() < until;
  const goesOn = (): boolean =>
    next < campaign.count && findings.length < campaign.findingsMax && inTime();
  const work = async (jail: Jail): Promise<void> => {
    while (goesOn()) {
      const number = next++;
      const text = snippetOf(campaign.seed, number);
      const seen = await compare(jail, campaign.analyse, text, number % 4 !== 0);
      figures.snippets += 1;
      figures.slowestMs = Math.max(figures.slowestMs, seen.analyseMs);
      if (seen.executed) figures.executing += 1;
      if (seen.executed && seen.judged) figures.judged += 1;
      if (seen.complaints.length === 0) continue;
      findings.push({ number, snippet: text, complaints: seen.complaints });
    }
  };
  await Promise.all(campaign.jails.map(work));
  return { ...figures, findings };
}

type Comparison = {
  readonly complaints: readonly string[];
  readonly executed: boolean;
  readonly judged: boolean;
  readonly analyseMs: number;
};

export async function compare(
  jail: Jail,
  analyse: Analyse,
  text: string,
  told: boolean,
): Promise<Comparison> {
  // A NUL cannot be in an argument, so no shell ever gets such a text.
  if (text.includes('\0')) return { complaints: [], executed: false, judged: false, analyseMs: 0 };
  const running = jail.run(text, told);
  const began = performance.now();
  let analysis: Analysis | undefined;
  const complaints: string[] = [];
  try {
    analysis = analyse(text, { cwd: JAIL_CWD, home: JAIL_HOME });
  } catch (error) {
    complaints.push(`analyse threw ${String(error)}`);
  }
  const analyseMs = performance.now() - began;
  const outcome = await running;
  if (analysis !== undefined) complaints.push(...unexplained(analysis, outcome));
  const executed = outcome.executions.length > 0 || outcome.written.length > 0;
  return { complaints, executed, judged: analysis?.problems.length === 0, analyseMs };
}

const TRIES_MAX = 600;

/** The shortest text, found by leaving out parts, that is still not explained. */
export async function minimise(jail: Jail, analyse: Analyse, finding: Finding): Promise<Finding> {
  let best = finding;
  let tries = 0;
  for (let size = finding.snippet.length >> 1; size >= 1; size = size === 1 ? 0 : size >> 1) {
    let shortened = true;
    while (shortened) {
      shortened = false;
      for (let at = 0; at < best.snippet.length && tries < TRIES_MAX; tries += 1) {
        const text = best.snippet.slice(0, at) + best.snippet.slice(at + size);
        const { complaints } = await compare(jail, analyse, text, finding.number % 4 !== 0);
        if (complaints.length > 0) {
          best = { number: finding.number, snippet: text, complaints };
          shortened = true;
        } else at += size;
      }
    }
  }
  return best;
}
