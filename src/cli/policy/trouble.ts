// The problems of a policy file as editors understand them: `file:line:column: message`, a line for
// each problem and nothing in front of it. Exit 2.

import { isAppError } from '../../errors.ts';
import { safeWords } from '../safe-words.ts';

export async function policyTrouble(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isAppError(error) || error.code !== 'settings_invalid') throw error;
    process.stderr.write(safeWords(`${error.message}\n`));
    process.exitCode = 2;
  }
}
