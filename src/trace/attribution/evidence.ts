// How sure we can be that bytes belong to a write. A long write that fits is the right one; a lone
// newline fits everywhere. Within a row of writes without a hole nothing is in doubt. Beside a hole
// the outermost ones may have matched bytes of another process by chance: they stay without a
// writer until enough bytes agree.

import type { Placement, Stretch } from './board.ts';
import type { ChannelBytes } from './channel-bytes.ts';
import type { Writes } from './writes.ts';

/** In bytes that had to be equal. */
export const STRENGTH_MIN = 8;

const EDGE = 4; // where a chunk starts or ends: the writer paused there
const LINE = 2;
const NEWLINE = 0x0a;
const SOON_MS = 50;

/** What the position itself says for a write that starts or ends there. */
export function edgeStrength(bytes: ChannelBytes, position: number): number {
  if (position === 0 || position === bytes.length) return STRENGTH_MIN;
  if (bytes.isEdge(position)) return EDGE;
  return bytes.byte(position - 1) === NEWLINE ? LINE : 0;
}

/** In order of position, without those that may be there by chance. */
export function certain(
  placed: readonly Placement[],
  bytes: ChannelBytes,
  writes: Writes,
): readonly Piece[] {
  const pieces: Piece[] = [];
  for (const one of placed) {
    for (const { from, to } of one.pieces) pieces.push({ from, to, write: one.write });
  }
  pieces.sort((a, b) => a.from - b.from);
  const doubtful = new Set<number>();
  for (let start = 0, end = 0; start < pieces.length; start = end) {
    do end += 1;
    while (end < pieces.length && pieces[end]?.from === pieces[end - 1]?.to);
    for (const write of doubtfulOf(pieces.slice(start, end), bytes, writes)) doubtful.add(write);
  }
  return doubtful.size === 0 ? pieces : pieces.filter(({ write }) => !doubtful.has(write));
}

/** A stretch of a channel and the write it belongs to. */
type Piece = Stretch & { readonly write: number };

/** Of a row without holes. */
function doubtfulOf(row: readonly Piece[], bytes: ChannelBytes, writes: Writes): number[] {
  const [first, last] = [row[0], row.at(-1)];
  if (first === undefined || last === undefined) return [];
  if (first === last && isChunk(first, bytes, writes)) return [];
  return [
    ...weakOf(row, edgeStrength(bytes, first.from)),
    ...weakOf(row.toReversed(), edgeStrength(bytes, last.to)),
  ];
}

/** The outermost ones, until their bytes and the edge are enough. */
function weakOf(row: readonly Piece[], edge: number): number[] {
  const weak: number[] = [];
  let strength = edge;
  for (const { from, to, write } of row) {
    strength += to - from;
    if (strength >= STRENGTH_MIN) break;
    weak.push(write);
  }
  return weak;
}

/** All of a chunk, and read when it was written. */
function isChunk({ from, to, write }: Piece, bytes: ChannelBytes, writes: Writes): boolean {
  if (!bytes.isEdge(from) || !bytes.isEdge(to)) return false;
  const beganMs = Number(writes.baseNs / 1_000_000n) + (writes.at[write] ?? 0) / 1e6;
  return Math.abs(bytes.timeAt(from) - beganMs) <= SOON_MS;
}
