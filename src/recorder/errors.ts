// What can be wrong with a recorder, in seed 000's three kinds. Each is an `AppError` with a stable
// code; the dialect makes one sentence of it.

import { AppError } from '../errors.ts';

type Options = ConstructorParameters<typeof AppError>[2];

export class BashRecorderError extends AppError {}

/** A command that must be recorded cannot be. */
export class RecordingError extends BashRecorderError {
  constructor(message: string, options?: Options) {
    super('journal_unwritable', message, options);
  }
}

/** The command was not executed. */
export class ExecutionError extends BashRecorderError {}

/** A policy, or a person, does not want the command to run. Its message is for the agent. */
export class RefusedError extends ExecutionError {
  constructor(message: string) {
    super('policy_denied', message);
  }
}

export class ConfigurationError extends BashRecorderError {
  constructor(message: string, options?: Options) {
    super('settings_invalid', message, options);
  }
}

export function refuseCancelled({ signal }: { readonly signal?: AbortSignal | undefined }): void {
  if (signal?.aborted !== true) return;
  throw new ExecutionError('cancelled', 'The call was cancelled before it began.');
}
