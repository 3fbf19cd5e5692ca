// What is shown as text, and what is said of the rest.

import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeBinary, looksBinary } from '../../src/text/binary.ts';

describe('binary output', () => {
  it('is what is mostly no text, or of a known kind', () => {
    const program = readFileSync(process.execPath).subarray(0, 100_000);
    const samples = {
      program,
      gzip: gzipSync(Buffer.alloc(1_000, 'text')),
      nul: Buffer.from('one\0two\0\0'),
      SQLite: Buffer.from(`SQLite format 3\0${'text '.repeat(100)}`),
      'UTF-16': Buffer.from('\ufefftext', 'utf16le'),
      noise: Uint8Array.from({ length: 200 }, (_, i) => 0x80 + (i % 0x30)),
      controls: Uint8Array.of(1, 2, 3, 4),
    };
    const found = Object.entries(samples).filter(([, bytes]) => looksBinary(bytes));
    expect(found.map(([name]) => name)).toEqual(Object.keys(samples));
  });

  it('is no text in any language, in colours or in an old encoding', () => {
    const texts = [
      '',
      'plain\r\n\tlines\n',
      '\x1b[31mred\x1b[0m \x1b]0;title\x07 \b\b\f\v',
      'Съешь же ещё этих мягких французских булок',
      '日本語😀',
    ];
    expect(texts.filter((text) => looksBinary(Buffer.from(text)))).toEqual([]);
    expect(looksBinary(Buffer.from('Gr\xfc\xdfe aus dem alten Zeichensatz\n', 'latin1'))).toBe(
      false,
    );
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.nat(8_192), (text, at) => {
        // Wherever the sample ends, also inside of a character.
        const bytes = Buffer.from(`${'x'.repeat(at)}${text.repeat(60)}`);
        const sample = bytes.subarray(0, 8_192);
        const zeros = sample.filter((byte) => byte === 0).length;
        expect(looksBinary(bytes)).toBe(zeros > sample.length / 10);
      }),
    );
  });

  it('is no log into which a killed writer has put a few NULs', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100 }), fc.nat(900), (zeros, at) => {
        const text = 'worker: heartbeat\n'.repeat(60);
        const log = Buffer.from(`${text.slice(0, at)}${'\0'.repeat(zeros)}${text.slice(at)}`);
        expect(looksBinary(log)).toBe(false);
      }),
    );
    expect(looksBinary(Buffer.from(`text${'\0'.repeat(100)}`))).toBe(true);
  });

  it('is no short word in an old encoding, and no piece that ends inside of a character', () => {
    for (const word of ['caf\xe9\n', '\xfc\n', 'a\xc3', '\xe2\x9c', '\xf0\x9f\x98']) {
      expect(looksBinary(Buffer.from(word, 'latin1')), word).toBe(false);
    }
    for (const noise of ['\x01', '\x7f\x02', '\xff\xd8\xff\xe0x', '\xe9\xe9\xe9\xe9\n']) {
      expect(looksBinary(Buffer.from(noise, 'latin1')), noise).toBe(true);
    }
  });

  it('is described in one line', () => {
    const described = (bytes: Uint8Array) => describeBinary({ head: bytes, totalBytes: 1_258_291 });
    expect(described(Buffer.from('\x7fELF\x02\x01\x01\0\0\0', 'latin1'))).toBe(
      '[binary output, 1.2 MiB, starts with 7f 45 4c 46 02 01 01 00 (ELF)]',
    );
    expect(describeBinary({ head: Uint8Array.of(0), totalBytes: 1 })).toBe(
      '[binary output, 1 B, starts with 00]',
    );
    expect(describeBinary({ head: new Uint8Array(), totalBytes: 3 })).toBe('[binary output, 3 B]');
  });

  it('is named by how it starts', () => {
    const tar = Buffer.alloc(512);
    tar.write('ustar', 257);
    const starts = {
      gzip: gzipSync('x'),
      zip: Buffer.from('PK\x03\x04'),
      PNG: Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
      JPEG: Uint8Array.of(0xff, 0xd8, 0xff, 0xe0),
      PDF: Buffer.from('%PDF-1.7'),
      SQLite: Buffer.from('SQLite format 3\0'),
      WebAssembly: Buffer.from('\0asm\x01'),
      'Java class': Uint8Array.of(0xca, 0xfe, 0xba, 0xbe),
      tar,
      'UTF-16': Buffer.from('\ufeffx', 'utf16le'),
    };
    const kind = (head: Uint8Array) =>
      /\((.*)\)\]$/.exec(describeBinary({ head, totalBytes: head.length }))?.[1];
    expect(Object.values(starts).map(kind)).toEqual(Object.keys(starts));
  });
});
