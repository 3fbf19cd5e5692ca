// Captured bytes as text for a reader that is no terminal: escape sequences and control characters
// are gone, invisible characters are spelt out, lines and tabs stay. Neither a character nor an
// escape sequence is broken where chunks meet or where a read ends: what is unfinished there is
// left for the next read, so that reading in any steps gives the same text.

import type { OutputPiece } from '../../shell/captures.ts';
import { printable } from '../../text/printable.ts';
import { type Sanitizer, sanitizer } from '../../text/sanitize.ts';
import { decodeUtf8 } from '../../text/utf8.ts';

// A title or a hyperlink that has not ended after so many bytes must not hold up the reader.
const CLEANING = { cr: 'raw', broken: 'replace', stringBytesMax: 2_048 } as const;

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
  const streams = new Map<string, Sanitizer>();
  const last = new Map(pieces.map(({ chunk }, index) => [chunk.channel, index]));
  const texts = pieces.map((piece, index) => {
    const { channel } = piece.chunk;
    const clean = streams.get(channel) ?? sanitizer(CLEANING);
    streams.set(channel, clean);
    const text = decodeUtf8(clean.push(piece.bytes));
    const end = all && last.get(channel) === index ? decodeUtf8(clean.end()) : '';
    return { piece, text: `${text}${end}`.replace(INVISIBLE, printable) };
  });
  const offsets = [...streams].flatMap(([channel, { pending }]) =>
    pending === 0 ? [] : [offsetFromEnd(pieces, channel, pending)],
  );
  return { texts, leftover: offsets.length === 0 ? undefined : Math.min(...offsets) };
}

/** Where the last `count` bytes of a stream start. */
function offsetFromEnd(pieces: readonly OutputPiece[], channel: string, count: number): number {
  let left = count;
  for (const { chunk } of pieces.toReversed()) {
    if (chunk.channel !== channel) continue;
    if (chunk.length >= left) return chunk.offset + chunk.length - left;
    left -= chunk.length;
  }
  return 0;
}

function upTo(piece: OutputPiece, end: number): OutputPiece[] {
  const { chunk, bytes } = piece;
  const length = Math.min(chunk.length, end - chunk.offset);
  if (length <= 0) return [];
  if (length === chunk.length) return [piece];
  return [{ chunk: { ...chunk, length }, bytes: bytes.subarray(0, length) }];
}
