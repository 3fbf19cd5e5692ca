// One stream of a capture by itself: stdout, stderr, or all bytes as they came. A position in it is
// what a reader of that stream alone would count; the index turns it into an offset of output.bin.
import { countNewlines } from '../text/lines.ts';
import type { Hole, StreamTotals } from '../types.ts';
import { pieces, readAhead } from './byte-source.ts';
import { type IndexRecord, slotOf } from './format.ts';
import { HoleMoved } from './hole.ts';
import { endOf, neighbours } from './index-search.ts';
import {
  closeSnapshot,
  openSnapshot,
  type Snapshot,
  type Source,
  spans,
  type Totals,
  totalsOf,
} from './snapshot.ts';

/** The output of a pty counts as stdout. */
export type Stream = 'stdout' | 'stderr' | 'all';

// So many chunks of the other stream in a row are passed by a new search instead of one by one.
const PASS_BY_MIN = 256;

/** Bytes and `\n` of one stream, out of the totals of both. */
export function streamTotals({ bytes, lines }: Totals, stream: Stream): StreamTotals {
  if (stream === 'all') return { bytes: bytes[0] + bytes[1], lines: lines[0] + lines[1] };
  const slot = slotOf(stream);
  return { bytes: bytes[slot], lines: lines[slot] };
}

/** What is not kept of a stream, in its own positions; undefined when all of it is. */
export function streamHole(snapshot: Snapshot, stream: Stream): Hole | undefined {
  const { hole } = snapshot;
  if (hole === undefined || stream === 'all') return hole;
  const upTo = (end: number): number => streamTotals(totalsOf({ ...snapshot, end }), stream).bytes;
  const [from, to] = [upTo(hole.from), upTo(hole.to)];
  return from < to ? { from, to } : undefined;
}

/** Where what is kept from `position` on ends: before the hole, or the end of the stream. */
export function keptUntil(snapshot: Snapshot, stream: Stream, position: number): number {
  const hole = streamHole(snapshot, stream);
  return hole !== undefined && position < hole.from ? hole.from : Number.POSITIVE_INFINITY;
}

/** Where what is kept before the end of a stream starts: behind the hole, or at its start. */
export function keptFrom(snapshot: Snapshot, stream: Stream): number {
  return streamHole(snapshot, stream)?.to ?? 0;
}

/** `position`, or behind the hole if it is in it. */
export function keptAt(snapshot: Snapshot, stream: Stream, position: number): number {
  const hole = streamHole(snapshot, stream);
  const inside = hole !== undefined && position >= hole.from && position < hole.to;
  return inside ? hole.to : position;
}

/** `[from, to)` of a stream as one buffer. The caller keeps it small. */
export function streamBytes(
  snapshot: Snapshot,
  stream: Stream,
  from: number,
  to: number,
): Uint8Array {
  return Buffer.concat([...streamPieces(snapshot, stream, from, to)]);
}

/** A whole stream, piece by piece. The capture's files are closed when the caller stops early. */
export function* streamChunks(capture: Source, stream: Stream): Generator<Uint8Array> {
  let position = 0;
  for (;;) {
    const snapshot = openSnapshot(capture);
    try {
      const { bytes: end } = streamTotals(totalsOf(snapshot), stream);
      const hole = streamHole(snapshot, stream);
      position = keptAt(snapshot, stream, position);
      for (const piece of streamPieces(snapshot, stream, position, end)) {
        yield piece;
        position += piece.length;
        if (position === hole?.from) position = hole.to;
      }
      return;
    } catch (error) {
      // What was to be read next is gone by now: go on behind it.
      if (!(error instanceof HoleMoved)) throw error;
    } finally {
      closeSnapshot(snapshot);
    }
  }
}

