// What the page is told when it cannot have what it asked for.

import { type AppError, type ErrorCode, errnoOf, isAppError, messageOf } from '../errors.ts';
import type { ApiError } from './api.ts';

/** An answer that is none, with the status that says so. */
export class Fault extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    more: { code?: string; hint?: string; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.status = status;
    this.code = more.code ?? CODES[status] ?? 'failed';
    this.hint = more.hint ?? null;
    this.headers = more.headers ?? {};
  }
}

const CODES: Readonly<Record<number, string>> = {
  400: 'usage',
  401: 'unauthorized',
  403: 'refused',
  404: 'not_found',
  405: 'usage',
  413: 'too_large',
  415: 'usage',
  416: 'out_of_range',
};

const STATUSES: Readonly<Partial<Record<ErrorCode, number>>> = {
  usage: 400,
  session_id_invalid: 400,
  settings_invalid: 400,
  session_not_found: 404,
  journal_session_not_found: 404,
  not_provable: 404,
  run_not_live: 409,
  state_unwritable: 409,
  journal_unwritable: 409,
  path_unsafe: 403,
};

/** Undefined for a mistake of ours, of which the page is told nothing. */
export function faultOf(error: unknown): Fault | undefined {
  if (error instanceof Fault) return error;
  if (isAppError(error)) {
    const { code, hint } = error as AppError;
    const more = hint === undefined ? { code } : { code, hint };
    return new Fault(STATUSES[code] ?? 409, messageOf(error), more);
  }
  const errno = errnoOf(error);
  return errno === undefined ? undefined : new Fault(409, messageOf(error), { code: errno });
}

export function faultJson({ code, message, hint }: Fault): ApiError {
  return { error: { code, message, hint } };
}

export function notFound(what: string): Fault {
  return new Fault(404, `There is no ${what}.`);
}
