// What a model gets to see of a capture: a part of one of its streams as clean text, valid UTF-8
// without escape sequences, with the true totals of the raw bytes and true line numbers. Only about
// as much as is shown is read, whatever the size of the capture.

import { join } from 'node:path';
import { type Source, withSnapshot } from '../../capture/snapshot.ts';
import { type Stream, streamBytes, streamHole } from '../../capture/stream.ts';
import { describeBinary, looksBinary } from '../../text/binary.ts';
import { countLines, countNewlines, nthNewline, nthNewlineFromEnd } from '../../text/lines.ts';
import { decodeUtf8, utf8End, utf8Start } from '../../text/utf8.ts';
import type { StreamTotals } from '../../types.ts';
import { type CleanPiece, fromEnd, fromStart, streamOf, type Whole } from './piece.ts';

const NEWLINE = 0x0a;

export type CleanViewOptions = {
  /** `full` is everything up to the limits; `ends` gives up the middle, `tail` the start. */
  readonly kind: 'tail' | 'head' | 'ends' | 'full';
  /** All bytes as they came, unless it is given. */
  readonly channel?: Stream | undefined;
  readonly linesMax?: number | undefined;
  /** Of the text, in UTF-8, without what stands in the gap. */
  readonly bytesMax: number;
  readonly cr?: 'keep' | 'overwrite' | undefined;
  /** `ends`: what stands in the place of what is between. */
  readonly gap?: ((hidden: Hidden) => string) | undefined;
};

/** What `ends` leaves out, in the raw stream. A line that is cut is among the hidden ones. */
export type Hidden = {
  readonly firstLine: number;
  readonly lastLine: number;
  /** The raw bytes of the stream, less those of the text that is shown. */
  readonly bytes: number;
};

export type CleanView = {
  readonly text: string;
  /** Of the raw stream: `wc -c`, and `wc -l` plus an unfinished line. */
  readonly totals: StreamTotals;
  /** Of the text, without the gap. */
  readonly shown: StreamTotals;
  /** In the raw stream, from 1. When nothing is shown `lastLine` is before `firstLine`. */
  readonly firstLine: number;
  readonly lastLine: number;
  readonly cut: 'none' | 'lines' | 'bytes';
  /** The first line shown is only the end of a longer one, or the last one only a start. */
  readonly partialLine: boolean;
  /** Of `ends`, when something was cut. */
  readonly hidden: Hidden | undefined;
  /** What is shown does not look like text. */
  readonly binary: boolean;
  /** Then, the line to show in its place. */
  readonly summary: string | undefined;
  /** Of the middle of the stream, printed and not kept. */
  readonly missingBytes: number;
  /** The file that holds the bytes, of all streams. */
  readonly path: string;
};

type Part = Omit<CleanView, 'totals' | 'missingBytes' | 'path' | 'summary'>;

const HEAD_BYTES = 512; // enough to tell every kind of file

export function cleanView(
  shell: { open(id: string): Source },
  id: string,
  options: CleanViewOptions,
): CleanView {
  const capture = shell.open(id);
  return withSnapshot(capture, (snapshot) => {
    const { channel = 'all', cr = 'keep' } = options;
    const whole = streamOf(snapshot, channel, { cr, open: capture.outputOpen });
    const part = partOf(whole, options);
    const { totals } = whole;
    const head = part.binary ? streamBytes(snapshot, channel, 0, HEAD_BYTES) : undefined;
    const summary = head && describeBinary({ head, totalBytes: totals.bytes });
    const hole = streamHole(snapshot, channel);
    const missingBytes = hole === undefined ? 0 : hole.to - hole.from;
    return { ...part, totals, missingBytes, summary, path: join(capture.dir, 'output.bin') };
  });
}

function partOf(whole: Whole, options: CleanViewOptions): Part {
  const { kind, bytesMax, linesMax = Number.POSITIVE_INFINITY } = options;
  const limits = { bytesMax: Math.max(0, bytesMax), linesMax: Math.max(0, linesMax) };
  if (kind === 'tail') {
    const piece = fromEnd(whole, limits.bytesMax);
    return shownPart(piece, tailCut(piece, limits));
  }
  const piece = fromStart(whole, limits.bytesMax);
  const cut = headCut(piece, limits);
  if (kind !== 'ends' || cut.limit === 'none') return shownPart(piece, cut);
  return bothEnds(whole, piece, limits, options.gap ?? snip);
}

