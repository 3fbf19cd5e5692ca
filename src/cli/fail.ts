// Errors as people see them: one sentence on stderr, then what to do. Exit 2 means "you called us
// wrongly", 1 that something else went wrong.

import { type ErrorCode, errnoOf, isAppError } from '../errors.ts';

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
  if (errnoOf(error) === 'EPIPE') process.exit(0); // the reader has seen enough
  if (!isAppError(error)) throw error;
  const hint = error.hint === undefined ? '' : `${error.hint}\n`;
  process.stderr.write(`${name}: ${error.message}\n${hint}`);
  process.exit(USAGE.includes(error.code) ? 2 : 1);
}
