// How many processes a trace has that is too large to be decoded beside the work: only the heads of
// its frames are looked at, piece by piece. What is damaged is not counted.

import { readSync } from 'node:fs';
import {
  FRAME_BYTES_MAX,
  FRAME_HEAD_BYTES,
  FRAME_MAGIC,
  HEADER_BYTES,
} from '../trace/decode/format.ts';

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

export function countProcesses(fd: number): number {
  const tally = new Tally();
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  for (let at = HEADER_BYTES; ; ) {
    const length = readSync(fd, piece, 0, PIECE_BYTES, at);
    const looked = look(piece.subarray(0, length), length < PIECE_BYTES, tally);
    if (looked === 0) return tally.count;
    at += looked;
  }
}

/** Several frames tell of one start, not all of them with its time: 0 is any. */
class Tally {
  readonly #alive = new Map<string, bigint>();
  count = 0;

  began(who: string, ticks: bigint): void {
    const known = this.#alive.get(who);
    if (known === undefined || (known !== ticks && known !== 0n && ticks !== 0n)) this.count += 1;
    this.#alive.set(who, ticks === 0n ? (known ?? 0n) : ticks);
  }

  /** Whoever has the pid from now on is another process. */
  ended(who: string): void {
    this.#alive.delete(who);
  }
}

/** How far it looked; 0 at the end. A frame that may go on behind the piece is left for later. */
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
