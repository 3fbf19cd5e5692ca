// BGZF, the blocked gzip of htslib's `bgzip`: gzip members of at most 64 KiB, each of which says
// how long it is, so that one can be found and read without those before it. `zcat` reads such a
// file as it reads any other. A member is
//
//   1f 8b 08 04, 4 bytes time, 1 flags, 1 system, 2 length X of the extra field: 6 here
//   the extra field: subfields of 2 bytes id, 2 length, data; `BC` has the member's length - 1
//   deflated bytes, then CRC-32 and length of what they were
//
// and the last one is empty: a file without it was cut.
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { crc32 } from './crc32.ts';

/** As many plain bytes as `bgzip` takes: what cannot be deflated fits with its head, too. */
export const MEMBER_PLAIN_BYTES = 0xff00;

export const MEMBER_BYTES_MAX = 0x10000;

/** The head of a member as we write it; one with other subfields is longer. */
export const HEAD_BYTES = 18;

const TAIL_BYTES = 8;
const FIXED_BYTES = 12; // in front of the extra field
const LEVEL = 6;

export const END_MEMBER: Uint8Array = Buffer.from(
  '1f8b08040000000000ff0600424302001b0003000000000000000000',
  'hex',
);

/** At most `MEMBER_PLAIN_BYTES`. */
export function packMember(plain: Uint8Array): Buffer {
  const deflated = deflateRawSync(plain, { level: LEVEL });
  const member = Buffer.alloc(HEAD_BYTES + deflated.length + TAIL_BYTES);
  member.set(END_MEMBER.subarray(0, HEAD_BYTES));
  member.writeUInt16LE(member.length - 1, HEAD_BYTES - 2);
  member.set(deflated, HEAD_BYTES);
  member.writeUInt32LE(crc32(plain), member.length - TAIL_BYTES);
  member.writeUInt32LE(plain.length, member.length - 4);
  return member;
}

export type MemberHead = {
  /** Of the whole member. */
  readonly bytes: number;
  /** Where the deflated bytes start. */
  readonly dataAt: number;
};

/** From the first bytes of a member; undefined where none begins, or its head is not whole. */
export function memberHead(bytes: Uint8Array): MemberHead | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (buffer.length < HEAD_BYTES || buffer.readUInt32BE(0) !== 0x1f8b0804) return undefined;
  const dataAt = FIXED_BYTES + buffer.readUInt16LE(FIXED_BYTES - 2);
  for (let at = FIXED_BYTES; at + 6 <= Math.min(dataAt, buffer.length); ) {
    const length = buffer.readUInt16LE(at + 2);
    if (buffer.toString('latin1', at, at + 2) === 'BC' && length === 2) {
      const whole = buffer.readUInt16LE(at + 4) + 1;
      return whole < dataAt + TAIL_BYTES ? undefined : { bytes: whole, dataAt };
    }
    at += 4 + length;
  }
  return undefined;
}

/** How many plain bytes a whole member says that it has. */
export function plainLength(lastBytes: Uint8Array): number {
  return Buffer.from(lastBytes).readUInt32LE(lastBytes.length - 4);
}

/** The plain bytes of a whole member; undefined where they are not those that were packed. */
export function unpackMember(member: Uint8Array, { dataAt }: MemberHead): Uint8Array | undefined {
  const length = plainLength(member.subarray(-4));
  if (length > MEMBER_BYTES_MAX) return undefined;
  try {
    const deflated = member.subarray(dataAt, member.length - TAIL_BYTES);
    const plain = inflateRawSync(deflated, { maxOutputLength: Math.max(1, length) });
    const wanted = Buffer.from(member.subarray(-TAIL_BYTES)).readUInt32LE(0);
    return plain.length === length && crc32(plain) === wanted ? plain : undefined;
  } catch {
    return undefined; // no deflated bytes, or more of them than there should be
  }
}
