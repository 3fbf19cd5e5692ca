// How sure it is that bytes are those of a record. A long write that fits is the right one; a `
// ` fits everywhere. Within a row of records without a hole nothing is in doubt. Beside a hole the
// outermost ones may have matched bytes of another process: they are left without a writer until
// enough bytes rule out chance.

import type { Placed, Stretch } from './board.ts';
import type { ChannelBytes } from './channel-bytes.ts';
import type { Records } from './records.ts';

/** In bytes that had to be equal. */
export const STRENGTH_MIN = 8;

const EDGE = 4; // where a chunk starts or ends: the writer paused there
const LINE = 2;
const NEWLINE = 0x0a;
const SOON_MS = 50;

/** What the place itself says for a record that starts there. */
export function startStrength(bytes: ChannelBytes, position: number): number {
  if (position === 0) return STRENGTH_MIN;
  if (bytes.isEdge(position)) return EDGE;
  return bytes.byte(position - 1) === NEWLINE ? LINE : 0;
}

/** And for one that ends there. */
export function endStrength(bytes: ChannelBytes, position: number): number {
  if (position === bytes.length) return STRENGTH_MIN;
  if (bytes.isEdge(position)) return EDGE;
  return bytes.byte(position - 1) === NEWLINE ? LINE : 0;
}

/** In order of position, without those that may be there by chance. */
export function certain(
  placed: readonly Placed[],
  bytes: ChannelBytes,
  records: Records,
): readonly Piece[] {
  const pieces: Piece[] = [];
  for (const one of placed) {
    for (const { from, to } of one.pieces) pieces.push({ from, to, record: one.record });
  }
  pieces.sort((a, b) => a.from - b.from);
  const doubtful = new Set<number>();
  for (let start = 0, end = 0; start < pieces.length; start = end) {
    do end += 1;
    while (end < pieces.length && pieces[end]?.from === pieces[end - 1]?.to);
    for (const record of doubtfulOf(pieces, start, end, bytes, records)) doubtful.add(record);
  }
  return doubtful.size === 0 ? pieces : pieces.filter(({ record }) => !doubtful.has(record));
}

/** A stretch of a channel and the record it belongs to. */
type Piece = Stretch & { readonly record: number };

/** Of a row without holes, from `start` to `end`. */
function doubtfulOf(
  pieces: readonly Piece[],
  start: number,
  end: number,
  bytes: ChannelBytes,
  records: Records,
): number[] {
  const [first, last] = [pieces[start], pieces[end - 1]];
  if (first === undefined || last === undefined) return [];
  if (first === last && isChunk(first, bytes, records)) return [];
  const weak: number[] = [];
  let sum = startStrength(bytes, first.from);
  for (let i = start; i < end && sum < STRENGTH_MIN; i += 1) {
    sum += lengthOf(pieces[i]);
    if (sum < STRENGTH_MIN) weak.push(pieces[i]?.record ?? 0);
  }
  sum = endStrength(bytes, last.to);
  for (let i = end - 1; i >= start && sum < STRENGTH_MIN; i -= 1) {
    sum += lengthOf(pieces[i]);
    if (sum < STRENGTH_MIN) weak.push(pieces[i]?.record ?? 0);
  }
  return weak;
}

function lengthOf(piece: Stretch | undefined): number {
  return piece === undefined ? 0 : piece.to - piece.from;
}

/** All of a chunk, and read when it was written. */
function isChunk({ from, to, record }: Piece, bytes: ChannelBytes, records: Records): boolean {
  if (!bytes.isEdge(from) || !bytes.isEdge(to)) return false;
  const beganMs = Number(records.baseNs / 1_000_000n) + (records.at[record] ?? 0) / 1e6;
  return Math.abs(bytes.timeAt(from) - beganMs) <= SOON_MS;
}
