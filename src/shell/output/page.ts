// A stream of a capture page by page: clean text from a line or a byte on, as much as fits, and
// where the next page starts. Pages put together are the sanitised stream. A page ends with a line;
// only a line that is longer than a page is given in parts, each rendered for itself.

import { type Source, withSnapshot } from '../../capture/snapshot.ts';
import {
  keptAt,
  newlinesBefore,
  positionBeforeLine,
  type Stream,
  streamBytes,
  streamPieces,
} from '../../capture/stream.ts';
import { looksBinary } from '../../text/binary.ts';
import { countNewlines, nthNewline } from '../../text/lines.ts';
import { sanitize, sanitizer } from '../../text/sanitize.ts';
import { decodeUtf8, utf8End, utf8Start } from '../../text/utf8.ts';
import type { StreamTotals } from '../../types.ts';
import { type Whole, wholeOf } from './piece.ts';

const NEWLINE = 0x0a;
const CLEANING = { cr: 'overwrite', broken: 'replace' } as const;
const SEQUENCE_BYTES_MAX = 4_096; // of one that a part of a line must not end in
const LINE_BYTES_MAX = 4 * 1024 * 1024; // of a line that is rendered as a whole
const SAMPLE_BYTES = 65_536; // enough to tell text from other things
const UNSEEN_BYTES_MAX = 16 * 1024 * 1024; // of lines without anything to show

export type PageOptions = {
  readonly channel: Stream;
  /** From 1. */
  readonly fromLine?: number | undefined;
  /** In the raw stream; before a line, if both are given. */
  readonly fromByte?: number | undefined;
  readonly linesMax?: number | undefined;
  /** Of the text, in UTF-8. */
  readonly bytesMax: number;
};

export type Page = {
  readonly text: string;
  /** Of the raw stream, from 1. When nothing is shown `lastLine` is before `firstLine`. */
  readonly firstLine: number;
  readonly lastLine: number;
  /** Where the next page starts, if there is more now. */
  readonly next: NextPage | undefined;
  /** Of the raw stream; an unfinished line counts. */
  readonly totals: StreamTotals;
  /** It starts, or ends, inside of a line that is too long for one page. */
  readonly partialLine: boolean;
  readonly binary: boolean;
};

type NextPage = {
  readonly byte: number;
  readonly line: number;
  /** It starts inside of the line. */
  readonly inLine: boolean;
};

export function readPage(capture: Source, options: PageOptions): Page {
  return withSnapshot(capture, (snapshot) => {
    const { channel, fromLine = 1, fromByte } = options;
    const whole = wholeOf(snapshot, channel, capture.outputOpen);
    const start =
      fromByte === undefined ? lineStart(whole, fromLine) : characterStart(whole, fromByte);
    return pageFrom(whole, keptAt(snapshot, channel, start), options);
  });
}

/** What fits: `raw` bytes of the stream that are this text. */
type Fit = { readonly text: string; readonly raw: number; readonly inLine: boolean };

function pageFrom(whole: Whole, start: number, options: PageOptions): Page {
  const { snapshot, stream, totals } = whole;
  const firstLine = newlinesBefore(snapshot, stream, start) + 1;
  const wanted = options.linesMax !== 0 && options.bytesMax > 0 && start < totals.bytes;
  const lines = wanted ? wholeLines(whole, start, options) : NOTHING_FITS;
  const fit = lines.raw > 0 || !wanted ? lines : partOfLine(whole, start, options.bytesMax);
  const sampled = Math.min(endFrom(whole, start), start + SAMPLE_BYTES);
  const sample = streamBytes(snapshot, stream, start, sampled);
  const end = start + fit.raw;
  const line = newlinesBefore(snapshot, stream, end) + 1;
  const before = streamBytes(snapshot, stream, Math.max(0, start - 1), start);
  const lineEnds = end > start && !fit.inLine && endsLine(whole, end);
  const inLine = fit.inLine || keptAt(snapshot, stream, end) > end;
  return {
    text: fit.text,
    firstLine,
    lastLine: end === start ? firstLine - 1 : line - (lineEnds ? 1 : 0),
    // Behind what is not kept it starts in the middle of a line.
    next: end < totals.bytes ? { byte: keptAt(snapshot, stream, end), line, inLine } : undefined,
    totals,
    partialLine: fit.inLine || (before.length > 0 ? before[0] !== NEWLINE : start > 0),
    binary: looksBinary(sample),
  };
}

const NOTHING_FITS: Fit = { text: '', raw: 0, inLine: false };

/** Where what is kept from `start` on ends. */
function endFrom({ totals, hole }: Whole, start: number): number {
  return hole !== undefined && start < hole.from ? hole.from : totals.bytes;
}

function endsLine({ snapshot, stream }: Whole, end: number): boolean {
  return streamBytes(snapshot, stream, end - 1, end)[0] === NEWLINE;
}

