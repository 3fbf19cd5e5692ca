// What the values of options may be. A wrong one is told in one sentence, and the exit code is 2.

import { InvalidArgumentError } from 'commander';
import { parseDuration } from '../text/duration.ts';

export function count(text: string): number {
  const value = countOrNone(text);
  if (value === 0) throw new InvalidArgumentError('It must be a whole number from 1.');
  return value;
}

export function countOrNone(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

/** Milliseconds. */
export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) {
    throw new InvalidArgumentError('It is not a duration like 500ms, 10s or 1h.');
  }
  return ms;
}

export function pattern(text: string): RegExp {
  try {
    return new RegExp(text, 'u');
  } catch {
    // The message of the engine repeats the pattern and says little more.
    throw new InvalidArgumentError(
      'It is no regular expression; put a \\ before signs like ( and [.',
    );
  }
}
