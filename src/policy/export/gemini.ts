// Rules as Gemini CLI reads them from its policies in TOML. A prefix matches whole words; an
// expression is matched against the command as a JSON string, so that a quote is its end. The
// highest priority counts.

import { printable } from '../../text/printable.ts';
import type { Verdict } from '../decision.ts';
import { type HoleType, literalText, type WordPattern } from '../pattern.ts';
import type { Ability, Item, Plan } from './plan.ts';
import { headLines, typed } from './text.ts';

export const GEMINI: Ability = {
  exact: true,
  defaults: ['allow', 'ask', 'deny'],
  reasons: true,
  tests: false,
  unsaid: (words) => words[0]?.kind !== 'literal',
  special: undefined,
};

const DECISIONS: Readonly<Record<Verdict, string>> = {
  allow: 'allow',
  ask: 'ask_user',
  deny: 'deny',
};

const PRIORITIES: Readonly<Record<Verdict, number>> = { allow: 100, ask: 200, deny: 300 };

export function geminiText({ items, losses, fallback }: Plan): string {
  const rules = new Set(items.map(ruleText));
  const last = fallback === undefined ? [] : [defaultText(fallback)];
  return [...headLines('gemini', losses), ...rules, ...last].join('\n');
}

/** A rule that denies without a condition would take the tool away altogether. */
function defaultText(fallback: Verdict): string {
  const condition = fallback === 'deny' ? ['commandRegex = ".*"'] : [];
  return block(condition, fallback, 1);
}

function ruleText({ rule, words, open, decision }: Item): string {
  const plain = words.every(({ kind }) => kind === 'literal');
  const condition =
    plain && open
      ? `commandPrefix = ${string(words.map((word) => typed(literalText(word))).join(' '))}`
      : `commandRegex = ${string(`${words.map(wordRegex).join(' ')}${open ? '[\\s"]' : '"'}`)}`;
  const why = rule.reason === undefined ? [] : [`# ${printable(rule.reason)}`];
  return [...why, block([condition], decision, PRIORITIES[decision])].join('\n');
}

function block(conditions: readonly string[], decision: Verdict, priority: number): string {
  const lines = [
    '[[rule]]',
    'toolName = "run_shell_command"',
    ...conditions,
    `decision = "${DECISIONS[decision]}"`,
    `priority = ${priority}`,
  ];
  return `${lines.join('\n')}\n`;
}

const PLAIN = '[\\w@%+=:,./^~][\\w@%+=:,./^~-]*';

const HOLES: Readonly<Record<HoleType, string>> = {
  path: PLAIN,
  int: '\\d+',
  rev: PLAIN,
  range: PLAIN,
  word: PLAIN,
  url: 'https?://[\\w@%+=:,./~-]+',
};

/** Only plain characters in the holes: a word that needs quotes there is asked about. */
function wordRegex(word: WordPattern): string {
  if (word.kind === 'literal') return inJson(typed(word.value));
  if (word.kind !== 'partial') return PLAIN;
  return word.segments
    .map((one) => {
      if (one.kind === 'text') return inJson(one.value);
      return one.kind === 'hole' ? HOLES[one.type] : '[\\w@%+=:,./^~-]*';
    })
    .join('');
}

function inJson(text: string): string {
  return JSON.stringify(text)
    .slice(1, -1)
    .replace(/[-[\]{}()*+?.,\\^$|#"]/g, '\\$&');
}

/** A basic string of TOML: JSON without what only JSON has. */
function string(value: string): string {
  return JSON.stringify(value).replaceAll('\x7f', '\\u007f');
}
