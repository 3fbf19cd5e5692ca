// Captured bytes as text for a reader that is no terminal: escape sequences and control characters
// are gone, invisible characters are spelt out, lines and tabs stay. Neither a character nor an
// escape sequence is broken where chunks meet or where a read ends: what is unfinished there is
// left for the next read, so that reading in any steps gives the same text.

import type { OutputPiece } from '../../shell/captures.ts';
import { printable } from '../../text/printable.ts';
import { decodeUtf8, utf8End } from '../../text/utf8.ts';

// A title or a hyperlink that has not ended after so many bytes is no escape sequence.
const STRING_MAX = 2_048;

// On bytes, not on characters, so that all count alike. A string also ends where another sequence
// begins: terminals give up on it there.
const CONTROL = '\\[[0-?]{0,64}[ -/]{0,8}';
const STRING = `[\\]PX^_][^\\x07\\x1b]{0,${STRING_MAX}}`;
const SHORT = '[0-OQ-WYZ\\\\`-~]|[ -/]{1,8}[0-~]';
const SEQUENCE = new RegExp(
  `\\x1b(?:${CONTROL}[@-~]|${STRING}(?:\\x07|\\x1b\\\\|(?=\\x1b))|${SHORT})`,
);
const UNFINISHED = new RegExp(`\\x1b(?:${CONTROL}|${STRING}\\x1b?|[ -/]{0,8})$`);
const UNFINISHED_MAX = STRING_MAX + 3;

const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;

// All but the two joiners, which words and emoji are made with.
const INVISIBLE = /(?![\u200c\u200d])[\p{Cf}\p{Zl}\p{Zp}]/gu;

/** What follows the pieces: nothing ever, more at any time, or more that is there already. */
export type Rest = 'nothing' | 'later' | 'now';

export type TextPiece = { readonly piece: OutputPiece; readonly text: string };

/** The text of neighbouring pieces; `end` is behind the last byte that was used. */
export function textOf(
  pieces: readonly OutputPiece[],
  rest: Rest,
): { readonly texts: readonly TextPiece[]; readonly end: number } {
  const start = pieces[0]?.chunk.offset ?? 0;
  let end = pieces.reduce((_, { chunk }) => chunk.offset + chunk.length, start);
  let part = pieces;
  while (true) {
    const { texts, leftover } = decode(part, rest === 'nothing');
    if (leftover === undefined) return { texts, end };
    // What does not end within a whole read would keep the reader at its start for ever.
    if (leftover <= start && rest === 'now') return { texts: decode(part, true).texts, end };
    end = leftover;
    part = pieces.flatMap((piece) => upTo(piece, leftover));
  }
}

/** Each stream is a text of its own; `leftover` is where the first unfinished thing starts. */
function decode(
  pieces: readonly OutputPiece[],
  all: boolean,
): { readonly texts: TextPiece[]; readonly leftover: number | undefined } {
  const held = new Map<string, { readonly bytes: Uint8Array; readonly offset: number }>();
  const last = new Map(pieces.map(({ chunk }, index) => [chunk.channel, index]));
  const texts = pieces.map((piece, index) => {
    const { channel, offset } = piece.chunk;
    const before = held.get(channel);
    const bytes = before ? Buffer.concat([before.bytes, piece.bytes]) : piece.bytes;
    const end = all && last.get(channel) === index ? bytes.length : finishedEnd(bytes);
    const own = end - (before?.bytes.length ?? 0);
    held.delete(channel);
    if (end < bytes.length) {
      const at = before !== undefined && own < 0 ? before.offset : offset + own;
      held.set(channel, { bytes: bytes.subarray(end), offset: at });
    }
    return { piece, text: cleanText(bytes.subarray(0, end)) };
  });
  const offsets = [...held.values()].map(({ offset }) => offset);
  return { texts, leftover: offsets.length === 0 ? undefined : Math.min(...offsets) };
}

/** Behind the last byte that is not part of something unfinished. */
function finishedEnd(bytes: Uint8Array): number {
  let end = bytes.length;
  while (true) {
    const base = Math.max(0, end - UNFINISHED_MAX);
    const match = UNFINISHED.exec(latin1(bytes.subarray(base, end)));
    if (match === null) break;
    end = base + match.index;
  }
  // In front of an escape sequence a character that is not whole will never be.
  return end < bytes.length ? end : utf8End(bytes, end);
}

/** All of it: what is unfinished at the end is shown as far as it can be. */
export function cleanText(bytes: Uint8Array): string {
  return decodeSegments(bytes).replace(CONTROLS, '').replace(INVISIBLE, printable);
}

/** One by one: what stands on both sides of a sequence must not become one character. */
function decodeSegments(bytes: Uint8Array): string {
  if (!bytes.includes(0x1b)) return decodeUtf8(bytes);
  const segments = latin1(bytes).split(SEQUENCE);
  return segments.map((segment) => Buffer.from(segment, 'latin1').toString()).join('');
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}

function upTo(piece: OutputPiece, end: number): OutputPiece[] {
  const { chunk, bytes } = piece;
  const length = Math.min(chunk.length, end - chunk.offset);
  if (length <= 0) return [];
  if (length === chunk.length) return [piece];
  return [{ chunk: { ...chunk, length }, bytes: bytes.subarray(0, length) }];
}
