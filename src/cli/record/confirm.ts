// A question to the person at the terminal before something is lost.

import { AppError } from '../../errors.ts';
import { askYes } from '../confirm.ts';

/** Throws `usage` with `otherwise` where there is no terminal to ask at. */
export async function confirmed(
  question: string,
  otherwise: { readonly message: string; readonly hint: string },
): Promise<boolean> {
  if (process.stdin.isTTY !== true || process.stdout.isTTY !== true) {
    throw new AppError('usage', otherwise.message, { hint: otherwise.hint });
  }
  return askYes(question, process.stdout);
}
