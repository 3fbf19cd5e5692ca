// Rules as Codex reads them: the first words of a command, in Starlark. More words may always
// follow, so that no rule there is as narrow as ours; the strictest that matches counts. Examples
// are proven when the file is read, so only those that hold there are passed on.

import { printable } from '../../text/printable.ts';
import { analyse } from '../analyse/index.ts';
import type { Verdict } from '../decision.ts';
import { literalText, type WordPattern } from '../pattern.ts';
import type { Ability, Item, Plan } from './plan.ts';
import { headLines } from './text.ts';

export const CODEX: Ability = {
  exact: false,
  defaults: ['ask'],
  reasons: true,
  tests: true,
  unsaid: (words, decision) =>
    words[0]?.kind !== 'literal' || (decision === 'allow' && losesWords(words)),
  special: undefined,
};

/** `git -C <path> log` would become `git -C`, which is any git there is. */
function losesWords(words: readonly WordPattern[]): boolean {
  const hole = words.findIndex(({ kind }) => kind !== 'literal');
  return hole >= 0 && words.slice(hole).some(({ kind }) => kind === 'literal');
}

const DECISIONS: Readonly<Record<Verdict, string>> = {
  allow: 'allow',
  ask: 'prompt',
  deny: 'forbidden',
};

export function codexText({ items, losses }: Plan): string {
  const rules = new Set(items.map(ruleText));
  return [...headLines('codex', losses), ...rules].join('\n');
}

function ruleText({ rule, words, decision }: Item): string {
  const hole = words.findIndex(({ kind }) => kind !== 'literal');
  const prefix = words.slice(0, hole < 0 ? undefined : hole).map(literalText);
  const { match, not_match } = rule.tests;
  const starts = (example: readonly string[]): boolean =>
    prefix.every((word, at) => example[at] === word);
  const good = match.flatMap(tokensOf).filter(starts);
  const bad = not_match.flatMap(tokensOf).filter((example) => !starts(example));
  const lines = [
    `pattern = ${list(prefix)},`,
    `decision = "${DECISIONS[decision]}",`,
    ...(rule.reason === undefined ? [] : [`justification = ${text(rule.reason)},`]),
    ...(good.length === 0 ? [] : [`match = [${good.map(list).join(', ')}],`]),
    ...(bad.length === 0 ? [] : [`not_match = [${bad.map(list).join(', ')}],`]),
  ];
  return `prefix_rule(\n${lines.map((line) => `    ${line}\n`).join('')})\n`;
}

function list(words: readonly string[]): string {
  return `[${words.map(text).join(', ')}]`;
}

function text(value: string): string {
  return JSON.stringify(printable(value));
}

/** The words of an example that is one simple command and nothing else. */
function tokensOf(example: string): readonly (readonly string[])[] {
  const { units, problems } = analyse(example, { cwd: '/project', home: '/home' });
  const [unit] = units;
  if (unit === undefined || units.length > 1 || problems.length > 0) return [];
  const { argv, assigned, redirects, via } = unit;
  if (assigned.length + redirects.length + via.length > 0) return [];
  const words = argv.flatMap((arg) => (arg.kind === 'literal' ? [arg.value] : []));
  const plain = words.length === argv.length && words.every((word) => printable(word) === word);
  return plain ? [words] : [];
}
