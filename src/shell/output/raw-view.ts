// Views: text computed from a capture for a reader, with the true totals of the stream it is from.
// Only what is shown is ever in memory, whatever the size of the capture. Cuts never split a UTF-8
// character; tail and head show whole lines.
import { join } from 'node:path';
import { HoleMoved } from '../../capture/hole.ts';
import {
  closeSnapshot,
  openSnapshot,
  type Snapshot,
  type Source,
  spans,
  totalsOf,
  withSnapshot,
} from '../../capture/snapshot.ts';
import {
  keptAt,
  keptUntil,
  newlinesBefore,
  positionBeforeLine,
  type Stream,
  streamBytes,
  streamHole,
  streamPieces,
  streamTotals,
} from '../../capture/stream.ts';
import { countLines, nthNewline, nthNewlineFromEnd } from '../../text/lines.ts';
import { decodeUtf8, utf8End, utf8Start } from '../../text/utf8.ts';
import type { Hole, StreamTotals, View } from '../../types.ts';

const NEWLINE = 0x0a;

/** Between the two ends of a middle view. */
const SNIP = '\n\n[snip]\n\n';

// A view is a string in memory; who wants more reads the file.
const VIEW_BYTES_MAX = 16 * 1024 * 1024;
const MIDDLE_BYTES_MAX = 131_072; // seed 002: up to this much is shown whole
const MIDDLE_END_BYTES = 4_096; // and of more, this much of each end

export type ViewOptions = {
  readonly kind: 'tail' | 'head' | 'middle' | 'raw';
  readonly channel?: Stream;
  /** tail and head. */
  readonly linesMax?: number;
  readonly bytesMax?: number;
  /** middle: how much of each end. */
  readonly endBytes?: number;
  /** raw: where to start in the stream. */
  readonly offset?: number;
};

/** What is shown of a stream: `[from, to)`, as bytes. */
type Cut = {
  readonly from: number;
  readonly bytes: Uint8Array;
  readonly cut: View['cut'];
  readonly partialLine: boolean;
};

type Whole = {
  readonly snapshot: Snapshot;
  readonly stream: Stream;
  /** As in a view: an unfinished line counts. */
  readonly totals: StreamTotals;
  readonly hole: Hole | undefined;
  /** More may come, so that an unfinished character at the end may get its rest. */
  readonly open: boolean;
};

export function view(capture: Source, options: ViewOptions): View {
  const path = join(capture.dir, 'output.bin');
  return withSnapshot(capture, (snapshot) => {
    const stream = options.channel ?? 'all';
    const totals = linesSeen(snapshot, stream);
    const hole = streamHole(snapshot, stream);
    const whole: Whole = { snapshot, stream, totals, hole, open: capture.outputOpen };
    if (options.kind === 'middle') return middle(whole, options, path);
    const shown = cutOf(whole, options);
    const { from, bytes, cut, partialLine } = shown;
    const lines = countLines(bytes);
    const firstLine = firstLineOf(whole, options.kind, shown, lines);
    return {
      text: decodeUtf8(bytes),
      from,
      to: from + bytes.length,
      firstLine,
      lastLine: firstLine + lines - 1,
      totals,
      shown: { bytes: bytes.length, lines },
      cut,
      partialLine,
      path,
      ...(hole && { hole }),
    };
  });
}

/** A whole stream, piece by piece. The capture's files are closed when the caller stops early. */
export function* streamChannel(capture: Source, channel: Stream): Generator<Uint8Array> {
  let position = 0;
  for (;;) {
    const snapshot = openSnapshot(capture);
    try {
      const all = channel === 'all';
      const end = all ? snapshot.end : streamTotals(totalsOf(snapshot), channel).bytes;
      const hole = streamHole(snapshot, channel);
      position = keptAt(snapshot, channel, position);
      for (const piece of streamPieces(snapshot, channel, position, end)) {
        yield piece;
        position += piece.length;
        if (position === hole?.from) position = hole.to;
      }
      return;
    } catch (error) {
      // What was to be read next is gone by now: it goes on behind it.
      if (!(error instanceof HoleMoved)) throw error;
    } finally {
      closeSnapshot(snapshot);
    }
  }
}

