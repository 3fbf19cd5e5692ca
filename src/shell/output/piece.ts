// A stream of a capture as clean text, from its start or from its end, as much as is asked for. A
// piece of the end reads the same as it does in the whole: the sanitiser gets a run-up longer than
// any sequence, and what it says on the way is not taken.

import { isAscii } from 'node:buffer';
import { type Snapshot, totalsOf } from '../../capture/snapshot.ts';
import {
  newlinesBefore,
  type Stream,
  streamBytes,
  streamHole,
  streamPieces,
  streamTotals,
} from '../../capture/stream.ts';
import type { Start } from '../../text/cut.ts';
import { countNewlines } from '../../text/lines.ts';
import { type Sanitizer, STRING_BYTES_MAX, sanitizer } from '../../text/sanitize.ts';
import { utf8End, utf8Start } from '../../text/utf8.ts';
import type { Hole, StreamTotals } from '../../types.ts';

const ESCAPE = 0x1b;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** Behind so many bytes the sanitiser reads a stream as it would have from its start. */
export const RUN_UP_BYTES = STRING_BYTES_MAX;
export const RAW_PER_SHOWN = 4; // of colourful text; where more of it is sequences, more is read
export const SAMPLE_BYTES = 8_192; // enough to tell text from other things
// Up to here: of megabytes of sequences less is shown than might be.
const RAW_BYTES_MAX = 16 * 1024 * 1024;

export type Returns = 'keep' | 'overwrite';

/** One stream of a capture, at one moment. */
export type Whole = {
  readonly snapshot: Snapshot;
  readonly stream: Stream;
  /** An unfinished line counts. */
  readonly totals: StreamTotals;
  readonly hole: Hole | undefined;
  /** More may come, so that an unfinished character at the end may get its rest. */
  readonly open: boolean;
};

export type CleanPiece = {
  /** Valid UTF-8. */
  readonly bytes: Uint8Array;
  /** It is all of the stream. */
  readonly whole: boolean;
  readonly start: Start;
  /** The line of the raw stream that it starts in, from 1. */
  readonly firstLine: number;
  /** The line of the raw stream that its line `k`, from 0, ends in. */
  readonly lineEnd: (k: number) => number;
  /** Some of the raw bytes it was made of. */
  readonly sample: Uint8Array;
};

export function wholeOf(snapshot: Snapshot, stream: Stream, open: boolean): Whole {
  const { bytes, lines } = streamTotals(totalsOf(snapshot), stream);
  const last = streamBytes(snapshot, stream, Math.max(0, bytes - 1), bytes);
  const unfinished = last.length > 0 && last[0] !== NEWLINE ? 1 : 0;
  const hole = streamHole(snapshot, stream);
  return { snapshot, stream, totals: { bytes, lines: lines + unfinished }, hole, open };
}

/** More than `wanted` bytes, unless that is all, or all that is kept. */
export function fromStart(whole: Whole, wanted: number, cr: Returns): CleanPiece {
  const { snapshot, stream, totals, hole } = whole;
  const clean = sanitizer({ cr, broken: 'replace' });
  const raw: Uint8Array[] = [];
  const parts: Uint8Array[] = [];
  let read = 0;
  let length = 0;
  for (const piece of streamPieces(snapshot, stream, 0, hole?.from ?? totals.bytes)) {
    const part = clean.push(piece);
    raw.push(piece);
    parts.push(part);
    read += piece.length;
    length += part.length;
    if (length > wanted || read >= RAW_BYTES_MAX) break;
  }
  const all = read >= totals.bytes;
  if (all) parts.push(lastOf(clean, whole));
  const source = { runUp: NOTHING, raw: joined(raw), firstLine: 1, cr };
  return {
    bytes: joined(parts),
    whole: all,
    start: 'all',
    firstLine: 1,
    lineEnd: lineEnds(source, joined(parts)),
    sample: firstSample(source.raw),
  };
}

