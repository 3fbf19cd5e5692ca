// Views of the bytes as they were printed, with the true totals of the stream they are from. Only
// what is shown is ever in memory, whatever the size of the capture. Cuts never split a UTF-8
// character; tail and head show whole lines.
import { join } from 'node:path';
import { type Source, withSnapshot } from '../../capture/snapshot.ts';
import {
  keptAt,
  keptUntil,
  newlinesBefore,
  positionBeforeLine,
  type Stream,
  streamBytes,
} from '../../capture/stream.ts';
import { type Cut, headCut, sizeOf, tailCut } from '../../text/cut.ts';
import { decodeUtf8, utf8End, utf8Start } from '../../text/utf8.ts';
import type { View } from '../../types.ts';
import { type Whole, wholeOf } from './piece.ts';

const NEWLINE = 0x0a;

/** Between the two ends of a middle view. */
const SNIP = '\n\n[snip]\n\n';

// A view is a string in memory; a caller that wants more reads the file.
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

/** What is shown of a stream: `bytes` from position `from` on. */
type Part = Pick<View, 'from' | 'cut' | 'partialLine'> & { readonly bytes: Uint8Array };

export function rawView(capture: Source, options: ViewOptions): View {
  const path = join(capture.dir, 'output.bin');
  return withSnapshot(capture, (snapshot) => {
    const whole = wholeOf(snapshot, options.channel ?? 'all', capture.outputOpen);
    const { totals, hole } = whole;
    const about = { totals, path, ...(hole && { hole }) };
    if (options.kind === 'middle') return { ...middle(whole, options), ...about };
    const part = partOf(whole, options);
    const { from, bytes, cut, partialLine } = part;
    const shown = sizeOf(bytes);
    const firstLine = firstLineOf(whole, options.kind, from, shown.lines);
    return {
      text: decodeUtf8(bytes),
      from,
      to: from + bytes.length,
      firstLine,
      lastLine: firstLine + shown.lines - 1,
      shown,
      cut,
      partialLine,
      ...about,
    };
  });
}

function partOf(whole: Whole, options: ViewOptions): Part {
  const bytesMax = Math.min(options.bytesMax ?? VIEW_BYTES_MAX, VIEW_BYTES_MAX);
  const linesMax = options.linesMax ?? Number.POSITIVE_INFINITY;
  if (options.kind === 'tail') return tail(whole, linesMax, bytesMax);
  if (options.kind === 'head') return head(whole, linesMax, bytesMax);
  return raw(whole, Math.max(0, options.offset ?? 0), bytesMax);
}

function tail({ snapshot, stream, totals, hole }: Whole, linesMax: number, bytesMax: number): Part {
  const end = totals.bytes;
  const kept = hole?.to ?? 0;
  // The lines that may be shown start behind this, so the bytes before need not be looked at.
  const near = positionBeforeLine(snapshot, stream, totals.lines - linesMax - 1);
  // One byte more tells whether the first line in reach is whole.
  const from = Math.max(kept, near, end - bytesMax - 1);
  const bytes = streamBytes(snapshot, stream, from, end);
  const start = from === 0 ? 'all' : 'inside';
  return part(from, bytes, bytesMax, tailCut(bytes, { linesMax, bytesMax }, start));
}

function head({ snapshot, stream, totals, hole }: Whole, linesMax: number, bytesMax: number): Part {
  const kept = hole?.from ?? totals.bytes;
  const bytes = streamBytes(snapshot, stream, 0, Math.min(kept, bytesMax + 1));
  const more = bytes.length < totals.bytes;
  return part(0, bytes, bytesMax, headCut(bytes, { linesMax, bytesMax }, more));
}

function part(at: number, bytes: Uint8Array, bytesMax: number, cut: Cut): Part {
  const { from, to, limit } = cut;
  // Not even one character fits.
  const nothing = limit === 'bytes' && from === to && bytesMax > 0 && bytes.length > 0;
  const partialLine = cut.partialLine || nothing;
  return { from: at + from, bytes: bytes.subarray(from, to), cut: limit, partialLine };
}

/** Everything from an offset on. `to` is where the next one starts: no byte is left out. */
function raw(whole: Whole, offset: number, bytesMax: number): Part {
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
function middle(whole: Whole, options: ViewOptions): Omit<View, 'totals' | 'path' | 'hole'> {
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
  const [head, tail] = [sizeOf(upTo), sizeOf(from)];
  return {
    text: decodeUtf8(upTo) + (fits ? '' : SNIP + decodeUtf8(from)),
    from: 0,
    to: end,
    firstLine: 1,
    lastLine: totals.lines,
    shown: { bytes: head.bytes + tail.bytes, lines: head.lines + tail.lines },
    cut: fits ? 'none' : 'bytes',
    partialLine: !fits && upTo[upTo.length - 1] !== NEWLINE,
  };
}

function firstLineOf(
  { snapshot, stream, totals }: Whole,
  kind: ViewOptions['kind'],
  from: number,
  lines: number,
): number {
  if (kind === 'tail') return totals.lines - lines + 1;
  return kind === 'head' ? 1 : newlinesBefore(snapshot, stream, from) + 1;
}
