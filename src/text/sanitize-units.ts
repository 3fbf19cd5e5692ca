// What a stream of bytes is made of, for the sanitiser: plain text, characters of several bytes,
// controls, and escape sequences. Every function here looks at `bytes` from `i` on and keeps
// nothing; where the answer hangs on bytes that are not there yet it says `MORE`, unless `last`
// says that none will come. So a stream means the same however it is cut into pieces.

/** The bytes given do not tell yet. */
export const MORE = 0;

export const ESC = 0x1b;

/** The code of a character that is no control at all. */
export const NO_CONTROL = -1;

/** The C1 controls that start something. ESC and a byte of 0x40..0x5f is another spelling. */
export const CSI = 0x9b;
export const OSC = 0x9d;
export const ST = 0x9c;
const STRINGS = new Set([0x90, 0x98, OSC, 0x9e, 0x9f]); // DCS, SOS, OSC, PM, APC

// Longer than any that a program sends; what follows is text again.
const CSI_LENGTH_MAX = 256;
const INTERMEDIATES_MAX = 4;

/** A control at some place: its code and how many bytes spell it. */
export type Control = {
  readonly code: number;
  readonly length: number;
  /** One byte of 0x80..0x9f that belongs to no character: perhaps text in another encoding. */
  readonly raw: boolean;
};

export function startsString(code: number): boolean {
  return STRINGS.has(code);
}

const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === 0x09 || byte === 0x0a || (byte >= 0x20 && byte < 0x7f) ? 1 : 0,
);
const SHORT = 64; // runs up to this long are not worth setting up a scan by words

/** Where the run of ASCII text (tabs and newlines too) that starts at `i` ends. */
function plainEnd(bytes: Uint8Array, i: number): number {
  let at = i;
  const short = Math.min(bytes.length, i + SHORT);
  while (at < short && PLAIN[bytes[at] ?? 0] === 1) at += 1;
  if (at < short) return at;
  // The words begin at an aligned byte, which may be behind the end.
  if (bytes.length - at > 8) at = plainWordsEnd(bytes, at);
  while (at < bytes.length && PLAIN[bytes[at] ?? 0] === 1) at += 1;
  return at;
}

/** The same, eight bytes at a time: it may stop up to seven too early. */
function plainWordsEnd(bytes: Uint8Array, i: number): number {
  const from = i + ((4 - ((bytes.byteOffset + i) & 3)) & 3);
  for (let at = i; at < from; at += 1) if (PLAIN[bytes[at] ?? 0] === 0) return at;
  const count = Math.max(0, bytes.length - from) >> 2;
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + from, count);
  let at = 0;
  while (at + 1 < count && (odd(words[at] ?? 0) | odd(words[at + 1] ?? 0)) === 0) at += 2;
  return from + at * 4;
}

/**
 * The high bit of every byte of `word` that is no plain text: a control but `\t` and `\n`, DEL, or
 * not ASCII. What is added sets the high bit of a byte that is not 0, and never reaches the next.
 */
export function odd(word: number): number {
  const seven = word & 0x7f7f7f7f;
  const next = seven + 0x01010101;
  const printing = (seven & 0x60606060) + 0x7f7f7f7f;
  const notTabOrNewline = ((next & 0x7e7e7e7e) ^ 0x0a0a0a0a) + 0x7f7f7f7f;
  return ((~printing & notTabOrNewline) | next | word) & 0x80808080;
}

/** Where the text that starts at `i` ends: at a control, or at a character that is not whole. */
export function textEnd(bytes: Uint8Array, i: number, last: boolean): number {
  let at = plainEnd(bytes, i);
  for (let byte = bytes[at] ?? 0; byte >= 0x80; byte = bytes[at] ?? 0) {
    if (byte >= 0xc3 && byte < 0xe0 && ((bytes[at + 1] ?? 0) & 0xc0) === 0x80) {
      at += 2; // most letters outside of ASCII
    } else {
      const length = characterLength(bytes, at, last);
      if (length === MORE || controlCode(bytes, at, length) !== NO_CONTROL) return at;
      at += length;
    }
    if ((bytes[at] ?? 0x80) < 0x80) at = plainEnd(bytes, at);
  }
  return at;
}

