// The arguments of derun's tools, checked to the letter of their schemas. What is wrong is said in
// one line that names the argument; nothing is guessed, rounded or converted.

import { AppError } from '../../errors.ts';
import { jsonText } from '../../text/json.ts';

export type Args = Readonly<Record<string, unknown>>;

const SHOWN_MAX = 40; // enough to recognise a wrong value, too little to fill an answer

/** A misspelt argument would otherwise be a silent default. */
export function refuseUnknown(args: Args, known: readonly string[]): void {
  const stranger = Object.keys(args).find((name) => !known.includes(name));
  if (stranger === undefined) return;
  const all = known.join(', ');
  throw wrong(`unknown argument ${shown(stranger)}; this tool takes ${all}`);
}

export function sessionIdOf(args: Args): string {
  const { session_id: id } = args;
  if (typeof id === 'string' && id !== '') return id;
  throw wrong('session_id is required; list the sessions there are with derun_list_sessions');
}

/** An unsigned byte offset in decimal. Behind every end is as good as any other place there. */
export function cursorOf(args: Args, fallback?: string): number {
  const cursor = args.cursor === undefined ? fallback : args.cursor;
  if (cursor === undefined) {
    throw wrong('cursor is required; start with "0" or pass the next_cursor of the last answer');
  }
  if (typeof cursor !== 'string' || !/^(0|[1-9]\d{0,19})$/.test(cursor)) {
    throw wrong(`parse cursor: expected a byte offset as a string like "0", got ${shown(cursor)}`);
  }
  return Math.min(Number(cursor), Number.MAX_SAFE_INTEGER);
}

type Range = { readonly least: number; readonly most: number; readonly fallback: number };

/** A whole number from `least`; what is larger than `most` is taken as `most`. */
export function wholeNumberOf(args: Args, name: string, { least, most, fallback }: Range): number {
  const value = args[name];
  if (value === undefined) return fallback;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least) {
    throw wrong(`parse ${name}: expected a whole number from ${least}, got ${shown(value)}`);
  }
  return Math.min(value, most);
}

export function oneOf<T extends string>(
  args: Args,
  name: string,
  known: readonly T[],
): T | undefined {
  const value = args[name];
  if (value === undefined) return undefined;
  const found = known.find((one) => one === value);
  if (found !== undefined) return found;
  throw wrong(`parse ${name}: expected one of ${known.join(', ')}, got ${shown(value)}`);
}

function shown(value: unknown): string {
  const text = jsonText(value) ?? 'nothing';
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}...`;
}

function wrong(message: string): AppError {
  return new AppError('usage', message);
}
