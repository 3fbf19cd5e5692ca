// Reading a capture by cursor. A cursor is an offset into output.bin that the caller keeps: the
// same cursor gives the same bytes for as long as the capture exists, whoever asks and whenever.
import { READ_BYTES_MAX } from '../limits.ts';
import { countNewlines } from '../text/lines.ts';
import type { Chunk, StreamTotals } from '../types.ts';
import { type Source, spans, totalsOf, withSnapshot } from './snapshot.ts';

export type OutputPiece = { readonly chunk: Chunk; readonly bytes: Uint8Array };

export type ReadResult = {
  readonly chunks: readonly OutputPiece[];
  /** Where to go on. */
  readonly nextCursor: number;
  /** The cursor is at the end of what is captured so far. */
  readonly eof: boolean;
  /** `eof`, and nothing more can come. */
  readonly final: boolean;
};

/**
 * At most `maxBytes` from `cursor` on. A chunk of which only a part fits is given in part, with the
 * numbers of that part. A cursor behind the end reads nothing and `nextCursor` is the end.
 */
export function readOutput(capture: Source, cursor: number, maxBytes: number): ReadResult {
  return withSnapshot(capture, (snapshot) => {
    const from = Math.min(count(cursor), snapshot.end);
    const wanted = Math.min(count(maxBytes), READ_BYTES_MAX, snapshot.end - from);
    const bytes = snapshot.output.read(from, wanted);
    const nextCursor = from + bytes.length;
    const chunks: OutputPiece[] = [];
    for (const span of spans(snapshot, from, nextCursor)) {
      const part = bytes.subarray(span.offset - from, span.offset - from + span.length);
      const { offset, length, channel, at, lines = countNewlines(part), pid } = span;
      const chunk = { offset, length, channel, at, lines };
      chunks.push({ chunk: pid === undefined ? chunk : { ...chunk, pid }, bytes: part });
    }
    // Fewer bytes than the file had a moment ago: it was cut, and that is its end now.
    const eof = nextCursor === snapshot.end || bytes.length < wanted;
    return { chunks, nextCursor, eof, final: eof && !capture.outputOpen };
  });
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
