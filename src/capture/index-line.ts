// Lines of index.jsonl, fast. A capture can have hundreds of thousands of them, nearly all exactly
// as they are written; those are read from the bytes without JSON.parse, several times faster.
// Any other line is left to the decoder of the format, which this must never disagree with.
import type { LineFormat } from '../text/line-reader.ts';
import type { Channel } from '../types.ts';
import { decodeIndex, type IndexRecord, possible } from './format.ts';

export const INDEX_LINES: LineFormat<IndexRecord> = { decode: decodeIndex, quick: scanIndex };

const DIGITS_MAX = 15; // more may not be a safe integer
const [ZERO, NINE, BRACE] = [0x30, 0x39, 0x7d];

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);
const OFFSET = ascii('{"offset":');
const LENGTH = ascii(',"length":');
const CHANNEL = ascii(',"channel":"');
const TIMESTAMP = ascii('","timestamp":"');
const LINES = ascii('","lines":');
const TOTAL_BYTES = ascii(',"total_bytes":[');
const TOTAL_LINES = ascii('],"total_lines":[');
const COMMA = ascii(',');
const BRACKET = ascii(']');
const PID = ascii(',"pid":');
const STDOUT = ascii('stdout');
const STDERR = ascii('stderr');
const PTY = ascii('pty');

/** Undefined for a line that is not exactly as `encodeIndex` writes it. */
export function scanIndex(bytes: Uint8Array, from: number, to: number): IndexRecord | undefined {
  const scan = new Scan(bytes, from);
  const offset = scan.number(OFFSET);
  const length = scan.number(LENGTH);
  const channel = scan.channel();
  const at = scan.time();
  const lines = scan.number(LINES);
  const bytes0 = scan.number(TOTAL_BYTES);
  const bytes1 = scan.number(COMMA);
  const lines0 = scan.number(TOTAL_LINES);
  const lines1 = scan.number(COMMA);
  scan.literal(BRACKET);
  const pid = scan.next() === BRACE ? undefined : scan.number(PID);
  if (!scan.good || scan.next() !== BRACE || scan.at + 1 !== to) return undefined;
  const record: IndexRecord = {
    offset,
    length,
    channel,
    at,
    lines,
    totalBytes: [bytes0, bytes1],
    totalLines: [lines0, lines1],
  };
  return possible(pid === undefined ? record : { ...record, pid });
}

/** Reads from left to right; the values count only if it is `good` at the end. */
class Scan {
  readonly #bytes: Uint8Array;
  at: number;
  good = true;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  next(): number {
    return this.#bytes[this.at] ?? -1;
  }

  literal(expected: Uint8Array): void {
    for (let i = 0; i < expected.length; i += 1) {
      if (this.#bytes[this.at + i] !== expected[i]) this.good = false;
    }
    this.at += expected.length;
  }

  number(before: Uint8Array): number {
    if (!this.good) return 0;
    this.literal(before);
    const start = this.at;
    const first = this.next();
    const value = this.#digits(DIGITS_MAX);
    const count = this.at - start;
    if (count === 0 || (count > 1 && first === ZERO)) this.good = false;
    return value;
  }

  channel(): Channel {
    if (this.good) this.literal(CHANNEL);
    if (this.next() === PTY[0]) {
      this.literal(PTY);
      return 'pty';
    }
    const stderr = this.#bytes[this.at + 3] === STDERR[3];
    this.literal(stderr ? STDERR : STDOUT);
    return stderr ? 'stderr' : 'stdout';
  }

  /** `2026-11-15T21:38:35.123Z` as epoch milliseconds. */
  time(): number {
    if (!this.good) return 0;
    this.literal(TIMESTAMP);
    const year = this.#part(4, 0x2d);
    const month = this.#part(2, 0x2d);
    const day = this.#part(2, 0x54);
    const hour = this.#part(2, 0x3a);
    const minute = this.#part(2, 0x3a);
    const second = this.#part(2, 0x2e);
    const ms = this.#part(3, 0x5a);
    if (hour > 23 || minute > 59 || second > 59) this.good = false;
    const start = startOfDay(year, month, day);
    if (start === undefined) this.good = false;
    return (start ?? 0) + ((hour * 60 + minute) * 60 + second) * 1000 + ms;
  }

  #part(length: number, end: number): number {
    const start = this.at;
    const value = this.#digits(length);
    if (this.at - start !== length || this.next() !== end) this.good = false;
    this.at += 1;
    return value;
  }

  #digits(max: number): number {
    let value = 0;
    for (let count = 0; count < max; count += 1) {
      const byte = this.next();
      if (byte < ZERO || byte > NINE) break;
      value = value * 10 + byte - ZERO;
      this.at += 1;
    }
    return value;
  }
}

let lastDay = { year: 1970, month: 1, day: 1, start: 0 as number | undefined };

/** Lines of one capture are nearly all of one day, so that one is remembered. */
function startOfDay(year: number, month: number, day: number): number | undefined {
  if (lastDay.day !== day || lastDay.month !== month || lastDay.year !== year) {
    const at = Date.UTC(year, month - 1, day);
    const exists = year >= 1970 && new Date(at).getUTCDate() === day && month <= 12 && month > 0;
    lastDay = { year, month, day, start: exists ? at : undefined };
  }
  return lastDay.start;
}
