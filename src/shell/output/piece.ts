// A stream of a capture as clean text, from its start or from its end, as much as is asked for. A
// piece of the end reads the same as it does in the whole: the sanitiser gets a run-up longer than
// any sequence, and what it says on the way is not taken.

import { isAscii, isUtf8 } from 'node:buffer';
import { type Snapshot, totalsOf } from '../../capture/snapshot.ts';
import {
  keptFrom,
  keptUntil,
  newlinesBefore,
  type Stream,
  streamBytes,
  streamPieces,
  streamTotals,
} from '../../capture/stream.ts';
import { countNewlines } from '../../text/lines.ts';
import { sanitizer } from '../../text/sanitize.ts';
import { decodeUtf8, utf8End, utf8Start } from '../../text/utf8.ts';
import type { StreamTotals } from '../../types.ts';

const ESCAPE = 0x1b;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

// The longest string that the sanitiser takes for one.
const RUN_UP_BYTES = 1024 * 1024;
const RAW_PER_SHOWN = 4; // of colourful text; where more of it is sequences, more is read
// Up to here: of megabytes of sequences less is shown than might be.
const RAW_BYTES_MAX = 16 * 1024 * 1024;
const SAMPLE_BYTES = 8_192; // enough to tell text from other things

export type Whole = {
  readonly snapshot: Snapshot;
  readonly stream: Stream;
  /** An unfinished line counts. */
  readonly totals: StreamTotals;
  readonly cr: 'keep' | 'overwrite';
  /** More may come, so that an unfinished character at the end may get its rest. */
  readonly open: boolean;
};

export type CleanPiece = {
  /** Valid UTF-8. */
  readonly bytes: Uint8Array;
  /** It is all of the stream. */
  readonly whole: boolean;
  /** The line of the raw stream that it starts in, from 1. */
  readonly firstLine: number;
  /** The line of the raw stream that its line `k`, from 0, ends in. */
  readonly lineEnd: (k: number) => number;
  /** Some of the raw bytes it was made of. */
  readonly sample: Uint8Array;
};

export function streamOf(
  snapshot: Snapshot,
  stream: Stream,
  how: Pick<Whole, 'cr' | 'open'>,
): Whole {
  const { bytes, lines } = streamTotals(totalsOf(snapshot), stream);
  const last = streamBytes(snapshot, stream, Math.max(0, bytes - 1), bytes);
  const unfinished = last.length > 0 && last[0] !== NEWLINE ? 1 : 0;
  return { snapshot, stream, totals: { bytes, lines: lines + unfinished }, ...how };
}

/** More than `wanted` bytes, unless that is all, or all that is kept. */
export function fromStart(whole: Whole, wanted: number): CleanPiece {
  const { snapshot, stream, totals, cr } = whole;
  const clean = sanitizer({ cr });
  const raw: Uint8Array[] = [];
  const parts: Uint8Array[] = [];
  let read = 0;
  let length = 0;
  const end = Math.min(totals.bytes, keptUntil(snapshot, stream, 0));
  for (const piece of streamPieces(snapshot, stream, 0, end)) {
    const part = clean.push(piece);
    raw.push(piece);
    parts.push(part);
    read += piece.length;
    length += part.length;
    if (length > wanted || read >= RAW_BYTES_MAX) break;
  }
  const all = read >= totals.bytes;
  if (all) parts.push(clean.end());
  const source = { runUp: NOTHING, raw: joined(raw), firstLine: 1 };
  return pieceOf(whole, source, joined(parts), { whole: all, toEnd: all });
}

/** More than `wanted` bytes, unless that is all, or all that is kept. */
export function fromEnd(whole: Whole, wanted: number): CleanPiece {
  const { snapshot, stream, totals, cr } = whole;
  const first = keptFrom(snapshot, stream);
  let length = RUN_UP_BYTES + SAMPLE_BYTES + wanted * RAW_PER_SHOWN;
  for (;;) {
    const from = Math.max(first, totals.bytes - length);
    const read = streamBytes(snapshot, stream, from, totals.bytes);
    // Behind what is not kept there is nothing to run up on: the first whole line is the start.
    const start = from === 0 ? 0 : startOfText(read, from === first ? 0 : RUN_UP_BYTES);
    const runUp = read.subarray(0, start);
    const clean = sanitizer({ cr });
    if (!endsPlainly(runUp)) clean.push(runUp);
    const bytes = joined([clean.push(read.subarray(start)), clean.end()]);
    if (from > first && bytes.length <= wanted && length < RAW_BYTES_MAX) {
      length *= RAW_PER_SHOWN;
      continue;
    }
    const firstLine = from === 0 ? 1 : newlinesBefore(snapshot, stream, from + start) + 1;
    const source = { runUp, raw: read.subarray(start), firstLine };
    return pieceOf(whole, source, bytes, { whole: from === 0, toEnd: true });
  }
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

type Source = {
  readonly runUp: Uint8Array;
  readonly raw: Uint8Array;
  /** That `raw` starts in. */
  readonly firstLine: number;
};

function pieceOf(
  whole: Whole,
  source: Source,
  clean: Uint8Array,
  { whole: all, toEnd }: { readonly whole: boolean; readonly toEnd: boolean },
): CleanPiece {
  const bytes = toEnd && whole.open ? clean.subarray(0, utf8End(clean, clean.length)) : clean;
  const valid = isUtf8(bytes) ? bytes : Buffer.from(decodeUtf8(bytes));
  const { raw, firstLine } = source;
  return {
    bytes: valid,
    whole: all,
    firstLine,
    lineEnd: lineEnds(source, bytes, whole.cr),
    sample: toEnd && !all ? lastSample(raw) : firstSample(raw),
  };
}

/** Without half a character at the cut: that is no sign of anything. */
function firstSample(raw: Uint8Array): Uint8Array {
  return raw.subarray(0, utf8End(raw, Math.min(raw.length, SAMPLE_BYTES)));
}

function lastSample(raw: Uint8Array): Uint8Array {
  return raw.subarray(utf8Start(raw, Math.max(0, raw.length - SAMPLE_BYTES)));
}

/** Lines fall together only where a sequence of several lines was dropped. */
function lineEnds(
  { runUp, raw, firstLine }: Source,
  clean: Uint8Array,
  cr: Whole['cr'],
): (k: number) => number {
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
