// Reading a capture by cursor. A cursor is an offset into output.bin that the caller keeps: the
// same cursor gives the same bytes to every reader for as long as the capture exists.
import { READ_BYTES_MAX } from '../limits.ts';
import { defined } from '../text/json.ts';
import { countNewlines } from '../text/lines.ts';
import type { Chunk, Hole } from '../types.ts';
import { type Snapshot, type Source, spans, totalsOf, withSnapshot } from './snapshot.ts';
import { type Stream, streamBytes, streamHole, streamTotals } from './stream.ts';

export type OutputPiece = { readonly chunk: Chunk; readonly bytes: Uint8Array };

export type ReadResult = {
  readonly chunks: readonly OutputPiece[];
  /** Where to go on. */
  readonly nextCursor: number;
  /** The cursor is at the end of what is captured so far. */
  readonly eof: boolean;
  /** `eof`, and nothing more can come. */
  readonly final: boolean;
  /** Bytes that are not kept, before these (or behind, where none are given) and passed over. */
  readonly skipped?: Hole;
};

/**
 * At most `maxBytes` from `cursor` on. A chunk of which only a part fits is given in part, with the
 * numbers of that part. A cursor behind the end reads nothing and `nextCursor` is the end. Cursor
 * and offsets are positions in `stream`: one stream alone is given as one chunk.
 */
export function readOutput(
  capture: Source,
  cursor: number,
  maxBytes: number,
  stream: Stream = 'all',
): ReadResult {
  return withSnapshot(capture, (snapshot) => {
    const end = stream === 'all' ? snapshot.end : streamTotals(totalsOf(snapshot), stream).bytes;
    return readSnapshot(snapshot, { cursor, maxBytes, stream, end, open: capture.outputOpen });
  });
}

/** The same of one moment, for a caller that asks it for more; `end` is that of the stream. */
export function readSnapshot(
  snapshot: Snapshot,
  { cursor, maxBytes, stream, end, open }: ReadQuestion,
): ReadResult {
  const hole = streamHole(snapshot, stream);
  const asked = Math.min(count(cursor), end);
  const inHole = hole !== undefined && asked >= hole.from && asked < hole.to;
  const from = inHole ? Math.min(hole.to, end) : asked;
  const keptEnd = hole !== undefined && from < hole.from ? hole.from : end;
  const wanted = Math.min(count(maxBytes), READ_BYTES_MAX, keptEnd - from);
  const bytes =
    stream === 'all'
      ? snapshot.output.read(from, wanted)
      : streamBytes(snapshot, stream, from, from + wanted);
  const read = from + bytes.length;
  const nextCursor = hole !== undefined && read === hole.from ? hole.to : read;
  const chunks = stream === 'all' ? split(snapshot, from, bytes) : one(stream, from, bytes);
  // Fewer bytes than the file had a moment ago: it was cut, and that is its end now.
  const eof = nextCursor === end || bytes.length < wanted;
  const skips = hole !== undefined && (inHole || nextCursor > read);
  return { chunks, nextCursor, eof, final: eof && !open, ...(skips && { skipped: hole }) };
}

type ReadQuestion = {
  readonly cursor: number;
  readonly maxBytes: number;
  readonly stream: Stream;
  readonly end: number;
  /** More may come. */
  readonly open: boolean;
};

function split(snapshot: Snapshot, from: number, bytes: Uint8Array): OutputPiece[] {
  const chunks: OutputPiece[] = [];
  for (const span of spans(snapshot, from, from + bytes.length)) {
    const part = bytes.subarray(span.offset - from, span.offset - from + span.length);
    const { offset, length, channel, at, lines = countNewlines(part), t, pid } = span;
    const chunk = { offset, length, channel, at, lines, ...defined({ t, pid }) };
    chunks.push({ chunk, bytes: part });
  }
  return chunks;
}

function one(channel: 'stdout' | 'stderr', offset: number, bytes: Uint8Array): OutputPiece[] {
  const { length } = bytes;
  const chunk = { offset, length, channel, at: 0, lines: countNewlines(bytes) };
  return length === 0 ? [] : [{ chunk, bytes }];
}

function count(value: number): number {
  return value > 0 ? Math.floor(value) : 0;
}
