// A packed file as it is written: its members in order, then the empty one.
import type { ByteSource } from './bytes.ts';
import { END_MEMBER, MEMBER_PLAIN_BYTES, packMember } from './member.ts';
import type { Place } from './table.ts';

/** Where each member begins. */
export function writeMembers(put: (bytes: Uint8Array) => void, plain: ByteSource): Place[] {
  const places: Place[] = [];
  const zeros = Buffer.alloc(MEMBER_PLAIN_BYTES);
  let ofZeros: Buffer | undefined; // a hole is many of them
  let packed = 0;
  for (let at = 0; at < plain.size; at += MEMBER_PLAIN_BYTES) {
    const bytes = plain.read(at, MEMBER_PLAIN_BYTES);
    const empty = zeros.equals(bytes);
    const member = (empty ? ofZeros : undefined) ?? packMember(bytes);
    if (empty) ofZeros = member;
    put(member);
    places.push({ packed, plain: at });
    packed += member.length;
  }
  put(END_MEMBER);
  return places;
}
