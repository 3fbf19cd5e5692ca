// What of a recording reaches a person's terminal: what is seen, and nothing that changes it.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawnFrom, PlayedBytes } from '../../src/text/played-bytes.ts';

const ROWS = 20;

function shown(text: string, newlines = false): string {
  const filter = new PlayedBytes(ROWS, { newlines });
  return Buffer.from(filter.push(Buffer.from(text))).toString();
}

const CLEAR = new PlayedBytes(ROWS, { newlines: false }).clear();

describe('output that is played', () => {
  it.each([
    ['text, also of many bytes', 'plain ä € 😀 \t\r\b'],
    ['colours', '\x1b[1;38;2;1;2;3mred\x1b[4:3m\x1b[0m'],
    ['moves and erasing', '\x1b[H\x1b[3;4H\x1b[2K\x1b[J\x1b[1A\x1b[5X\x1b[2P\x1b[3L\x1b[7d'],
    ['a hidden cursor and wrapping', '\x1b[?25l\x1b[?7l\x1b[?25h'],
    ['saving the cursor, and index', '\x1b7\x1b8\x1b[s\x1b[u\x1bM\x1bD'],
    ['lines drawn with letters', '\x1b(0lqk\x1b(B'],
  ])('passes on %s', (_, text) => {
    expect(shown(text)).toBe(text);
  });

  it.each([
    ['a title', '\x1b]0;EVIL\x07'],
    ['the clipboard', '\x1b]52;c;ZXZpbA==\x1b\\'],
    ['a link', '\x1b]8;;http://evil\x1b\\'],
    ['pictures and settings', '\x1bPq#0~\x1b\\\x1b_Gpicture\x1b\\\x1b^x\x1b\\'],
    [
      'questions, whose answers would be keys',
      '\x1b[6n\x1b[c\x1b[>c\x1b[=c\x1b[?6n\x1b[18t\x1b[5n\x1b[?2026$p',
    ],
    [
      'mouse, paste and key modes',
      '\x1b[?1000h\x1b[?1006h\x1b[?2004h\x1b[?1004h\x1b[>1u\x1b[>4;2m\x1b=',
    ],
    ['a bell and other controls', '\x07\x00\x05\x0b\x0c\x11\x13\x7f'],
    ['controls of eight bits', '\u009b\u009d\u009c\u0085'],
    ['what the person scrolled away', '\x1b[3J\x1b[2;3J'],
    ['numbers that take for ever', '\x1b[99999b'],
    ['resizing and moving the window', '\x1b[8;500;500t\x1b[3;0;0t'],
    ['locked keyboards, tests and other fonts', '\x1b[2h\x1b#8\x1b%G\x1bn\x1b*B\x1b[2 q'],
  ])('keeps back %s', (_, text) => {
    expect(shown(text)).toBe('');
  });

  it('has an empty screen for every other screen, and for a reset', () => {
    expect(shown('\x1b[?1049h')).toBe(CLEAR);
    expect(shown('\x1b[?1049;25l')).toBe(`${CLEAR}\x1b[?25l`);
    expect(shown('\x1bc')).toBe(CLEAR);
  });

  it('scrolls in its own part of the screen', () => {
    expect(shown('\x1b[r\x1b[5;99r\x1b[2;9r\x1b[30;40r')).toBe(
      '\x1b[1;20r\x1b[5;20r\x1b[2;9r\x1b[1;20r',
    );
  });

  it('has lines that return, if it did not come from a terminal', () => {
    expect([shown('a\nb', true), shown('a\nb')]).toEqual(['a\r\nb', 'a\nb']);
  });

  it('goes on behind a sequence or string that was never ended', () => {
    expect(shown('\x1b]0;forgot\nnext')).toBe('next');
    expect(shown('\x1b[12\nnext')).toBe('\nnext');
    expect(shown(`\x1b[${'1;'.repeat(100)}Hnext`).endsWith('next')).toBe(true);
    expect(shown('\x1bP never \x18next')).toBe('next');
    expect(shown('\x1b\x1b[1mx')).toBe('\x1b[1mx');
  });

  it('tells while the cursor is saved, for a terminal has one place for it', () => {
    const filter = new PlayedBytes(ROWS, { newlines: false });
    const saved = ['\x1b7', 'x', '\x1b8', '\x1b[s', '\x1b[u'].map((text) => {
      filter.push(Buffer.from(text));
      return filter.cursorSaved;
    });
    expect(saved).toEqual([true, true, false, true, false]);
  });

  const anyOutput = fc
    .array(
      fc.oneof(
        fc.uint8Array({ maxLength: 6 }),
        fc
          .constantFrom('\x1b', '[', ']0;', '?', '1049', 'h', 'm', 'c', '\x1b\\', 'ä😀', '\u009b')
          .map((text) => Uint8Array.from(Buffer.from(text))),
      ),
      { maxLength: 30 },
    )
    .map((pieces) => Buffer.concat(pieces));

  it('means the same whatever pieces it comes in', () => {
    fc.assert(
      fc.property(anyOutput, fc.array(fc.nat(60)), (bytes, cuts) => {
        const filter = new PlayedBytes(ROWS, { newlines: true });
        const places = [0, ...cuts.map((at) => Math.min(at, bytes.length)), bytes.length];
        places.sort((a, b) => a - b);
        const pieces = places.slice(1).map((to, i) => filter.push(bytes.subarray(places[i], to)));
        const one = new PlayedBytes(ROWS, { newlines: true }).push(bytes);
        expect(Buffer.concat(pieces).equals(Buffer.from(one))).toBe(true);
      }),
    );
  });

  it('is whole characters, and sequences that are known, whatever was printed', () => {
    const known = /\x1b(?:\[\??[0-9;:]*[@A-HIJKLMPSTXZ`a-bd-hlmrsu]|[78DEHM]|[()][0AB])/g;
    fc.assert(
      fc.property(anyOutput, (bytes) => {
        const out = Buffer.from(new PlayedBytes(ROWS, { newlines: true }).push(bytes));
        const text = out.toString();
        expect(Buffer.from(text).equals(out)).toBe(true);
        expect(text.replace(known, '')).not.toMatch(/[\x00-\x07\x0b\x0c\x10-\x1f\x7f-\x9f]/);
      }),
    );
  });
});

describe('where a screen can be drawn from', () => {
  it('is where it was cleared last, else behind a line', () => {
    const from = (text: string): string => text.slice(drawnFrom(Buffer.from(text)));
    expect(from('old\x1b[2Jmore\x1b[?1049hnew')).toBe('\x1b[?1049hnew');
    expect(from('half a line\nnext\n')).toBe('next\n');
    expect(from('no end')).toBe('no end');
  });
});
