// A question to the person at the terminal before something is lost.

import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { AppError } from '../../errors.ts';

/** Throws `usage` with `otherwise` where there is no terminal to ask at. */
export async function confirmed(
  question: string,
  otherwise: { readonly message: string; readonly hint: string },
): Promise<boolean> {
  if (process.stdin.isTTY !== true || process.stdout.isTTY !== true) {
    throw new AppError('usage', otherwise.message, { hint: otherwise.hint });
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const closed = once(terminal, 'close').then(() => ''); // Ctrl-C and Ctrl-D are a no
    const asked = terminal.question(`${question} [y/N] `).catch(() => '');
    return /^y(es)?$/i.test((await Promise.race([asked, closed])).trim());
  } finally {
    terminal.close();
  }
}
