// What a model gets to see of a capture: a part of one of its streams as clean text, valid UTF-8
// without escape sequences, with the true totals of the raw bytes and true line numbers. Only about
// as much as is shown is read, whatever the size of the capture.

import { join } from 'node:path';
import { type Source, withSnapshot } from '../../capture/snapshot.ts';
import { type Stream, streamBytes } from '../../capture/stream.ts';
import { describeBinary, looksBinary } from '../../text/binary.ts';
import { type Cut, type CutLimits, headCut, sizeOf, tailCut } from '../../text/cut.ts';
import { countNewlines } from '../../text/lines.ts';
import { decodeUtf8 } from '../../text/utf8.ts';
import type { StreamTotals } from '../../types.ts';
import { type CleanPiece, fromEnd, fromStart, type Returns, type Whole, wholeOf } from './piece.ts';

export type CleanViewOptions = {
  /** Of what is over the limits `ends` gives up the middle, `tail` the start, `head` the end. */
  readonly kind: 'tail' | 'head' | 'ends';
  /** All bytes as they came, unless it is given. */
  readonly channel?: Stream | undefined;
  readonly linesMax?: number | undefined;
  /** Of the text, in UTF-8, without what stands in the gap. */
  readonly bytesMax: number;
  readonly cr?: Returns | undefined;
  /** `ends`: what stands in the place of what is between. */
  readonly gap?: ((hidden: HiddenPart) => string) | undefined;
};

/** What `ends` leaves out, in the raw stream. A line that is cut is among the hidden ones. */
export type HiddenPart = {
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
  readonly hidden: HiddenPart | undefined;
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

export function cleanView(capture: Source, options: CleanViewOptions): CleanView {
  return withSnapshot(capture, (snapshot) => {
    const { channel = 'all' } = options;
    const whole = wholeOf(snapshot, channel, capture.outputOpen);
    const part = partOf(whole, options);
    const { totals, hole } = whole;
    const head = part.binary ? streamBytes(snapshot, channel, 0, HEAD_BYTES) : undefined;
    const summary = head && describeBinary({ head, totalBytes: totals.bytes });
    const missingBytes = hole === undefined ? 0 : hole.to - hole.from;
    return { ...part, totals, missingBytes, summary, path: join(capture.dir, 'output.bin') };
  });
}

function partOf(whole: Whole, options: CleanViewOptions): Part {
  const { kind, bytesMax, linesMax = Number.POSITIVE_INFINITY, cr = 'keep' } = options;
  const limits = { bytesMax: Math.max(0, bytesMax), linesMax: Math.max(0, linesMax) };
  if (kind === 'tail') return tailPart(fromEnd(whole, limits.bytesMax, cr), limits);
  const piece = fromStart(whole, limits.bytesMax, cr);
  const head = headPart(piece, limits);
  if (kind === 'head' || head.cut === 'none') return head;
  return bothEnds(whole, piece, limits, options);
}

function tailPart(piece: CleanPiece, limits: CutLimits): Part {
  return shownPart(piece, tailCut(piece.bytes, limits, piece.start));
}

function headPart(piece: CleanPiece, limits: CutLimits): Part {
  return shownPart(piece, headCut(piece.bytes, limits, !piece.whole));
}

function shownPart(piece: CleanPiece, { from, to, limit, partialLine }: Cut): Part {
  const shown = piece.bytes.subarray(from, to);
  const before = countNewlines(piece.bytes, 0, from);
  const size = sizeOf(shown);
  const firstLine = before === 0 ? piece.firstLine : piece.lineEnd(before - 1) + 1;
  return {
    text: decodeUtf8(shown),
    shown: size,
    firstLine,
    lastLine: size.lines === 0 ? firstLine - 1 : piece.lineEnd(before + size.lines - 1),
    cut: limit,
    partialLine,
    hidden: undefined,
    binary: looksBinary(piece.sample),
  };
}

function bothEnds(
  whole: Whole,
  start: CleanPiece,
  { bytesMax, linesMax }: CutLimits,
  { gap = snip, cr = 'keep' }: CleanViewOptions,
): Part {
  const half = { bytesMax: Math.floor(bytesMax / 2), linesMax: Math.floor(linesMax / 2) };
  const first = headPart(start, half);
  const rest = {
    bytesMax: bytesMax - first.shown.bytes,
    linesMax: Math.max(0, linesMax - first.shown.lines),
  };
  const last = tailPart(start.whole ? start : fromEnd(whole, rest.bytesMax, cr), rest);
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
