// What the catalog keeps of an entry with much output: which trigrams its text has, as a bitmap,
// and not the text itself. A text that is searched for can be there only if all its trigrams are;
// then the entry is read from its session. The full-text index would take ten times as long to
// take in such an entry, and needs the text again to forget it.
//
// A trigram is three UTF-16 units of the folded text. Its bit is its hash modulo the size, which is
// a power of two, so that a bitmap is made smaller by laying its upper half over the lower one.
//
// A search asks for few bits, so bitmaps are kept in pieces, and those that have the same place in
// bitmaps of one size lie side by side: a bit of a thousand entries is in 150 pages of the file,
// and the next bit is asked for only of entries that have those before.
import { folded } from './search-text.ts';
import type { Database } from './sqlite.ts';

const GRAM_LENGTH = 3;
const BYTES_MAX = 65_536;
const BYTES_MIN = 1_024;
const BITS_PER_GRAM = 4; // one bit in five is set: three grams are there by chance in 1 of 100
const PIECE_BYTES = 512; // what is longer than 1,002 bytes has a page of its own

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

export function storeSignature(database: Database, id: number, bits: Uint8Array): void {
  database.run('INSERT INTO signatures VALUES (?, ?)', id, bits.length);
  for (let at = 0; at < bits.length; at += PIECE_BYTES) {
    const piece = bits.slice(at, at + PIECE_BYTES);
    database.run('INSERT INTO pieces VALUES (?, ?, ?, ?)', bits.length, at, id, piece);
  }
}

export function forgetSignature(database: Database, id: number): void {
  const [row] = database.all('SELECT bytes FROM signatures WHERE id = ?', id);
  const bytes = Number(row?.bytes ?? 0);
  for (let at = 0; at < bytes; at += PIECE_BYTES) {
    const sql = 'DELETE FROM pieces WHERE bytes = ? AND place = ? AND id = ?';
    database.run(sql, bytes, at, id);
  }
  database.run('DELETE FROM signatures WHERE id = ?', id);
}

/** The long entries from this id on that may have all of the grams, the highest id first. */
export function longEntries(database: Database, grams: readonly string[], from: number): number[] {
  const hashes = grams.flatMap((gram) => [...hashesOf(gram)]);
  const sql = `SELECT bytes, json_group_array(id) AS ids FROM signatures WHERE id >= ?
    GROUP BY bytes`;
  const found = database.all(sql, from).flatMap((row): number[] => {
    let ids = String(row.ids);
    for (const hash of hashes) {
      if (ids === NONE) break;
      ids = havingBit(database, Number(row.bytes), hash, ids);
    }
    return JSON.parse(ids);
  });
  return found.sort((a, b) => b - a);
}

const NONE = '[]';

/** Those of the ids (JSON) whose bitmap has the bit of this hash. */
function havingBit(database: Database, bytes: number, hash: number, ids: string): string {
  const place = hash & (bytes * 8 - 1);
  const byte = place >> 3;
  const [row] = database.all(
    `SELECT json_group_array(p.id) AS ids FROM json_each(?) AS one CROSS JOIN pieces AS p
      ON p.bytes = ? AND p.place = ? AND p.id = one.value WHERE instr(?, substr(p.bits, ?, 1))`,
    ...[ids, bytes, byte - (byte % PIECE_BYTES)],
    ...[BYTES_WITH_BIT[place & 7] ?? new Uint8Array(), (byte % PIECE_BYTES) + 1],
  );
  return String(row?.ids);
}

/** SQL can only tell whether a byte is one of these. */
const BYTES_WITH_BIT = Array.from({ length: 8 }, (_, bit) =>
  Uint8Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => byte & (1 << bit)),
);

/** Of every trigram of a text; none for a text that is too short to have any. */
function* hashesOf(text: string): Generator<number, void, undefined> {
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