/** Bytes without a record, of a run whose streams were apart: they may be of either. */
export function unknownBytes(capture: Source): number {
  return withSnapshot(capture, (snapshot) => {
    let bytes = 0;
    for (const { channel, length } of spans(snapshot, 0, snapshot.end)) {
      if (channel === 'unknown') bytes += length;
    }
    return bytes;
  });
}

function cutOf(whole: Whole, options: ViewOptions): Cut {
  const bytesMax = Math.min(options.bytesMax ?? VIEW_BYTES_MAX, VIEW_BYTES_MAX);
  const linesMax = options.linesMax ?? Number.POSITIVE_INFINITY;
  if (options.kind === 'tail') return tail(whole, linesMax, bytesMax);
  if (options.kind === 'head') return head(whole, linesMax, bytesMax);
  return raw(whole, Math.max(0, options.offset ?? 0), bytesMax);
}

/** Whole lines from the end until one limit is hit; of a line longer than that, its end. */
function tail(whole: Whole, linesMax: number, bytesMax: number): Cut {
  const { snapshot, stream, totals } = whole;
  const end = totals.bytes;
  const floor = whole.hole?.to ?? 0;
  const near = positionBeforeLine(snapshot, stream, totals.lines - linesMax - 1);
  if (near > Math.max(floor, end - bytesMax)) {
    // The lines that may be shown start behind this, so the bytes before need not be looked at.
    const bytes = streamBytes(snapshot, stream, near, end);
    const start = lastLinesStart(bytes, linesMax);
    return { from: near + start, bytes: bytes.subarray(start), cut: 'lines', partialLine: false };
  }
  // One byte more tells whether the first line in reach is whole.
  const base = Math.max(floor, end - bytesMax - 1);
  const bytes = streamBytes(snapshot, stream, base, end);
  let start = Math.max(floor, end - bytesMax) - base;
  let cut: View['cut'] = 'none';
  let partialLine = false;
  if (base + start > 0) {
    cut = 'bytes';
    const newline = bytes.indexOf(NEWLINE, Math.max(0, start - 1));
    const found = newline >= 0 && newline < bytes.length - 1;
    partialLine = !found && start < bytes.length;
    start = found ? newline + 1 : utf8Start(bytes, start);
  }
  const byLines = lastLinesStart(bytes, linesMax);
  if (byLines <= start)
    return { from: base + start, bytes: bytes.subarray(start), cut, partialLine };
  return { from: base + byLines, bytes: bytes.subarray(byLines), cut: 'lines', partialLine: false };
}

/** Where the last `count` lines start. */
function lastLinesStart(bytes: Uint8Array, count: number): number {
  if (count <= 0) return bytes.length;
  if (count > bytes.length) return 0;
  // A newline at the very end finishes the last line, it does not start another.
  const finished = bytes[bytes.length - 1] === NEWLINE ? 1 : 0;
  return nthNewlineFromEnd(bytes, count, bytes.length - finished) + 1;
}

/** Whole lines from the start until one limit is hit; of a line longer than that, its start. */
function head({ snapshot, stream, totals, hole }: Whole, linesMax: number, bytesMax: number): Cut {
  const kept = hole?.from ?? totals.bytes;
  const bytes = streamBytes(snapshot, stream, 0, Math.min(kept, bytesMax));
  let end = bytes.length;
  let cut: View['cut'] = 'none';
  let partialLine = false;
  if (end < totals.bytes) {
    cut = 'bytes';
    const newline = bytes.lastIndexOf(NEWLINE);
    partialLine = newline < 0 && end > 0;
    end = newline < 0 ? utf8End(bytes, end) : newline + 1;
  }
  const byLines = firstLinesEnd(bytes, linesMax);
  if (byLines >= end) return { from: 0, bytes: bytes.subarray(0, end), cut, partialLine };
  return { from: 0, bytes: bytes.subarray(0, byLines), cut: 'lines', partialLine: false };
}

