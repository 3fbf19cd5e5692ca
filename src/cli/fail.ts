// Errors as people see them: one sentence on stderr, then what to do. Exit 2 means "you called us
// wrongly", 1 that something else went wrong.

import { type ErrorCode, errnoOf, isAppError } from '../errors.ts';
import { safeWords } from './safe-words.ts';
import { mendStreams } from './socket-streams.ts';

const USAGE: readonly ErrorCode[] = [
  'usage',
  'session_exists',
  'session_id_invalid',
  'path_unsafe',
  'cwd_missing',
  'cwd_not_directory',
  'settings_invalid',
];

export function fail(name: string, error: unknown): never {
  const errno = errnoOf(error);
  mendStreams();
  if (errno === 'EPIPE') process.exit(0); // the reader has seen enough
  // Also from an import of ours: every file of the program is one.
  if (errno === 'EMFILE' || errno === 'ENFILE') {
    process.stderr.write(`${name}: too many open files (${errno}); raise \`ulimit -n\`.\n`);
    process.exit(1);
  }
  if (!isAppError(error)) throw error;
  const hint = error.hint === undefined ? '' : `${error.hint}\n`;
  process.stderr.write(safeWords(`${name}: ${error.message}\n${hint}`));
  process.exit(USAGE.includes(error.code) ? 2 : 1);
}
