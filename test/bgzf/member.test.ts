// Packed bytes are the plain ones, from any position, whoever packed them; damage is an error.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ByteSource } from '../../src/bgzf/bytes.ts';
import { crc32, tableCrc32 } from '../../src/bgzf/crc32.ts';
import { END_MEMBER, MEMBER_PLAIN_BYTES, packMember } from '../../src/bgzf/member.ts';
import { packedSource } from '../../src/bgzf/source.ts';
import { encodeTable, type Place } from '../../src/bgzf/table.ts';

function sourceOf(bytes: Uint8Array): ByteSource {
  const read = (position: number, length: number): Uint8Array => {
    if (position < 0) throw new RangeError('EINVAL');
    return bytes.subarray(position, position + Math.max(0, length));
  };
  return { size: bytes.length, changedAt: 0, read, close() {} };
}

function packed(plain: Uint8Array, step = MEMBER_PLAIN_BYTES) {
  const members: Uint8Array[] = [];
  const places: Place[] = [];
  let at = 0;
  for (let from = 0; from < plain.length; from += step) {
    const member = packMember(plain.subarray(from, from + step));
    places.push({ packed: at, plain: from });
    members.push(member);
    at += member.length;
  }
  const bytes = Buffer.concat([...members, END_MEMBER]);
  return { bytes, places, table: encodeTable(places) };
}

/** Text that packs well and bytes that do not, of any length up to 300 kB. */
const plainBytes = fc
  .tuple(fc.integer({ min: 0, max: 300_000 }), fc.boolean(), fc.integer({ min: 1 }))
  .map(([length, text, seed]) => {
    const bytes = Buffer.alloc(length);
    let state = seed;
    for (let i = 0; i < length; i += 1) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      bytes[i] = text ? 97 + ((state >>> 16) % 4) : state >>> 16;
    }
    return bytes;
  });

describe('a packed file', () => {
  it('reads as the plain one at any range, with its table and without', () => {
    const range = fc.tuple(
      fc.integer({ min: 0, max: 310_000 }),
      fc.integer({ min: 0, max: 140_000 }),
    );
    const given = [plainBytes, fc.array(range, { maxLength: 8 }), fc.boolean()] as const;
    fc.assert(
      fc.property(...given, (plain, ranges, tabled) => {
        const { bytes, table } = packed(plain);
        const source = packedSource(sourceOf(bytes), tabled ? sourceOf(table) : undefined, 'x.gz');
        expect(source.size).toBe(plain.length);
        for (const [from, length] of ranges) {
          const found = source.read(from, length);
          expect(Buffer.compare(found, plain.subarray(from, from + length))).toBe(0);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('has members that fit where nothing can be packed', () => {
    let state = 7;
    const noise = Buffer.alloc(MEMBER_PLAIN_BYTES).map(() => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state >>> 24;
    });
    expect(packMember(noise).length).toBeLessThanOrEqual(65_536);
  });

  it('is the same with a table that lies, which is made anew', () => {
    const plain = Buffer.from('a line of a build\n'.repeat(300));
    const { bytes, table } = packed(plain, 500);
    for (let at = 0; at < table.length; at += 1) {
      const wrong = Buffer.from(table);
      wrong[at] = (wrong[at] ?? 0) ^ 0x41;
      const source = packedSource(sourceOf(bytes), sourceOf(wrong), 'x.gz');
      expect(source.size).toBe(plain.length);
      // From the front every member is met at its place.
      expect(Buffer.compare(source.read(0, plain.length), plain)).toBe(0);
    }
    for (let end = 0; end < table.length; end += 7) {
      const source = packedSource(sourceOf(bytes), sourceOf(table.subarray(0, end)), 'x.gz');
      expect(Buffer.compare(source.read(0, plain.length), plain)).toBe(0);
    }
  });

  it('never gives other bytes when one of its own was changed', () => {
    const plain = Buffer.from(Array.from({ length: 400 }, (_, i) => `${i} of 400\n`).join(''));
    const { bytes, table } = packed(plain, 1_000);
    let refused = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      const wrong = Buffer.from(bytes);
      wrong[at] = (wrong[at] ?? 0) ^ 0x10;
      try {
        const source = packedSource(sourceOf(wrong), sourceOf(table), 'x.gz');
        // Only what no reader of gzip looks at may differ: time, flags and system of a member.
        expect(Buffer.compare(source.read(0, plain.length), plain)).toBe(0);
      } catch (error) {
        expect(error).toMatchObject({ code: 'capture_damaged' });
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(bytes.length - 10 * 8);
  });

  it('says what is damaged and where, and reads what is not', () => {
    const plain = Buffer.from('x'.repeat(3_000));
    const { bytes, places, table } = packed(plain, 1_000);
    const [, second = { packed: 0, plain: 0 }] = places;
    bytes[second.packed + 20] = 0xff;
    const source = packedSource(sourceOf(bytes), sourceOf(table), '/s/output.bin.gz');
    expect(source.read(0, 1_000)).toHaveLength(1_000);
    expect(source.read(2_000, 1_000)).toHaveLength(1_000);
    expect(() => source.read(900, 200)).toThrow(
      `/s/output.bin.gz is damaged at byte ${second.packed}.`,
    );
    const half = sourceOf(bytes.subarray(0, bytes.length - 40));
    expect(() => packedSource(half, undefined, '/s/output.bin.gz')).toThrow(
      '/s/output.bin.gz is damaged: its end is missing.',
    );
    expect(() => packedSource(sourceOf(Buffer.alloc(3)), undefined, 'x.gz')).toThrow('is missing');
  });
});

it('has the same checksum without the help of Node', () => {
  const ofTable = tableCrc32();
  fc.assert(fc.property(fc.uint8Array(), (bytes) => ofTable(bytes) === crc32(bytes)));
  expect(ofTable(Buffer.from('123456789'))).toBe(0xcbf43926);
});
