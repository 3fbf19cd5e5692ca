// The processes of a capture. A trace that is too large to decode while the caller waits is only
// counted, from the heads of its frames.

import type { ByteSource } from '../capture/byte-source.ts';
import { findSource } from '../capture/open-source.ts';
import { AppError, errnoOf } from '../errors.ts';
import { decodeTrace } from '../trace/decode/decode.ts';
import {
  FRAME_BYTES_MAX,
  FRAME_HEAD_BYTES,
  FRAME_MAGIC,
  HEADER_BYTES,
} from '../trace/decode/format.ts';
import type { Process } from '../trace/processes/process.ts';
import { buildProcesses } from '../trace/processes/processes.ts';

const WHOLE_BYTES_MAX = 512 * 1024; // more than a thousand processes

const PIECE_BYTES = 1024 * 1024;
const START = 1;
const FORK = 4;
const REAP = 6;
const TICKS_AT = { [START]: FRAME_HEAD_BYTES + 8, [FORK]: FRAME_HEAD_BYTES };
const NEEDED_BYTES = FRAME_HEAD_BYTES + 16;
const PID_AT = 24;
const SPACE_AT = 28;
const MAGIC = Buffer.alloc(4);
MAGIC.writeUInt32LE(FRAME_MAGIC);

export type SmallTrace =
  | { readonly kind: 'whole'; readonly processes: readonly Process[] }
  | { readonly kind: 'counted'; readonly count: number };

/** Undefined if there is no readable trace. */
export function smallTrace(dir: string): SmallTrace | undefined {
  let source: ByteSource | undefined;
  try {
    source = findSource(dir, 'trace.bin');
    return source && readSmall(source);
  } catch (error) {
    // It could not be made, was removed, or another file is in its place.
    if (errnoOf(error) === undefined && !(error instanceof AppError)) throw error;
    return undefined;
  } finally {
    source?.close();
  }
}

function readSmall(source: ByteSource): SmallTrace | undefined {
  const { size } = source;
  if (size > WHOLE_BYTES_MAX) return { kind: 'counted', count: countProcesses(source) };
  const { header, frames } = decodeTrace(bufferOf(source.read(0, size)), 'processes');
  if (header === undefined) return undefined;
  return { kind: 'whole', processes: buildProcesses(frames, header).processes };
}

/** Damaged frames are not counted. */
function countProcesses(source: ByteSource): number {
  const tally = new Tally();
  for (let at = HEADER_BYTES; ; ) {
    const piece = bufferOf(source.read(at, PIECE_BYTES));
    const looked = look(piece, piece.length < PIECE_BYTES, tally);
    if (looked === 0) return tally.count;
    at += looked;
  }
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Several frames report one start, not all with its time; 0 matches any time. */
class Tally {
  readonly #alive = new Map<string, bigint>();
  count = 0;

  began(who: string, ticks: bigint): void {
    const known = this.#alive.get(who);
    if (known === undefined || (known !== ticks && known !== 0n && ticks !== 0n)) this.count += 1;
    this.#alive.set(who, ticks === 0n ? (known ?? 0n) : ticks);
  }

  /** A later process may reuse the pid. */
  ended(who: string): void {
    this.#alive.delete(who);
  }
}

/**
 * How far it read; 0 at the end. A frame that may continue behind the piece is left for the next.
 */
function look(piece: Buffer, isLast: boolean, tally: Tally): number {
  const end = isLast ? piece.length : piece.length - FRAME_BYTES_MAX;
  let at = 0;
  while (at < end) {
    const found = piece.indexOf(MAGIC, at);
    if (found < 0 || found + NEEDED_BYTES > piece.length) return isLast ? 0 : end;
    const bytes = piece.readUInt32LE(found + 8);
    const type = piece.readUInt16LE(found + 4);
    const space = piece.readUInt32LE(found + SPACE_AT);
    if (type === START || type === FORK) {
      const ticks = piece.readBigUInt64LE(found + TICKS_AT[type]);
      tally.began(`${piece.readUInt32LE(found + PID_AT)}:${space}`, ticks);
    } else if (type === REAP) {
      tally.ended(`${piece.readUInt32LE(found + FRAME_HEAD_BYTES)}:${space}`);
    }
    const whole = bytes >= FRAME_HEAD_BYTES && bytes <= FRAME_BYTES_MAX;
    at = found + (whole ? bytes : MAGIC.length);
  }
  return isLast ? 0 : at;
}
