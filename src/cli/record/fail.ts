// Trouble as `cuff record` says it: a line, an empty line, and what to do about it. Exit 2 means
// "you called us wrongly", 1 that something else went wrong.

import { errnoOf, isAppError } from '../../errors.ts';
import { safeWords } from '../safe-words.ts';

export async function reporting(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EPIPE') process.exit(0); // the reader has seen enough
    if (isAppError(error)) {
      complain(error.message, error.hint);
      process.exitCode = ['usage', 'settings_invalid'].includes(error.code) ? 2 : 1;
      return;
    }
    // What the system refused is a matter of rights or of the disk, no bug; all else is one.
    if (errno === undefined || !(error instanceof Error) || !('syscall' in error)) throw error;
    complain(error.message, undefined);
    process.exitCode = 1;
  }
}

function complain(message: string, hint: string | undefined): void {
  const more = hint === undefined ? '' : `\n${hint}\n`;
  // Settings may have many problems, each on a line of its own.
  process.stderr.write(safeWords(`Error: ${message}\n${more}`));
}