/** Behind the first `count` lines. */
function firstLinesEnd(bytes: Uint8Array, count: number): number {
  if (count <= 0) return 0;
  const newline = count > bytes.length ? -1 : nthNewline(bytes, count);
  return newline < 0 ? bytes.length : newline + 1;
}

/** Everything from an offset on. `to` is where the next one starts: no byte is left out. */
function raw(whole: Whole, offset: number, bytesMax: number): Cut {
  const { snapshot, stream, totals, hole, open } = whole;
  const wanted = keptAt(snapshot, stream, Math.min(Math.floor(offset), totals.bytes));
  const kept = Math.min(totals.bytes, keptUntil(snapshot, stream, wanted));
  const to = Math.min(wanted + bytesMax, kept);
  // The bytes before tell whether the offset is inside of a character, or of a line.
  const base = Math.max(hole !== undefined && wanted >= hole.to ? hole.to : 0, wanted - 3);
  const bytes = streamBytes(snapshot, stream, base, to);
  let start = wanted - base;
  if (utf8End(bytes, start) < start) start = utf8Start(bytes, start);
  const safe = to < totals.bytes || open ? utf8End(bytes, bytes.length) : bytes.length;
  const end = safe > start ? safe : bytes.length;
  const from = base + start;
  const more = base + end < totals.bytes;
  return {
    from,
    bytes: bytes.subarray(start, end),
    cut: from > 0 || more ? 'bytes' : 'none',
    partialLine: (from > 0 && bytes[start - 1] !== NEWLINE) || (more && bytes[end - 1] !== NEWLINE),
  };
}

/** The whole stream, or both its ends when it is larger than that. */
function middle(whole: Whole, options: ViewOptions, path: string): View {
  const { snapshot, stream, totals, hole } = whole;
  const end = totals.bytes;
  const bytesMax = Math.min(options.bytesMax ?? MIDDLE_BYTES_MAX, VIEW_BYTES_MAX);
  const fits = end <= bytesMax && hole === undefined;
  const endBytes = Math.min(options.endBytes ?? MIDDLE_END_BYTES, Math.floor(end / 2));
  const length = fits ? end : Math.min(endBytes, hole?.from ?? end);
  const first = streamBytes(snapshot, stream, 0, length);
  const start = Math.max(end - endBytes, hole?.to ?? 0);
  const last = fits ? new Uint8Array() : streamBytes(snapshot, stream, start, end);
  const upTo = first.subarray(0, fits ? end : utf8End(first, first.length));
  const from = last.subarray(utf8Start(last, 0));
  return {
    text: decodeUtf8(upTo) + (fits ? '' : SNIP + decodeUtf8(from)),
    from: 0,
    to: end,
    firstLine: 1,
    lastLine: totals.lines,
    totals,
    shown: { bytes: upTo.length + from.length, lines: countLines(upTo) + countLines(from) },
    cut: fits ? 'none' : 'bytes',
    partialLine: !fits && upTo[upTo.length - 1] !== NEWLINE,
    path,
    ...(hole && { hole }),
  };
}

/** True totals of a stream; the unfinished line at its end is a line to a reader. */
function linesSeen(snapshot: Snapshot, stream: Stream): StreamTotals {
  const { bytes, lines } = streamTotals(totalsOf(snapshot), stream);
  const last = streamBytes(snapshot, stream, Math.max(0, bytes - 1), bytes);
  return { bytes, lines: lines + (last.length > 0 && last[0] !== NEWLINE ? 1 : 0) };
}

function firstLineOf(whole: Whole, kind: ViewOptions['kind'], shown: Cut, lines: number): number {
  if (kind === 'tail') return whole.totals.lines - lines + 1;
  if (kind === 'head') return 1;
  return newlinesBefore(whole.snapshot, whole.stream, shown.from) + 1;
}
