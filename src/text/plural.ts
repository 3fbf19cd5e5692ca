// Counts in sentences.

import { countText } from './dates.ts';

/** `1 file`, `3 files`, `2 entries`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** The same for counts that may be long: `1 session`, `1,523 sessions`. */
export function manyText(count: number, one: string): string {
  return `${countText(count)} ${count === 1 ? one : `${one}s`}`;
}