type Limits = { readonly bytesMax: number; readonly linesMax: number };

/** What is shown of a piece: `[from, to)` of its bytes. */
type Cut = {
  readonly from: number;
  readonly to: number;
  readonly limit: CleanView['cut'];
  readonly partialLine: boolean;
};

/** Whole lines from the end until one limit is hit; of a line longer than that, its end. */
function tailCut({ bytes, whole }: CleanPiece, { bytesMax, linesMax }: Limits): Cut {
  const to = bytes.length;
  const byLines = lastLinesStart(bytes, linesMax);
  const reach = Math.max(0, to - bytesMax);
  if (byLines > 0 && byLines >= reach) {
    return { from: byLines, to, limit: 'lines', partialLine: false };
  }
  if (reach === 0) {
    // All there is of it, and yet not all of the stream if its start could not be read.
    return { from: 0, to, limit: whole ? 'none' : 'bytes', partialLine: !whole && to > 0 };
  }
  const newline = bytes.indexOf(NEWLINE, reach - 1);
  const found = newline >= 0 && newline < to - 1;
  const from = found ? newline + 1 : utf8Start(bytes, reach);
  return { from, to, limit: 'bytes', partialLine: !found && from < to };
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
function headCut({ bytes, whole }: CleanPiece, { bytesMax, linesMax }: Limits): Cut {
  const byLines = firstLinesEnd(bytes, linesMax);
  if (byLines < bytes.length && byLines <= bytesMax) {
    return { from: 0, to: byLines, limit: 'lines', partialLine: false };
  }
  if (whole && bytes.length <= bytesMax) {
    return { from: 0, to: bytes.length, limit: 'none', partialLine: false };
  }
  const reach = Math.min(bytesMax, bytes.length);
  const newline = reach === 0 ? -1 : bytes.lastIndexOf(NEWLINE, reach - 1);
  const to = newline < 0 ? utf8End(bytes, reach) : newline + 1;
  return { from: 0, to, limit: 'bytes', partialLine: newline < 0 && to > 0 };
}

/** Behind the first `count` lines. */
function firstLinesEnd(bytes: Uint8Array, count: number): number {
  if (count <= 0) return 0;
  const newline = count > bytes.length ? -1 : nthNewline(bytes, count);
  return newline < 0 ? bytes.length : newline + 1;
}

function shownPart(piece: CleanPiece, { from, to, limit, partialLine }: Cut): Part {
  const shown = piece.bytes.subarray(from, to);
  const before = countNewlines(piece.bytes, 0, from);
  const lines = countLines(shown);
  const firstLine = before === 0 ? piece.firstLine : piece.lineEnd(before - 1) + 1;
  return {
    text: decodeUtf8(shown),
    shown: { bytes: shown.length, lines },
    firstLine,
    lastLine: lines === 0 ? firstLine - 1 : piece.lineEnd(before + lines - 1),
    cut: limit,
    partialLine,
    hidden: undefined,
    binary: looksBinary(piece.sample),
  };
}

function bothEnds(
  whole: Whole,
  start: CleanPiece,
  { bytesMax, linesMax }: Limits,
  gap: (hidden: Hidden) => string,
): Part {
  const half = { bytesMax: Math.floor(bytesMax / 2), linesMax: Math.floor(linesMax / 2) };
  const first = shownPart(start, headCut(start, half));
  const rest = {
    bytesMax: bytesMax - first.shown.bytes,
    linesMax: Math.max(0, linesMax - first.shown.lines),
  };
  const end = start.whole ? start : fromEnd(whole, rest.bytesMax);
  const last = shownPart(end, tailCut(end, rest));
  const bytes = first.shown.bytes + last.shown.bytes;
  const hidden = {
    firstLine: first.lastLine + (first.partialLine ? 0 : 1),
    lastLine: last.firstLine - (last.partialLine ? 0 : 1),
    bytes: Math.max(0, whole.totals.bytes - bytes),
  };
  return {
    text: first.text + gap(hidden) + last.text,
    shown: { bytes, lines: first.shown.lines + last.shown.lines },
    firstLine: first.firstLine,
    lastLine: last.lastLine,
    cut: last.cut === 'none' ? first.cut : last.cut,
    partialLine: first.partialLine || last.partialLine,
    hidden,
    binary: first.binary || last.binary,
  };
}

function snip(): string {
  return '\n\n[snip]\n\n';
}
