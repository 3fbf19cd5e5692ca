// The sanitiser: what goes, what stays, and that the pieces a stream comes in make no difference.
import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SanitizeOptions, sanitize, sanitizer } from '../../src/text/sanitize.ts';
import { workOf } from '../pace.ts';

const MODES = ['keep', 'overwrite', 'raw'] as const;
const WAYS: readonly SanitizeOptions[] = MODES.flatMap((cr) => [
  { cr },
  { cr, broken: 'replace' },
  { cr, broken: 'replace', stringBytesMax: 7 },
]);

/** Of latin1, so that every byte can be written. */
const raw = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'));
const shown = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
const clean = (text: string): string => shown(sanitize(Buffer.from(text)));
const cleanRaw = (text: string): string => Buffer.from(sanitize(raw(text))).toString('latin1');
const line = (text: string): string => shown(sanitize(Buffer.from(text), { cr: 'overwrite' }));

const PIECES = [
  ...['\x1b', '\x1b', '[', ']', 'P', '_', '^', 'X', 'k', '\\', '\x07', '\x18', '\x1a', '\x1b\\'],
  ...['\x9c', '\xc2\x9c', '\x9b', '\x9d', '\x90', '\xc2\x9b', '\xc2\x9d', '\xc2', '\x85', '\x7f'],
  ...['0', '1', '31', ';', ':', '?', ' ', '(', 'B', 'm', 'K', 'G', 'D', 'C', '=', 'x', 'yz'],
  ...['\t', '\n', '\r', '\r\n', '\b', '\0', '\x1b[K', '\x1b[2K', '\x1b[1K', '\x1b[31m'],
  ...['\xe2\x9c\x93', '\xe2\x9c', '\xe2', '\xf0\x9f\x98\x80', '\xf0\x9f', '\xc3\xa9', '\xff'],
  ...['\xa0', '\xed\xa0\x80', '\xe0\x80', '\xf4\x90'],
];
const piece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...PIECES) },
  {
    weight: 1,
    arbitrary: fc.uint8Array({ maxLength: 4 }).map((b) => Buffer.from(b).toString('latin1')),
  },
  { weight: 1, arbitrary: fc.constantFrom('plain text that is a bit longer\n', 'x'.repeat(80)) },
);
const run = fc.tuple(piece, fc.integer({ min: 2, max: 9 })).map(([text, n]) => text.repeat(n));
const output = fc
  .array(fc.oneof({ weight: 6, arbitrary: piece }, { weight: 1, arbitrary: run }), {
    maxLength: 40,
  })
  .map((pieces) => raw(pieces.join('')));

function inPieces(bytes: Uint8Array, cuts: readonly number[], way: SanitizeOptions): Buffer {
  const stream = sanitizer(way);
  const out: Uint8Array[] = [];
  const places = [...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length];
  let from = 0;
  for (const to of places.sort((a, b) => a - b)) {
    const copy = Buffer.from(bytes.subarray(from, to));
    out.push(Buffer.from(stream.push(copy)));
    copy.fill(0x21); // what was handed over may be written over afterwards
    from = to;
  }
  return Buffer.concat([...out, stream.end()]);
}

/** How much work it is to read a million of this byte, once the engine is warm. */
function workFor(byte: number): number {
  const bytes = new Uint8Array(1_000_000).fill(byte);
  return Math.min(...Array.from({ length: 4 }, () => workOf(() => sanitize(bytes))));
}