/** As many whole lines as fit; the unfinished one at the end of the stream counts as whole. */
function wholeLines(whole: Whole, start: number, options: PageOptions): Fit {
  const { open } = whole;
  const end = endFrom(whole, start);
  const { bytesMax, linesMax = Number.POSITIVE_INFINITY } = options;
  const clean = sanitizer(CLEANING);
  let fit = NOTHING_FITS;
  let [text, length, raw, lines] = ['', 0, 0, 0];
  for (const line of rawLines(whole, start)) {
    if (line === undefined) break;
    raw += line.length;
    const last = start + raw >= end;
    const pushed = decodeUtf8(clean.push(line));
    const shown = last ? pushed + decodeUtf8(open ? clean.peek() : clean.end()) : pushed;
    length += Buffer.byteLength(shown);
    if (length > bytesMax) break;
    text += shown;
    lines += 1;
    // Inside of a sequence of several lines there is no end of a line.
    if (last || shown.endsWith('\n')) fit = { text, raw, inLine: false };
    if (lines >= linesMax || raw - length > UNSEEN_BYTES_MAX) break;
  }
  return fit;
}

/** Line by line with their ends; undefined for one that is too long to be held. */
function* rawLines(whole: Whole, start: number): Generator<Uint8Array | undefined> {
  const { snapshot, stream } = whole;
  let parts: Uint8Array[] = [];
  let length = 0;
  for (const piece of streamPieces(snapshot, stream, start, endFrom(whole, start))) {
    let at = 0;
    while (at < piece.length) {
      const newline = piece.indexOf(NEWLINE, at);
      const end = newline < 0 ? piece.length : newline + 1;
      parts.push(piece.slice(at, end)); // the piece is read over
      length += end - at;
      at = end;
      if (length > LINE_BYTES_MAX) yield undefined;
      if (newline < 0) continue;
      yield Buffer.concat(parts);
      parts = [];
      length = 0;
    }
  }
  if (length > 0) yield Buffer.concat(parts);
}

/** Of a line that does not fit, as much as does. */
function partOfLine(whole: Whole, start: number, bytesMax: number): Fit {
  const { snapshot, stream } = whole;
  const until = Math.min(endFrom(whole, start), start + bytesMax);
  const read = streamBytes(snapshot, stream, start, until);
  const newline = read.indexOf(NEWLINE);
  const raw = newline < 0 ? read : read.subarray(0, newline + 1);
  let end = newline < 0 ? partEnd(raw) : raw.length;
  for (;;) {
    const text = decodeUtf8(sanitize(raw.subarray(0, end), CLEANING));
    const inLine = end === 0 || raw[end - 1] !== NEWLINE;
    // Bytes that are no characters take three in UTF-8.
    if (Buffer.byteLength(text) <= bytesMax) return { text, raw: end, inLine };
    end = partEnd(raw.subarray(0, Math.floor(end / 3)));
  }
}

/** Where neither a character nor a sequence is cut, at the end or left of it. */
function partEnd(raw: Uint8Array): number {
  const character = utf8End(raw, raw.length);
  const clean = sanitizer(CLEANING);
  clean.push(raw.subarray(0, character));
  const start = character - clean.pending;
  return start <= 0 || clean.pending > SEQUENCE_BYTES_MAX ? character : start;
}

/** Where a line starts; behind the end of the stream for one that is not there. */
export function lineStart(whole: Whole, line: number): number {
  const { snapshot, stream, totals } = whole;
  if (line <= 1) return 0;
  // One line less: where just as many end before, some of this one may lie before, too.
  let from = keptAt(snapshot, stream, positionBeforeLine(snapshot, stream, line - 2));
  while (from < totals.bytes) {
    let position = from;
    let missing = line - 1 - newlinesBefore(snapshot, stream, from);
    if (missing <= 0) return from; // it starts in what is not kept
    const end = endFrom(whole, from);
    for (const piece of streamPieces(snapshot, stream, from, end)) {
      const newlines = countNewlines(piece);
      if (newlines >= missing) return position + nthNewline(piece, missing) + 1;
      missing -= newlines;
      position += piece.length;
    }
    from = keptAt(snapshot, stream, end);
  }
  return totals.bytes;
}

function characterStart({ snapshot, stream, totals, hole }: Whole, wanted: number): number {
  const at = keptAt(snapshot, stream, Math.min(wanted, totals.bytes));
  const kept = hole?.to ?? 0;
  const base = Math.max(at < kept ? 0 : kept, at - 3);
  const bytes = streamBytes(snapshot, stream, base, Math.min(totals.bytes, at + 3));
  const inside = utf8End(bytes, at - base) < at - base;
  return inside ? base + utf8Start(bytes, at - base) : at;
}
