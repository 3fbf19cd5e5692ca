// Bytes that are too many for a reader, cut to their tail. No character is cut in two, lines are
// cut only where nothing else is left, and the totals are those of all bytes. A limit holds for
// the text that is given, in which each broken character has become three bytes.
import { countLines, nthNewlineFromEnd } from './lines.ts';
import { decodeUtf8, utf8Start } from './utf8.ts';

const NEWLINE = 0x0a;

export type CutLimits = {
  readonly linesMax: number;
  readonly bytesMax: number;
};

/** What is left of some bytes. An unfinished line at the end counts as a line everywhere. */
export type CutResult = {
  readonly text: string;
  readonly totalLines: number;
  readonly totalBytes: number;
  readonly outputLines: number;
  /** Of the bytes given, how many are in `text`. */
  readonly outputBytes: number;
  readonly truncated: boolean;
  /** The limit that was hit; undefined if nothing was cut. */
  readonly limit: 'lines' | 'bytes' | undefined;
  /** The text starts inside of a line, because that alone is over the limit. */
  readonly partialLine: boolean;
};

/** Whole lines from the end until a limit is hit; of a last line longer than that, its end. */
export function tailCut(bytes: Uint8Array, limits: CutLimits): CutResult {
  const { start, text, limit, partialLine } = fitting(limits.bytesMax, (bytesMax) => {
    const from = tailStart(bytes, { ...limits, bytesMax });
    return { ...from, text: decodeUtf8(bytes.subarray(from.start)) };
  });
  return {
    text,
    totalLines: countLines(bytes),
    totalBytes: bytes.length,
    outputLines: countLines(bytes.subarray(start)),
    outputBytes: bytes.length - start,
    truncated: start > 0,
    limit,
    partialLine,
  };
}

type TailStart = Pick<CutResult, 'limit' | 'partialLine'> & { readonly start: number };

function tailStart(bytes: Uint8Array, { linesMax, bytesMax }: CutLimits): TailStart {
  const end = bytes.length;
  const byLines = lastLinesStart(bytes, linesMax);
  if (end - byLines <= bytesMax) {
    return { start: byLines, limit: byLines > 0 ? 'lines' : undefined, partialLine: false };
  }
  const byBytes = end - Math.max(0, bytesMax);
  const line = lineStart(bytes, byBytes);
  if (line < end) return { start: line, limit: 'bytes', partialLine: false };
  const start = utf8Start(bytes, byBytes);
  return { start, limit: 'bytes', partialLine: start < end };
}

/** Where the last `count` lines start. */
function lastLinesStart(bytes: Uint8Array, count: number): number {
  if (count <= 0) return bytes.length;
  // The newline at the very end is that of the last line.
  const end = bytes.length - (bytes[bytes.length - 1] === NEWLINE ? 1 : 0);
  return count > end ? 0 : nthNewlineFromEnd(bytes, count, end) + 1;
}

/** The first place at or behind `at` where a line starts, or the end. */
function lineStart(bytes: Uint8Array, at: number): number {
  if (at <= 0) return 0;
  const newline = bytes.indexOf(NEWLINE, at - 1);
  return newline < 0 ? bytes.length : newline + 1;
}

/** What `cut` gives for the most bytes with which its text is not longer than `bytesMax`. */
function fitting<T extends { text: string }>(bytesMax: number, cut: (most: number) => T): T {
  let most = Math.max(0, bytesMax);
  for (;;) {
    const found = cut(most);
    const length = Buffer.byteLength(found.text);
    if (length <= bytesMax || most === 0) return found;
    most = Math.min(most - 1, Math.floor((most * bytesMax) / length));
  }
}
