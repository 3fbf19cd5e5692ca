// How many processes a trace has that is too large to be decoded beside the work: only the heads of
// its frames are looked at, piece by piece. What is damaged is not counted.

import { readSync } from 'node:fs';
import { FRAME_BYTES_MAX, FRAME_HEAD_BYTES, FRAME_MAGIC, HEADER_BYTES } from './trace/format.ts';

const PIECE_BYTES = 1024 * 1024;
const START = 1;
const FORK = 4;
const TICKS_AT = { [START]: FRAME_HEAD_BYTES + 8, [FORK]: FRAME_HEAD_BYTES };
const NEEDED_BYTES = FRAME_HEAD_BYTES + 16;
const MAGIC = Buffer.alloc(4);
MAGIC.writeUInt32LE(FRAME_MAGIC);

export function countProcesses(fd: number): number {
  const seen = new Set<string>();
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  for (let at = HEADER_BYTES; ; ) {
    const length = readSync(fd, piece, 0, PIECE_BYTES, at);
    const looked = look(piece.subarray(0, length), length < PIECE_BYTES, seen);
    if (looked === 0) return seen.size;
    at += looked;
  }
}

/** How far it looked; 0 at the end. A frame that may go on behind the piece is left for later. */
function look(piece: Buffer, isLast: boolean, seen: Set<string>): number {
  const end = isLast ? piece.length : piece.length - FRAME_BYTES_MAX;
  let at = 0;
  while (at < end) {
    const found = piece.indexOf(MAGIC, at);
    if (found < 0 || found + NEEDED_BYTES > piece.length) return isLast ? 0 : end;
    const bytes = piece.readUInt32LE(found + 8);
    const type = piece.readUInt16LE(found + 4);
    if (type === START || type === FORK) {
      const ticks = piece.readBigUInt64LE(found + TICKS_AT[type]);
      seen.add(`${piece.readUInt32LE(found + 24)}:${piece.readUInt32LE(found + 28)}:${ticks}`);
    }
    const whole = bytes >= FRAME_HEAD_BYTES && bytes <= FRAME_BYTES_MAX;
    at = found + (whole ? bytes : MAGIC.length);
  }
  return isLast ? 0 : at;
}
