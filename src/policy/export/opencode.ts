// Rules as OpenCode reads them: text with `*` (anything) and `?` (one character), of which the last
// that matches counts. So the default comes first and what denies last.

import type { Ability, Item, Plan } from './plan.ts';
import { starred } from './text.ts';

export const OPENCODE: Ability = {
  exact: true,
  defaults: ['allow', 'ask', 'deny'],
  reasons: false,
  tests: false,
  unsaid: () => false,
  special: /[*?]/,
};

export function opencodeText({ items, fallback }: Plan): string {
  const rules = new Map<string, string>();
  const add = (text: string, decision: string): void => {
    rules.delete(text); // the later place counts
    rules.set(text, decision);
  };
  if (fallback !== undefined) add('*', fallback);
  for (const decision of ['allow', 'ask', 'deny'] as const) {
    for (const item of items) if (item.decision === decision) add(ruleText(item), decision);
  }
  const $schema = 'https://opencode.ai/config.json';
  const permission = { bash: Object.fromEntries(rules) };
  return `${JSON.stringify({ $schema, permission }, null, 2)}\n`;
}

/** ` *` at the end also matches nothing. */
function ruleText({ words, open }: Item): string {
  return `${starred(words)}${open ? ' *' : ''}`;
}
