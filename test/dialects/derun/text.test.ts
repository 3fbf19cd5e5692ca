import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textOf } from '../../../src/dialects/derun/text.ts';
import type { OutputPiece } from '../../../src/shell/captures.ts';
import type { Channel } from '../../../src/types.ts';

type Part = { readonly bytes: Uint8Array; readonly channel?: Channel };

/** Neighbouring chunks from `offset` on. */
function piecesOf(parts: readonly Part[], offset = 0): OutputPiece[] {
  let at = offset;
  return parts.map(({ bytes, channel = 'stdout' }) => {
    const chunk = { offset: at, length: bytes.length, channel, at: 0, lines: 0 };
    at += bytes.length;
    return { chunk, bytes };
  });
}

function split(bytes: Uint8Array, places: readonly number[]): Part[] {
  const cuts = [0, ...[...places].sort((a, b) => a - b), bytes.length];
  const parts = cuts.slice(1).map((end, i) => ({ bytes: bytes.subarray(cuts[i], end) }));
  return parts.filter((part) => part.bytes.length > 0);
}

const bytesOf = (text: string): Buffer => Buffer.from(text);
const cleanText = (bytes: Uint8Array): string =>
  textOf(piecesOf([{ bytes }]), 'nothing')
    .texts.map(({ text }) => text)
    .join('');
const clean = (text: string): string => cleanText(bytesOf(text));

// Terminal output as it really is: words, characters of all lengths, sequences, and rubbish.
const fragment = fc.oneof(
  fc.constantFrom('a', 'é', '€', '😀', '\n', '\r\n', '\t', '\x07', '\x1b', '\x1b[', '\x9b', '\0'),
  fc.constantFrom('\x1b[31m', '\x1b[0m', '\x1b]0;title\x07', '\x1b]8;;url\x1b\\', '\x1bP1$r\x1b\\'),
  fc.constantFrom(
    '\x1b(B',
    '\x1b=',
    '\x1b[1;2;3',
    '\x1b]0;ab',
    '\u202e',
    '\u200d',
    '\\',
    '\x1b\x1b',
  ),
);
const output = fc
  .array(fc.oneof(fragment.map(bytesOf), fc.uint8Array({ maxLength: 4 })), { maxLength: 12 })
  .map((parts) => Buffer.concat(parts));

describe('output as text', () => {
  it('has no escape sequences and no control characters but lines and tabs', () => {
    expect(clean('\x1b[1;31mred\x1b[0m\r\n\tok\x07\x08\x7f')).toBe('red\r\n\tok');
    expect(clean('\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b\x1bP+q\x1b\\c\x1b(Bd\x1b=e')).toBe(
      'abcde',
    );
    expect(clean('\x1b]0;never ends\x1b[32mg')).toBe('g');
    expect(clean('\u009b31mcsi')).toBe('csi');
    expect(clean('a\x1b')).toBe('a');
  });

  it('spells out what nobody could see', () => {
    expect(clean('a\u202eb\u2028c')).toBe('a\\u{202e}b\\u{2028}c');
    expect(clean('👩\u200d💻')).toBe('👩\u200d💻');
  });

  it('shows bytes that are no text as the replacement character', () => {
    expect(cleanText(Uint8Array.of(0x61, 0xff, 0x62))).toBe('a\ufffdb');
    // What stands on both sides of a sequence is not one character.
    const torn = Buffer.concat([Buffer.of(0xe2, 0x82), bytesOf('\x1b[0m'), Buffer.of(0xac)]);
    expect(cleanText(torn)).toBe('\ufffd\ufffd');
  });

  it('is the same wherever chunks meet', () => {
    fc.assert(
      fc.property(output, fc.array(fc.nat(60)), (bytes, places) => {
        const parts = split(
          bytes,
          places.map((one) => Math.min(one, bytes.length)),
        );
        const { texts, end } = textOf(piecesOf(parts), 'nothing');
        expect(end).toBe(bytes.length);
        expect(texts.map(({ text }) => text).join('')).toBe(cleanText(bytes));
      }),
      { numRuns: 2_000 },
    );
  });

  it('is the same read step by step while it is written', () => {
    fc.assert(
      fc.property(output, fc.array(fc.nat(60)), (bytes, places) => {
        let text = '';
        let cursor = 0;
        const ends = [...places.map((one) => Math.min(one, bytes.length))].sort((a, b) => a - b);
        for (const end of [...ends, bytes.length]) {
          const pieces = piecesOf([{ bytes: bytes.subarray(cursor, end) }], cursor);
          if (cursor === end) continue;
          const read = textOf(pieces, end === bytes.length ? 'nothing' : 'later');
          text += read.texts.map((one) => one.text).join('');
          expect(read.end).toBeLessThanOrEqual(end);
          cursor = read.end;
        }
        expect(text).toBe(cleanText(bytes));
      }),
      { numRuns: 2_000 },
    );
  });

  it('keeps two streams apart that take turns inside of a character', () => {
    const parts: Part[] = [
      { bytes: Buffer.of(0x61, 0xe2, 0x82) },
      { bytes: bytesOf('err'), channel: 'stderr' },
      { bytes: Buffer.of(0xac, 0x62) },
    ];
    const { texts } = textOf(piecesOf(parts), 'nothing');
    expect(texts.map(({ text }) => text)).toEqual(['a', 'err', '€b']);
    // Not whole yet: everything from its first byte on is left for the next read.
    const early = textOf(piecesOf(parts.slice(0, 2)), 'later');
    expect(early.texts.map(({ piece, text }) => [piece.chunk.length, text])).toEqual([[1, 'a']]);
    expect(early.end).toBe(1);
  });

  it('half a character is nothing yet, and a long one does not hold up a reader for ever', () => {
    const half = piecesOf([{ bytes: Buffer.of(0xf0, 0x9f) }], 7);
    expect(textOf(half, 'later')).toEqual({ texts: [], end: 7 });
    expect(textOf(half, 'nothing').texts[0]?.text).toBe('\ufffd');
    const title = piecesOf([{ bytes: bytesOf(`\x1b]0;${'t'.repeat(100)}\nbehind`) }]);
    expect(textOf(title, 'now')).toMatchObject({ end: 111, texts: [{ text: '\nbehind' }] });
  });

  it('takes what follows the first line of a string that never ends for text', () => {
    const bytes = bytesOf(`\x1b]0;title\n${'x'.repeat(5_000)}`);
    expect(cleanText(bytes)).toBe(`\n${'x'.repeat(5_000)}`);
    expect(textOf(piecesOf([{ bytes }]), 'later').end).toBe(bytes.length);
  });
});
