// What a player needs of a capture: when which bytes came, the bytes themselves, and the sizes that
// the terminal of the run had.

import { spans, withSnapshot } from '../../capture/snapshot.ts';
import { type Capture, readEvents } from '../../capture/store.ts';
import { OutputReader } from '../../shell/output/reader.ts';
import { missingMark } from '../../text/missing.ts';
import type { PlayedChunk } from '../../text/playback.ts';

export type TerminalSize = { readonly cols: number; readonly rows: number };

type Resize = TerminalSize & { readonly offset: number };

export class Recording {
  readonly chunks: readonly PlayedChunk[];
  /** Behind the last byte there is now. */
  readonly end: number;
  /** When the run was over, or its last output came; milliseconds since its start. */
  readonly endMs: number;
  /** The output did not go to a terminal. */
  readonly isPlain: boolean;
  readonly #output: OutputReader;
  readonly #sizes: readonly Resize[];

  constructor(capture: Capture) {
    const { meta, final } = capture;
    const startedAt = meta?.startedAt ?? meta?.createdAt;
    this.#output = OutputReader.of(capture);
    this.end = this.#output.end;
    const known = withSnapshot(capture, (snapshot) => [...spans(snapshot, 0, this.end)]);
    const firstAt = startedAt ?? 0;
    let atMs = 0;
    this.chunks = known.map(({ offset, length, t, at }) => {
      // Bytes whose record was lost have no time: they came with those before them.
      if (t !== undefined) atMs = t;
      else if (at > 0 && startedAt !== undefined) atMs = Math.max(atMs, at - firstAt);
      return { offset, length, atMs };
    });
    const overMs = final === undefined || startedAt === undefined ? 0 : final.at - startedAt;
    this.endMs = Math.max(atMs, overMs);
    this.isPlain = meta?.transport !== 'pty';
    this.#sizes = readEvents(capture).flatMap((event) =>
      event.type === 'resize'
        ? [{ cols: event.cols, rows: event.rows, offset: event.offset ?? 0 }]
        : [],
    );
  }

  /** Of the terminal when the output before this offset came; undefined where there was none. */
  sizeAt(offset: number): TerminalSize | undefined {
    return this.#sizes.findLast((one) => one.offset <= offset) ?? this.#sizes[0];
  }

  /** The places between two offsets at which the size changed. */
  resizedBetween(from: number, to: number): number[] {
    return this.#sizes.map(({ offset }) => offset).filter((one) => one > from && one < to);
  }

  /** The bytes of `[from, to)`, with a mark where some were printed and are not kept. */
  *bytes(from: number, to: number): Generator<Uint8Array> {
    let at = from;
    for (const { chunk, bytes } of this.#output.pieces(from)) {
      if (chunk.offset >= to) return;
      if (chunk.offset > at) yield missing(chunk.offset - at);
      yield bytes.subarray(0, to - chunk.offset);
      at = chunk.offset + bytes.length;
    }
  }
}

function missing(bytes: number): Uint8Array {
  return Buffer.from(missingMark(bytes).replaceAll('\n', '\r\n'));
}
