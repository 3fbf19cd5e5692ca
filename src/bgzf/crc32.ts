// CRC-32 as gzip has it. Node before 20.15 has none to offer.
import * as zlib from 'node:zlib';

export type Crc32 = (bytes: Uint8Array) => number;

export const crc32: Crc32 = 'crc32' in zlib ? (zlib.crc32 as Crc32) : tableCrc32();

/** The same from a table, at a tenth of the speed. */
export function tableCrc32(): Crc32 {
  const table = Uint32Array.from({ length: 256 }, (_, byte) => {
    let value = byte;
    for (let bit = 0; bit < 8; bit += 1) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0);
    return value;
  });
  return (bytes) => {
    let crc = 0xffffffff;
    for (const byte of bytes) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 0xff] ?? 0);
    return (crc ^ 0xffffffff) >>> 0;
  };
}
