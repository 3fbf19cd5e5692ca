// Rules as Claude Code reads them from its settings: `Bash(git status)` is exactly that text,
// `Bash(git log:*)` also with anything behind it, and a star elsewhere is any text.

import { fixedText } from '../pattern.ts';
import type { Ability, Item, Plan } from './plan.ts';
import { starred } from './text.ts';

export const CLAUDE: Ability = {
  exact: true,
  defaults: ['ask', 'allow'],
  reasons: false,
  tests: false,
  // How they are quoted inside of `Bash(...)` differs between versions.
  unsaid: (words) => words.some((word) => /[()\\*]/.test(fixedText(word))),
  special: undefined,
};

export function claudeText({ items, fallback }: Plan): string {
  const of = (decision: string): readonly string[] => [
    ...new Set(items.filter((item) => item.decision === decision).map(ruleText)),
  ];
  const all = fallback === 'allow' ? ['Bash'] : [];
  const permissions = { allow: [...all, ...of('allow')], ask: of('ask'), deny: of('deny') };
  return `${JSON.stringify({ permissions }, null, 2)}\n`;
}

function ruleText({ words, open }: Item): string {
  const text = starred(words);
  // Behind a prefix with `:*`, a star in front of it is only a star.
  const plain = words.every(({ kind }) => kind === 'literal');
  return `Bash(${text}${open ? (plain ? ':*' : ' *') : ''})`;
}
