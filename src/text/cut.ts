// What is shown of bytes that are too many for a reader: their start or their end. No character is
// cut in two, and a line only where nothing else is left.
import { countLines, nthNewline, nthNewlineFromEnd } from './lines.ts';
import { utf8End, utf8Start } from './utf8.ts';

const NEWLINE = 0x0a;

export type CutLimits = { readonly linesMax: number; readonly bytesMax: number };

/** `[from, to)` of the bytes. */
export type Cut = {
  readonly from: number;
  readonly to: number;
  /** The limit that was hit. */
  readonly limit: 'none' | 'lines' | 'bytes';
  /** It starts, or ends, inside of a line. */
  readonly partialLine: boolean;
};

/** What the bytes start with: all there is, a line of more, or the rest of one. */
export type Start = 'all' | 'line' | 'inside';

/** Whole lines from the end until one limit is hit; of a line longer than that, its end. */
export function tailCut(
  bytes: Uint8Array,
  { linesMax, bytesMax }: CutLimits,
  start: Start = 'all',
): Cut {
  const to = bytes.length;
  const byLines = lastLinesStart(bytes, linesMax);
  const reach = Math.max(0, to - Math.max(0, bytesMax));
  if (byLines > 0 && byLines >= reach) {
    return { from: byLines, to, limit: 'lines', partialLine: false };
  }
  if (reach === 0 && start !== 'inside') {
    return { from: 0, to, limit: start === 'all' ? 'none' : 'bytes', partialLine: false };
  }
  const newline = bytes.indexOf(NEWLINE, Math.max(0, reach - 1));
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
export function headCut(
  bytes: Uint8Array,
  { linesMax, bytesMax }: CutLimits,
  more: boolean = false,
): Cut {
  const byLines = firstLinesEnd(bytes, linesMax);
  if (byLines < bytes.length && byLines <= bytesMax) {
    return { from: 0, to: byLines, limit: 'lines', partialLine: false };
  }
  if (!more && bytes.length <= bytesMax) {
    return { from: 0, to: bytes.length, limit: 'none', partialLine: false };
  }
  const reach = Math.max(0, Math.min(bytesMax, bytes.length));
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

/** How much of it there is to see. */
export function sizeOf(bytes: Uint8Array): { readonly bytes: number; readonly lines: number } {
  return { bytes: bytes.length, lines: countLines(bytes) };
}
