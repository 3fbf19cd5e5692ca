// Reading a capture by cursor. A cursor is an offset into output.bin that the caller keeps: the
// same cursor gives the same bytes to every reader for as long as the capture exists.
import { READ_BYTES_MAX } from '../limits.ts';
import { countNewlines } from '../text/lines.ts';
import type { Chunk, Hole, StreamTotals } from '../types.ts';
import { type Snapshot, type Source, spans, totalsOf, withSnapshot } from './snapshot.ts';

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
 * numbers of that part. A cursor behind the end reads nothing and `nextCursor` is the end.
 */
export function readOutput(capture: Source, cursor: number, maxBytes: number): ReadResult {
  return withSnapshot(capture, (snapshot) => {
    const { hole, output, end } = snapshot;
    const asked = Math.min(count(cursor), end);
    const inHole = hole !== undefined && asked >= hole.from && asked < hole.to;
    const from = inHole ? Math.min(hole.to, end) : asked;
    const wanted = Math.min(count(maxBytes), READ_BYTES_MAX, keptEnd(snapshot, from) - from);
    const bytes = output.read(from, wanted);
    const read = from + bytes.length;
    const nextCursor = hole !== undefined && read === hole.from ? hole.to : read;
    const chunks: OutputPiece[] = [];
    for (const span of spans(snapshot, from, read)) {
      const part = bytes.subarray(span.offset - from, span.offset - from + span.length);
      const { offset, length, channel, at, lines = countNewlines(part), pid } = span;
      const chunk = { offset, length, channel, at, lines };
      chunks.push({ chunk: pid === undefined ? chunk : { ...chunk, pid }, bytes: part });
    }
    // Fewer bytes than the file had a moment ago: it was cut, and that is its end now.
    const eof = nextCursor === snapshot.end || bytes.length < wanted;
    const result = { chunks, nextCursor, eof, final: eof && !capture.outputOpen };
    return hole !== undefined && (inHole || nextCursor > read)
      ? { ...result, skipped: hole }
      : result;
  });
}

/** Where what is kept from `from` on ends. */
function keptEnd({ hole, end }: Snapshot, from: number): number {
  return hole !== undefined && from < hole.from ? hole.from : end;
}

export type ChannelTotals = { readonly stdout: StreamTotals; readonly stderr: StreamTotals };

/** What `wc -c` and `wc -l` say about each stream. The output of a pty counts as stdout. */
export function totals(capture: Source): ChannelTotals {
  const { bytes, lines } = withSnapshot(capture, totalsOf);
  return {
    stdout: { bytes: bytes[0], lines: lines[0] },
    stderr: { bytes: bytes[1], lines: lines[1] },
  };
}

function count(value: number): number {
  return value > 0 ? Math.floor(value) : 0;
}
