// What the catalog keeps of an entry with much output: which trigrams its text has, as a bitmap,
// and not the text itself. A text that is searched for can be there only if all its trigrams are;
// then the entry is read from its session. The full-text index would take ten times as long to
// take in such an entry, and needs the text again to forget it.
//
// A trigram is three UTF-16 units of the folded text. Its bit is its hash modulo the size, which is
// a power of two, so that a bitmap is made smaller by laying its upper half over the lower one.
import { folded } from './search-text.ts';

const GRAM_LENGTH = 3;
const BYTES_MAX = 65_536;
const BYTES_MIN = 1_024;
const BITS_PER_GRAM = 4; // one bit in five is set: three grams are there by chance in 1 of 100

export function signatureOf(texts: readonly string[]): Uint8Array {
  let bits = new Uint8Array(BYTES_MAX);
  let count = 0;
  for (const text of texts) {
    for (const hash of hashesOf(text)) {
      const place = hash & (BYTES_MAX * 8 - 1);
      const mask = 1 << (place & 7);
      const before = bits[place >> 3] ?? 0;
      if ((before & mask) !== 0) continue;
      bits[place >> 3] = before | mask;
      count += 1;
    }
  }
  while (bits.length > BYTES_MIN && bits.length * 4 >= count * BITS_PER_GRAM) bits = halved(bits);
  return bits;
}

function halved(bits: Uint8Array): Uint8Array<ArrayBuffer> {
  const half = bits.length / 2;
  return Uint8Array.from({ length: half }, (_, i) => (bits[i] ?? 0) | (bits[i + half] ?? 0));
}

/** False only when none of the texts has all of the grams. */
export function mayHave(bits: Uint8Array, hashes: readonly number[]): boolean {
  const last = bits.length * 8 - 1;
  return hashes.every((hash) => {
    const place = hash & last;
    return ((bits[place >> 3] ?? 0) & (1 << (place & 7))) !== 0;
  });
}

/** Of every trigram of a text; none for a text that is too short to have any. */
export function* hashesOf(text: string): Generator<number, void, undefined> {
  const letters = folded(text);
  let [first, second] = [lower(letters, 0), lower(letters, 1)];
  for (let i = GRAM_LENGTH - 1; i < letters.length; i += 1) {
    const third = lower(letters, i);
    const mixed =
      Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca77) ^ Math.imul(third, 0xc2b2ae3d);
    yield (mixed ^ (mixed >>> 15)) >>> 0;
    [first, second] = [second, third];
  }
}

/** `folded` leaves A to Z to the database. */
function lower(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  return unit >= 65 && unit <= 90 ? unit + 32 : unit;
}
