// The line that runs a command in the shell of cuff, for clients whose shell cannot be replaced. It
// names the intent of the hook, because such a client may tell its shells nothing of itself.

import { quoteWord } from '../text/printable.ts';

const LINE = /^cuff sh --intent ([0-9a-f]{40}-[0-9a-f]{16}\.intent) -c /;

export function rewritten(command: string, intent: string | undefined): string {
  const named = intent === undefined ? '' : ` --intent ${intent}`;
  return `cuff sh${named} -c ${quoteWord(command)}`;
}

/** The intent that such a line names; undefined for any other line. */
export function namedIntent(line: string): string | undefined {
  return LINE.exec(line)?.[1];
}
