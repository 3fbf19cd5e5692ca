// Lines in bytes. A line ends with `\n`; what follows the last one is an unfinished line.

const NEWLINE = 0x0a;

/** How many `\n` there are in `bytes[from, to)`: what `wc -l` says. */
export function countNewlines(bytes: Uint8Array, from = 0, to = bytes.length): number {
  let count = 0;
  for (let i = from; i < to; i += 1) if (bytes[i] === NEWLINE) count += 1;
  return count;
}

/** How many lines a reader sees in `bytes`: an unfinished last one counts. */
export function countLines(bytes: Uint8Array): number {
  const unfinished = bytes.length > 0 && bytes[bytes.length - 1] !== NEWLINE;
  return countNewlines(bytes) + (unfinished ? 1 : 0);
}

/** Where the `n`th `\n` (from 1) at or behind `from` is, or -1. */
export function nthNewline(bytes: Uint8Array, n: number, from = 0): number {
  let at = from - 1;
  for (let found = 0; found < n; found += 1) {
    at = bytes.indexOf(NEWLINE, at + 1);
    if (at < 0) return -1;
  }
  return at;
}

/** Where the `n`th `\n` (from 1) is, counted backwards from `end`, or -1. */
export function nthNewlineFromEnd(bytes: Uint8Array, n: number, end = bytes.length): number {
  let at = end;
  for (let found = 0; found < n; found += 1) {
    // A negative start would count from the end again.
    at = at === 0 ? -1 : bytes.lastIndexOf(NEWLINE, at - 1);
    if (at < 0) return -1;
  }
  return at;
}
