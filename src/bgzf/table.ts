// Where the members of a packed file begin. `FILE.gz.gzi` has it as `bgzip` does: a count, then two
// numbers for each member but the first: where it begins in the packed file, and which plain byte
// is its first; all of 8 bytes, little-endian. It is derived: without it the members are walked.
import type { ByteSource } from './bytes.ts';
import {
  END_MEMBER,
  HEAD_BYTES,
  MEMBER_BYTES_MAX,
  type MemberHead,
  memberHead,
  plainLength,
} from './member.ts';

const NUMBER_BYTES = 8;
const PLACE_BYTES = 2 * NUMBER_BYTES;

/** Where a member begins, in the packed file and in the plain one. */
export type Place = { readonly packed: number; readonly plain: number };

export type Table = {
  readonly count: number;
  /** Of the plain file. */
  readonly size: number;
  place(member: number): Place;
};

const START: Place = { packed: 0, plain: 0 };

/** Of the places of all members. */
export function encodeTable(places: readonly Place[]): Buffer {
  const rest = places.slice(1);
  const bytes = Buffer.alloc(NUMBER_BYTES + rest.length * PLACE_BYTES);
  bytes.writeBigUInt64LE(BigInt(rest.length), 0);
  for (const [i, { packed, plain }] of rest.entries()) {
    bytes.writeBigUInt64LE(BigInt(packed), NUMBER_BYTES + i * PLACE_BYTES);
    bytes.writeBigUInt64LE(BigInt(plain), NUMBER_BYTES + i * PLACE_BYTES + NUMBER_BYTES);
  }
  return bytes;
}

/** Read where it is needed; undefined where it is not the table of this file. */
export function storedTable(packed: ByteSource, table: ByteSource): Table | undefined {
  const count = table.size < NUMBER_BYTES ? -1 : numberIn(table.read(0, NUMBER_BYTES), 0);
  if (table.size !== NUMBER_BYTES + count * PLACE_BYTES) return undefined;
  const place = (member: number): Place => {
    if (member === 0) return START;
    const bytes = table.read(NUMBER_BYTES + (member - 1) * PLACE_BYTES, PLACE_BYTES);
    if (bytes.length < PLACE_BYTES) return { packed: -1, plain: -1 }; // cut meanwhile
    return { packed: numberIn(bytes, 0), plain: numberIn(bytes, NUMBER_BYTES) };
  };
  const last = place(count);
  const end = memberAt(packed, last.packed);
  const before = place(Math.max(0, count - 1));
  if (end === undefined || (count > 0 && !meets(packed, before, last))) return undefined;
  const behind = last.packed + end.bytes;
  // Some writers list the empty member at the end, too.
  const whole = behind === packed.size || behind === packed.size - END_MEMBER.length;
  return whole ? { count: count + 1, size: last.plain + end.plain, place } : undefined;
}

/** The member at `place` ends where the next one is said to begin, in both files. */
function meets(packed: ByteSource, place: Place, next: Place): boolean {
  const member = memberAt(packed, place.packed);
  if (member === undefined) return false;
  const { bytes, plain } = member;
  return place.packed + bytes === next.packed && place.plain + plain === next.plain;
}

/** Every member is looked at; a number is where one should begin and none does. */
export function walkedTable(packed: ByteSource): Table | number {
  const places: Place[] = [];
  let [at, size] = [0, 0];
  while (at < packed.size) {
    const member = memberAt(packed, at);
    if (member === undefined) return at;
    places.push({ packed: at, plain: size });
    at += member.bytes;
    size += member.plain;
  }
  return { count: places.length, size, place: (member) => places[member] ?? START };
}

/** The last member that begins at or before a plain byte. */
export function memberWith({ count, place }: Table, position: number): number {
  let [low, high] = [0, count];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (place(middle).plain <= position) low = middle;
    else high = middle;
  }
  return low;
}

/** The head of a member, and how many plain bytes it has; undefined where none is whole. */
export function memberAt(
  packed: ByteSource,
  at: number,
): (MemberHead & { readonly plain: number }) | undefined {
  if (at < 0 || at >= packed.size) return undefined;
  const bytes = packed.read(at, HEAD_BYTES);
  // Other subfields may stand before ours.
  const head = memberHead(bytes) ?? memberHead(packed.read(at, MEMBER_BYTES_MAX));
  if (head === undefined || at + head.bytes > packed.size) return undefined;
  return { ...head, plain: plainLength(packed.read(at + head.bytes - 4, 4)) };
}

/** -1 for one that is no length of a file. */
function numberIn(bytes: Uint8Array, at: number): number {
  const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).readBigUInt64LE(at);
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : -1;
}
