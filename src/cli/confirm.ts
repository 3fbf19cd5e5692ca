// A yes-or-no question to the person at the terminal.

import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';

/** Ctrl-C and Ctrl-D mean no. The caller has made sure that there is a terminal. */
export async function askYes(question: string, output: NodeJS.WriteStream): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output });
  try {
    const closed = once(terminal, 'close').then(() => '');
    const asked = terminal.question(`${question} [y/N] `).catch(() => '');
    return /^y(es)?$/i.test((await Promise.race([asked, closed])).trim());
  } finally {
    terminal.close();
  }
}
