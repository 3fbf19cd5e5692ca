// One error type for "the caller cannot go on". Expected trouble is a value, not an error.

export type ErrorCode =
  | 'usage'
  | 'session_not_found'
  | 'session_exists'
  | 'session_id_invalid'
  | 'capture_damaged'
  | 'path_unsafe'
  | 'cwd_missing'
  | 'cwd_not_directory'
  | 'runner_unavailable'
  | 'runner_lost'
  | 'start_failed'
  | 'policy_denied'
  | 'run_not_live'
  | 'cancelled'
  | 'closed'
  | 'too_many_runs'
  | 'state_unwritable'
  | 'settings_invalid'
  | 'journal_unwritable'
  | 'journal_unreadable'
  | 'journal_session_not_found'
  | 'catalog_unavailable'
  | 'not_provable'
  | 'encryption_failed'
  | 'decryption_failed';

export class AppError extends Error {
  readonly code: ErrorCode;
  /** Something the reader can do next, one sentence. */
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.hint = options.hint;
  }
}

/** Also true for an error of another copy of this file: each bundle has one of its own. */
export function isAppError(error: unknown): error is AppError {
  return error instanceof Error && error.name === 'AppError' && 'code' in error;
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The errno name of a failed system call, or undefined for any other error. */
export function errnoOf(error: unknown): string | undefined {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
    return error.code;
  }
  return undefined;
}

/** In one word where the system has one, also for an error of ours that it caused. */
export function reasonOf(error: unknown): string {
  const errno = errnoOf(error instanceof AppError ? error.cause : error);
  return errno ?? messageOf(error);
}