describe('the sanitiser', () => {
  it('reads a run of controls as quickly as odd text', () => {
    const text = workFor(0xff);
    for (const byte of [0x00, 0x07, 0x1b, 0x7f, 0x85, 0x9b, 0x9d]) {
      expect(workFor(byte), byte.toString(16)).toBeLessThan(8 * text);
    }
  });

  it('gives the same at every place where a stream may be cut', () => {
    fc.assert(
      fc.property(output, fc.constantFrom(...WAYS), (bytes, way) => {
        const whole = Buffer.from(sanitize(bytes, way));
        for (let cut = 0; cut <= bytes.length; cut += 1) {
          expect(inPieces(bytes, [cut], way)).toEqual(whole);
        }
        expect(inPieces(bytes, [...bytes.keys()], way)).toEqual(whole);
        if (way.broken === 'replace') expect(isUtf8(whole)).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  it('can start anew before what is pending, at every place', () => {
    fc.assert(
      fc.property(output, fc.constantFrom(7, 1_000), (bytes, stringBytesMax) => {
        const way = { cr: 'raw', broken: 'replace', stringBytesMax } as const;
        const whole = Buffer.from(sanitize(bytes, way));
        for (let cut = 0; cut <= bytes.length; cut += 1) {
          const first = sanitizer(way);
          const before = Buffer.from(first.push(bytes.subarray(0, cut)));
          const behind = sanitize(bytes.subarray(cut - first.pending), way);
          expect(Buffer.concat([before, behind])).toEqual(whole);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('shows what is held back without giving it away', () => {
    fc.assert(
      fc.property(output, fc.constantFrom(...WAYS), (bytes, way) => {
        const stream = sanitizer(way);
        const most = Buffer.from(stream.push(bytes));
        const seen = Buffer.concat([most, stream.peek()]);
        const whole = Buffer.from(sanitize(bytes, way));
        // Half a character at the end is not shown.
        const ends = [0, 1, 2, 3].map((half) => bytes.length - half).filter((end) => end >= 0);
        const possible = ends.map((end) => shown(sanitize(bytes.subarray(0, end), way)));
        expect(possible).toContain(shown(seen));
        expect(Buffer.concat([most, stream.end()])).toEqual(whole);
      }),
      { numRuns: 1_000 },
    );
  });

  it('gives the same for any number of pieces', () => {
    const cuts = fc.array(fc.nat(300), { maxLength: 12 });
    fc.assert(
      fc.property(output, cuts, fc.constantFrom(...WAYS), (bytes, places, way) => {
        expect(inPieces(bytes, places, way)).toEqual(Buffer.from(sanitize(bytes, way)));
      }),
      { numRuns: 1_000 },
    );
  });

  it('gives the same around its limits', () => {
    const [string, sequence, cells] = [1024 * 1024, 256, 16_384];
    const near = fc.integer({ min: -4, max: 4 });
    const tail = fc.constantFrom(
      '\x07',
      '\x1b\\',
      'é\x07',
      '\nm\x1b[1m',
      'm',
      '\r\x1b[K',
      '\r\x1b[2K z ',
    );
    const start = fc.constantFrom(
      ['\x1b]', string],
      ['\x9d\n', string - 1],
      ['\x1b[', sequence],
      ['\x9b', sequence],
      ['', cells],
    ) as fc.Arbitrary<[string, number]>;
    const shape = fc.tuple(
      start,
      near,
      tail,
      fc.array(near, { maxLength: 4 }),
      fc.constantFrom(...MODES),
    );
    fc.assert(
      fc.property(shape, ([[intro, limit], off, end, places, cr]) => {
        const bytes = raw(`a\n${intro}${'1'.repeat(limit + off)}${end}behind\n`);
        const cuts = places.map((place) => limit + off + intro.length + 2 + place);
        expect(inPieces(bytes, cuts, { cr }).equals(sanitize(bytes, { cr }))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('leaves no control behind, and nothing for a second time', () => {
    fc.assert(
      fc.property(output, (bytes) => {
        const kept = sanitize(bytes);
        expect(shown(kept)).not.toMatch(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r\n/);
        expect(Buffer.from(sanitize(kept))).toEqual(Buffer.from(kept));
        const last = sanitize(bytes, { cr: 'overwrite' });
        expect(shown(last)).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f]/);
      }),
      { numRuns: 1_000 },
    );
  });

  it('cuts no character, and changes no text', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 60 });
    const safe = text.map((value) => value.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, ''));
    const lines = fc.array(safe, { maxLength: 8 }).map((all) => all.join('\n'));
    fc.assert(
      fc.property(lines, fc.array(fc.nat(400), { maxLength: 6 }), (value, cuts) => {
        for (const cr of MODES) {
          expect(inPieces(Buffer.from(value), cuts, { cr }).toString()).toBe(value);
        }
      }),
    );
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...PIECES, 'é', '😀'), { maxLength: 30 }), (pieces) => {
        const bytes = Buffer.from(pieces.join('')); // valid: every byte above is a character now
        for (const cr of MODES) expect(isUtf8(sanitize(bytes, { cr }))).toBe(true);
      }),
    );
  });

  it('finds what is odd at any distance and alignment', () => {
    for (let length = 0; length < 200; length += 1) {
      for (const odd of ['\0', '\b', '\v', '\x1f', '\x7f', '\x9f', '\x1b[1m']) {
        const bytes = raw(`#${'a\t\n~ '.repeat(40).slice(0, length)}${odd}z`).subarray(1);
        const text = 'a\t\n~ '.repeat(40).slice(0, length);
        expect(Buffer.from(sanitize(bytes)).toString('latin1')).toBe(`${text}z`);
      }
    }
  });
});

describe('what is stripped', () => {
  it('control sequences', () => {
    const cases = {
      'a\x1b[31mb\x1b[0mc': 'abc',
      'a\x1b[mb': 'ab',
      'colon \x1b[38:2::1:2:3mrgb\x1b[4:3m': 'colon rgb',
      '\x1b[?25l\x1b[2J\x1b[1;1Hx\x1b[?1049h': 'x',
      '\x1b[ q\x1b[!p\x1b[>4;2m.': '.',
      'a\u009b31mb': 'ab',
      'cut \x1b[38;5\nnext': 'cut \nnext',
      'cut \x1b[38;5é': 'cut é',
      'again \x1b[3\x1b[31mred': 'again red',
      'end \x1b[38;5': 'end ',
      'end \x1b[': 'end ',
      'end \x1b': 'end ',
    };
    expect(Object.keys(cases).map(clean)).toEqual(Object.values(cases));
    expect(cleanRaw('a\x9b31mb')).toBe('ab');
    expect(clean(`\x1b[${'1;'.repeat(150)}m!`)).toBe(`${'1;'.repeat(22)}m!`);
  });

  it('strings, however they end', () => {
    const cases = {
      'a\x1b]0;title\x07b': 'ab',
      'a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b': 'alinkb',
      'a\x1b]0;✳ star\u009cb': 'ab',
      'a\u009d0;title\x07b': 'ab',
      'a\x1bPq#0;2;0\n0;0~-\n\x1b\\b': 'ab',
      'a\x1b_Gf=100;AAAA\x1b\\b\x1b^pm\x1b\\c\x1bXsos\x1b\\d\x1bkscreen\x1b\\e': 'abcde',
      'a\x1bPwith \x07 bell\x1b\\b': 'ab',
      'a\x1b]1337;File=:AAAA\nBBBB\n\x07b': 'ab',
      'a\x1bPtmux;\x1b\x1b]52;c;eA==\x07\x1b\\b': 'ab',
    };
    expect(Object.keys(cases).map(clean)).toEqual(Object.values(cases));
    expect(cleanRaw('a\x9d0;title\x9cb\x90dcs\x9cc')).toBe('abc');
  });

  it('no more than one line of a string that does not end', () => {
    const cases = {
      'a\x1b]0;title\nb\nc': 'a\nb\nc',
      'a\x1b]0;title\x18b': 'ab',
      'a\x1b]0;title\x1ab': 'ab',
      'a\x1b]0;title\x1b[31mb': 'ab',
      'a\x1b]0;title\nb\x1b[31mc\x07': 'a\nbc',
      'a\x1b]0;ti\u009b31mb': 'ab',
    };
    expect(Object.keys(cases).map(clean)).toEqual(Object.values(cases));
    const long = 'x'.repeat(1024 * 1024);
    expect(clean(`\x1b]${long}`)).toBe('');
    expect(clean(`\x1b]${long}shown`)).toBe('shown');
    expect(clean(`\x1b]${long.slice(1)}\x07`)).toBe('');
    expect(clean(`\x1b]0;title\n${long}shown`)).toBe(`\n${long}shown`);
  });

  it('only the byte itself where another encoding is likely', () => {
    expect(cleanRaw('\x9eivot: l\xe9ta\nna konci')).toBe('ivot: l\xe9ta\nna konci');
    expect(cleanRaw('a \x9b\xe9 b')).toBe('a \xe9 b');
    expect(cleanRaw('cut emoji \xf0\x9f\x98 and text')).toBe('cut emoji \xf0\x9f\x98 and text');
  });

  it('other escapes and controls', () => {
    expect(clean('\x1b(Ba\x1b)0b\x1b7c\x1b8d\x1b=e\x1b>f\x1bcg\x1bMh\x1b#8i\x1b Fj')).toBe(
      'abcdefghij',
    );
    const all = Array.from({ length: 32 }, (_, code) => String.fromCharCode(code));
    const kept = all
      .filter((control) => control !== '\x1b')
      .map((control) => clean(`<${control}>`));
    expect(kept.filter((text) => text !== '<>')).toEqual(['<\t>', '<\n>', '<\r>']);
    expect(clean('a\x7fb\u0085c\u0080d')).toBe('abcd');
    expect(cleanRaw('a\x85b\x80c')).toBe('abc');
  });

  it('the return before a newline, and no other', () => {
    expect(clean('a\r\nb\rc\r\r\nd\r\x1b[0m\ne\r')).toBe('a\nb\rc\nd\ne\r');
    expect(clean('\r')).toBe('\r');
    expect(inPieces(Buffer.from('a\r\nb\r'), [2, 3], {}).toString()).toBe('a\nb\r');
    const all = '\x1b[1ma\x1b[m\r\nb\rc\r\r\nd\r';
    expect(shown(sanitize(Buffer.from(all), { cr: 'raw' }))).toBe('a\r\nb\rc\r\r\nd\r');
  });
});

describe('lines that are written over', () => {
  it('are left as a terminal shows them last', () => {
    const cases = {
      '10%\r50%\r100%\ndone': '100%\ndone',
      'long text\rshort\n': 'shorttext\n',
      'long text\r\x1b[Kshort\n': 'short\n',
      'long text\rshort\x1b[K\n': 'short\n',
      'long text\x1b[2K\rshort': 'short',
      'long text\x1b[1K\x1b[1Gsh': 'sh',
      'abcdef\x1b[3D\x1b[1K\n': '    ef\n',
      'abc\x1b[2D\x1b[Cx\n': 'abx\n',
      'a\x1b[5Gb\n': 'a   b\n',
      'a\x1b[1;5Hb\x1b[?2K\n': 'ab\n',
      'overx\b\bxy\n': 'ovexy\n',
      'b\bbo\bol\bld_\bd\n': 'boldd\n',
      'wiped\r     \rx\n': 'x\n',
      'wiped\r     \r\n': '\n',
      'blanks stay  \r\n': 'blanks stay  \n',
      '日本語\r日x\n': '日x語\n',
      'last\r': 'last',
    };
    expect(Object.keys(cases).map(line)).toEqual(Object.values(cases));
  });

  it('cost no more than their bytes', () => {
    const bar = Array.from({ length: 100_000 }, (_, i) => `\r${String(i).padStart(80, '=')}`);
    expect(line(`${bar.join('')}\n`)).toBe(`${'99999'.padStart(80, '=')}\n`);
    const long = 'x'.repeat(10_000_000);
    expect(line(`${long}\rzz`).length).toBe(10_000_000);
    expect(line(`${long}\nzz`)).toBe(`${long}\nzz`);
    expect(line(`${'y'.repeat(16_000)}${'\x1b[1K'.repeat(50_000)}z`)).toBe(
      `${' '.repeat(16_000)}z`,
    );
  });
});
