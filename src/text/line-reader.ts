// Lines of JSON from a file that a crash, a full disk or two writers may have damaged. A line
// counts only if it ends in `\n` and parses. Inside a line that does not parse, the objects that
// are whole are found again: a crash leaves runs of NUL, and a torn line is followed by the next
// without a newline between them. Nothing is ever put together from two pieces.
import { type JsonObject, parseObject } from './json.ts';

const NEWLINE = 0x0a;

// A torn line is as long as a few of ours. Looking for objects in rubbish costs its length times
// its braces, so both have an end.
const RECOVERY_LENGTH_MAX = 65_536;
const RECOVERY_FAILURES_MAX = 200;

/** How the lines of one kind of file are understood; undefined is what is no such record. */
export type LineFormat<T> = {
  readonly decode: (json: JsonObject) => T | undefined;
  /** `bytes[from, to)` without JSON.parse, if that is possible: the usual line, much faster. */
  readonly quick?: (bytes: Uint8Array, from: number, to: number) => T | undefined;
};

export type Lines<T> = {
  readonly records: readonly T[];
  /** Behind the last `\n`: the bytes from here on are not complete yet. */
  readonly end: number;
};

/** Every intact record of the complete lines in `bytes`. */
export function readLines<T>(bytes: Uint8Array, format: LineFormat<T>): Lines<T> {
  const end = bytes.lastIndexOf(NEWLINE) + 1;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const records: T[] = [];
  let start = 0;
  while (start < end) {
    const newline = buffer.indexOf(NEWLINE, start);
    const record = format.quick?.(buffer, start, newline);
    if (record !== undefined) records.push(record);
    else if (newline > start) {
      for (const json of objectsOf(buffer.toString('utf8', start, newline))) {
        const found = format.decode(json);
        if (found !== undefined) records.push(found);
      }
    }
    start = newline + 1;
  }
  return { records, end };
}

function objectsOf(line: string): JsonObject[] {
  const whole = parseObject(line);
  if (whole !== undefined) return [whole];
  // A NUL never stands inside JSON: what it interrupts is lost, what it separates is not.
  const parts = line.split(/\0+/).filter((part) => part.length <= RECOVERY_LENGTH_MAX);
  return parts.flatMap(objectsIn);
}

/** The outermost objects that parse, found from left to right. */
function objectsIn(text: string): JsonObject[] {
  const found: JsonObject[] = [];
  let start = text.indexOf('{');
  let failures = 0;
  while (start >= 0 && failures < RECOVERY_FAILURES_MAX) {
    const end = objectEnd(text, start);
    const object = end < 0 ? undefined : parseObject(text.slice(start, end));
    if (object === undefined) failures += 1;
    else found.push(object);
    start = text.indexOf('{', object === undefined ? start + 1 : end);
  }
  return found;
}

/** Behind the brace that closes the one at `start`, or -1. */
function objectEnd(text: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let i = start; i < text.length; i += 1) {
    const character = text[i];
    if (character === '\\' && quoted) i += 1;
    else if (character === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (character === '{') depth += 1;
    else if (character === '}') {
      depth -= 1;
      if (depth === 0) return i + 1;
    }
  }
  return -1;
}
