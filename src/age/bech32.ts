// Bech32 (BIP 173) without its limit of 90 letters: the form of age's keys. A text has one meaning
// or none: another case, a wrong checksum or bits left over are refused.

const LETTERS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
const CHECKSUM_LETTERS = 6;

export type Bech32 = { readonly prefix: string; readonly bytes: Uint8Array };

export function bech32({ prefix, bytes }: Bech32): string {
  const data = regrouped(bytes, 8, 5, true) ?? [];
  const zeros = new Array<number>(CHECKSUM_LETTERS).fill(0);
  const sum = polymod([...expanded(prefix), ...data, ...zeros]) ^ 1;
  const check = zeros.map((_, place) => (sum >> (5 * (CHECKSUM_LETTERS - 1 - place))) & 31);
  return `${prefix}1${[...data, ...check].map((value) => LETTERS[value]).join('')}`;
}

/** Undefined for a text that is no Bech32. The prefix is given in lower case. */
export function fromBech32(text: string): Bech32 | undefined {
  const lower = text.toLowerCase();
  if (text !== lower && text !== text.toUpperCase()) return undefined;
  const split = lower.lastIndexOf('1');
  const [prefix, rest] = [lower.slice(0, split), lower.slice(split + 1)];
  if (split < 1 || rest.length < CHECKSUM_LETTERS || !/^[!-~]+$/.test(prefix)) return undefined;
  const values = [...rest].map((letter) => LETTERS.indexOf(letter));
  if (values.includes(-1) || polymod([...expanded(prefix), ...values]) !== 1) return undefined;
  const bytes = regrouped(values.slice(0, -CHECKSUM_LETTERS), 5, 8, false);
  return bytes && { prefix, bytes: Uint8Array.from(bytes) };
}

function polymod(values: readonly number[]): number {
  let sum = 1;
  for (const value of values) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ value;
    for (const [bit, generator] of GENERATORS.entries()) if ((top >> bit) & 1) sum ^= generator;
  }
  return sum;
}

function expanded(prefix: string): number[] {
  const codes = [...Buffer.from(prefix)];
  return [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)];
}

/** The same bits in groups of another size. Without `pad`, what is left over must be few zeros. */
function regrouped(
  values: Iterable<number>,
  from: number,
  to: number,
  pad: boolean,
): number[] | undefined {
  const groups: number[] = [];
  let [held, bits] = [0, 0];
  for (const value of values) {
    held = (held << from) | value;
    bits += from;
    for (; bits >= to; bits -= to) groups.push((held >> (bits - to)) & ((1 << to) - 1));
    held &= (1 << bits) - 1;
  }
  if (!pad) return bits >= from || held !== 0 ? undefined : groups;
  return bits === 0 ? groups : [...groups, (held << (to - bits)) & ((1 << to) - 1)];
}