/** How a byte that starts a character may be a control without effect, whatever comes later. */
const SILENT = { no: 0, always: 1, ifNothingFollows: 2, ifBrokenOff: 3 } as const;
const SILENCE = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === ESC || byte === CSI) return SILENT.ifNothingFollows;
  if (STRINGS.has(byte)) return SILENT.ifBrokenOff;
  if (PLAIN[byte] === 1 || byte === 0x08 || byte === 0x0d) return SILENT.no;
  return byte < 0xa0 ? SILENT.always : SILENT.no;
});

/**
 * Where the controls that start at `i` and have no effect end: the quick way through what is no
 * text at all. It may stop early.
 */
export function silentEnd(bytes: Uint8Array, i: number): number {
  for (let at = i; at < bytes.length; at += 1) {
    const silence = SILENCE[bytes[at] ?? 0];
    if (silence === SILENT.always) continue;
    if (silence === SILENT.no || at + 1 === bytes.length) return at;
    const next = bytes[at + 1] ?? 0;
    if (silence === SILENT.ifNothingFollows) {
      if (next >= 0x20 && next < 0x7f) return at; // a sequence; nothing else can be part of one
    } else if (next < 0x80 || next > 0x9f || next === ST) return at;
  }
  return bytes.length;
}

/**
 * Bytes of the character at `i`. Of one that is broken, as many as could have been its beginning
 * (Unicode 3.9, "maximal subpart"): what a decoder shows as one U+FFFD.
 */
export function characterLength(bytes: Uint8Array, i: number, last: boolean): number {
  const lead = bytes[i] ?? 0;
  if (lead < 0xc2 || lead > 0xf4) return 1;
  const more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
  // No overlong forms, no surrogates, nothing above U+10FFFF.
  let low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  let high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  for (let k = 1; k <= more; k += 1) {
    if (i + k >= bytes.length) return last ? k : MORE;
    const byte = bytes[i + k] ?? 0;
    if (byte < low || byte > high) return k;
    low = 0x80;
    high = 0xbf;
  }
  return more + 1;
}

/** The C1 control that the character of `length` bytes at `i` is. */
function controlCode(bytes: Uint8Array, i: number, length: number): number {
  const byte = bytes[i] ?? 0;
  if (length === 1) return byte >= 0x80 && byte <= 0x9f ? byte : NO_CONTROL;
  const second = bytes[i + 1] ?? 0;
  return byte === 0xc2 && second <= 0x9f ? second : NO_CONTROL;
}

/** The control at `i`; of ASCII, whatever stands there. */
export function controlAt(bytes: Uint8Array, i: number, last: boolean): Control | typeof MORE {
  const byte = bytes[i] ?? 0;
  if (byte === ESC) return escapeAt(bytes, i, last);
  if (byte < 0x80) return { code: byte, length: 1, raw: false };
  const length = characterLength(bytes, i, last);
  if (length === MORE) return MORE;
  return { code: controlCode(bytes, i, length), length, raw: length === 1 };
}

/** What ESC starts. Whatever is not a C1 control in two bytes is code ESC: over when it ends. */
function escapeAt(bytes: Uint8Array, i: number, last: boolean): Control | typeof MORE {
  const over = (length: number): Control => ({ code: ESC, length, raw: false });
  let at = i + 1;
  while (at - i <= INTERMEDIATES_MAX && isIntermediate(bytes[at])) at += 1;
  const final = bytes[at];
  if (final === undefined) return last ? over(1) : MORE;
  if (at > i + 1) return over(final >= 0x30 && final <= 0x7e ? at + 1 - i : 1);
  if (final >= 0x40 && final <= 0x5f) return { code: final + 0x40, length: 2, raw: false };
  if (final === 0x6b) return { code: 0x98, length: 2, raw: false }; // ESC k: a title, in screen
  return over(final >= 0x30 && final <= 0x7e ? 2 : 1);
}

function isIntermediate(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x20 && byte <= 0x2f;
}

/**
 * Where the control sequence ends whose parameters start at `i`: behind its final byte, or where
 * something stands that cannot be part of it (a line that was cut short, most of the time).
 */
export function sequenceEnd(bytes: Uint8Array, i: number, last: boolean): number {
  const most = Math.min(bytes.length, i + CSI_LENGTH_MAX);
  let at = i;
  while (at < most && (bytes[at] ?? 0) >= 0x20 && (bytes[at] ?? 0) <= 0x3f) at += 1;
  if (at === bytes.length) return last ? at : MORE;
  return finalByte(bytes[at]) ? at + 1 : at;
}

function finalByte(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x40 && byte <= 0x7e;
}