/** `[from, to)` of a stream, in pieces; what is not kept is passed over. */
export function* streamPieces(
  snapshot: Snapshot,
  stream: Stream,
  from: number,
  to: number,
): Generator<Uint8Array> {
  const hole = streamHole(snapshot, stream);
  if (hole === undefined || to <= hole.from || from >= hole.to) {
    yield* keptPieces(snapshot, stream, from, to);
    return;
  }
  if (from < hole.from) yield* keptPieces(snapshot, stream, from, hole.from);
  if (to > hole.to) yield* keptPieces(snapshot, stream, hole.to, to);
}

function* keptPieces(
  snapshot: Snapshot,
  stream: Stream,
  from: number,
  to: number,
): Generator<Uint8Array> {
  if (stream === 'all') {
    yield* pieces(snapshot.output, from, Math.min(to, snapshot.end));
    return;
  }
  const output = readAhead(snapshot.output);
  let position = from;
  let offset: number | undefined = from < to ? offsetOf(snapshot, stream, from) : undefined;
  while (offset !== undefined) {
    let others = 0;
    let jump: number | undefined;
    for (const span of spans(snapshot, offset, snapshot.end)) {
      if (slotOf(span.channel) === slotOf(stream)) {
        const length = Math.min(span.length, to - position);
        yield* pieces(output, span.offset, span.offset + length);
        position += length;
        if (position >= to) return;
        others = 0;
      } else {
        others += 1;
        const next = others % PASS_BY_MIN === 0 ? offsetOf(snapshot, stream, position) : 0;
        jump = next > span.offset + span.length ? next : undefined;
        if (jump !== undefined) break;
      }
    }
    offset = jump;
  }
}

/** `\n` in a stream before `position`. */
export function newlinesBefore(snapshot: Snapshot, stream: Stream, wanted: number): number {
  const position = keptAt(snapshot, stream, wanted);
  const { before, after } = neighbours(
    snapshot.index,
    (one) => bytesThrough(one, stream),
    position,
  );
  const start = before === undefined ? 0 : bytesThrough(before, stream);
  let count = before === undefined ? 0 : linesThrough(before, stream);
  const floor = keptFrom(snapshot, stream);
  // Lines that are not kept cannot be counted from before: the record behind them knows.
  if (start < floor && position >= floor && after !== undefined) {
    count = linesThrough(after, stream);
    for (const piece of streamPieces(snapshot, stream, position, bytesThrough(after, stream))) {
      count -= countNewlines(piece);
    }
    return count;
  }
  for (const piece of streamPieces(snapshot, stream, start, position)) {
    count += countNewlines(piece);
  }
  return count;
}

/** A position in a stream that at most `count` lines end before; the last one the index knows. */
export function positionBeforeLine(snapshot: Snapshot, stream: Stream, count: number): number {
  if (!(count > 0)) return 0;
  const { before } = neighbours(snapshot.index, (one) => linesThrough(one, stream), count);
  return before === undefined ? 0 : bytesThrough(before, stream);
}

/** Where the byte at `position` of a stream lies in output.bin. */
function offsetOf(snapshot: Snapshot, stream: 'stdout' | 'stderr', position: number): number {
  const slot = slotOf(stream);
  const { before, after } = neighbours(snapshot.index, (one) => one.totalBytes[slot], position);
  if (after !== undefined && slotOf(after.channel) === slot) {
    const start = after.totalBytes[slot] - after.length;
    if (start <= position) return after.offset + position - start;
  }
  // Its own record is lost, or not written yet: go there from the last one before it.
  let at = before?.totalBytes[slot] ?? 0;
  for (const span of spans(snapshot, before === undefined ? 0 : endOf(before), snapshot.end)) {
    if (slotOf(span.channel) !== slot) continue;
    if (position < at + span.length) return span.offset + position - at;
    at += span.length;
  }
  return snapshot.end;
}

function bytesThrough(record: IndexRecord, stream: Stream): number {
  return stream === 'all' ? endOf(record) : record.totalBytes[slotOf(stream)];
}

function linesThrough({ totalLines }: IndexRecord, stream: Stream): number {
  return stream === 'all' ? totalLines[0] + totalLines[1] : totalLines[slotOf(stream)];
}