/** More than `wanted` bytes, unless that is all, or all that is kept. */
export function fromEnd(whole: Whole, wanted: number, cr: Returns): CleanPiece {
  const { snapshot, stream, totals, hole } = whole;
  const first = hole?.to ?? 0;
  let length = RUN_UP_BYTES + SAMPLE_BYTES + wanted * RAW_PER_SHOWN;
  for (;;) {
    const from = Math.max(first, totals.bytes - length);
    const read = streamBytes(snapshot, stream, from, totals.bytes);
    // Behind what is not kept there is nothing to run up on: the first whole line is the start.
    const start = from === 0 ? 0 : startOfText(read, from === first ? 0 : RUN_UP_BYTES);
    const runUp = read.subarray(0, start);
    const clean = sanitizer({ cr, broken: 'replace' });
    if (!endsPlainly(runUp)) clean.push(runUp);
    const raw = read.subarray(start);
    const bytes = joined([clean.push(raw), lastOf(clean, whole)]);
    if (from > first && bytes.length <= wanted && length < RAW_BYTES_MAX) {
      length *= RAW_PER_SHOWN;
      continue;
    }
    const firstLine = from === 0 ? 1 : newlinesBefore(snapshot, stream, from + start) + 1;
    return {
      bytes,
      whole: from === 0,
      start: from === 0 ? 'all' : read[start - 1] === NEWLINE ? 'line' : 'inside',
      firstLine,
      lineEnd: lineEnds({ runUp, raw, firstLine, cr }, bytes),
      sample: from === 0 ? firstSample(raw) : lastSample(raw),
    };
  }
}

function lastOf(clean: Sanitizer, { open }: Whole): Uint8Array {
  return open ? clean.peek() : clean.end();
}

/** Nothing can be open behind it: whole lines in which no sequence begins, of either kind. */
function endsPlainly(bytes: Uint8Array): boolean {
  return bytes.at(-1) === NEWLINE && !bytes.includes(ESCAPE) && isAscii(bytes);
}

/** Behind the first newline at or behind `at`; else behind a `\r`, at which a line starts anew. */
function startOfText(bytes: Uint8Array, at: number): number {
  for (const byte of [NEWLINE, RETURN]) {
    const found = bytes.indexOf(byte, at);
    if (found >= 0 && found < bytes.length - 1) return found + 1;
  }
  return utf8Start(bytes, at);
}

/** Without half a character at the cut: that is no sign of anything. */
function firstSample(raw: Uint8Array): Uint8Array {
  return raw.subarray(0, utf8End(raw, Math.min(raw.length, SAMPLE_BYTES)));
}

function lastSample(raw: Uint8Array): Uint8Array {
  return raw.subarray(utf8Start(raw, Math.max(0, raw.length - SAMPLE_BYTES)));
}

type Raw = {
  readonly runUp: Uint8Array;
  readonly raw: Uint8Array;
  /** That `raw` starts in. */
  readonly firstLine: number;
  readonly cr: Returns;
};

/** Lines fall together only where a sequence of several lines was dropped. */
function lineEnds({ runUp, raw, firstLine, cr }: Raw, clean: Uint8Array): (k: number) => number {
  const count = countNewlines(raw);
  if (countNewlines(clean) === count) return (k) => firstLine + k;
  const again = sanitizer({ cr });
  again.push(runUp);
  const ends: number[] = [];
  let line = firstLine - 1;
  // What came late, because it was held back, ends where it would have ended on its own.
  const note = (bytes: Uint8Array): void => {
    for (let more = countNewlines(bytes); more > 0; more -= 1) ends.push(line - more + 1);
  };
  for (let at = 0; at < raw.length; ) {
    const newline = raw.indexOf(NEWLINE, at);
    const end = newline < 0 ? raw.length : newline + 1;
    const bytes = again.push(raw.subarray(at, end));
    if (newline >= 0) line += 1;
    note(bytes);
    at = end;
  }
  note(again.end());
  const unfinished = raw.length > 0 && raw[raw.length - 1] !== NEWLINE ? 1 : 0;
  const last = firstLine + count + unfinished - 1;
  return (k) => ends[k] ?? last;
}

const NOTHING = new Uint8Array(0);

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const some = parts.filter(({ length }) => length > 0);
  return some.length === 1 ? (some[0] ?? NOTHING) : Buffer.concat(some);
}
