// Losses as lines for people, and words of a pattern as the text that other tools match.

import { counted } from '../../text/plural.ts';
import { printable, quoteWord } from '../../text/printable.ts';
import type { WordPattern } from '../pattern.ts';
import type { Loss, LossKind } from './plan.ts';

const SHOWN_MAX = 5;

const PER_RULE: readonly LossKind[] = [
  ...(['star', 'hole', 'exact', 'characters', 'paths', 'stdin', 'strict', 'unsaid'] as const),
  ...(['asks', 'reason', 'tests'] as const),
];

/** `3 rules let more through: ...: git log *, cat *, ls *` */
export function lossLine({ kind, loosens, leftOut, message, items }: Loss): string {
  const count = items.length;
  if (count === 0) return printable(message);
  const shown = items.slice(0, SHOWN_MAX).map(printable).join(', ');
  const rest = count > SHOWN_MAX ? ` and ${count - SHOWN_MAX} more` : '';
  if (!PER_RULE.includes(kind)) {
    return `${shown}${rest}${leftOut ? ' left out' : ''}: ${message}${loose(loosens)}`;
  }
  const rules = counted(count, 'rule');
  const more = loosens ? ` ${count === 1 ? 'lets' : 'let'} more through` : '';
  const how = leftOut ? `${rules} left out${loose(loosens)}` : `${rules}${more}`;
  return `${how}: ${message}: ${shown}${rest}`;
}

/** The comment in front of an exported file. */
export function headLines(target: string, losses: readonly Loss[]): readonly string[] {
  const command = `cuff policy export --to ${target}`;
  const title = `# Written by \`${command}\`. What it cannot say as cuff does:`;
  return [title, ...losses.map((loss) => `#   ${lossLine(loss)}`), ''];
}

function loose(loosens: boolean): string {
  return loosens ? ', so that more gets through' : '';
}

/** A word as a person would type it. */
export function typed(word: string): string {
  return /^[\w@%+=:,./^~-]+$/.test(word) ? word : quoteWord(word);
}

/** The words with `*` wherever something is left open. */
export function starred(words: readonly WordPattern[]): string {
  return words.map(starredWord).join(' ');
}

function starredWord(word: WordPattern): string {
  if (word.kind === 'literal') return typed(word.value);
  if (word.kind !== 'partial') return '*';
  return word.segments.map((one) => (one.kind === 'text' ? one.value : '*')).join('');
}
