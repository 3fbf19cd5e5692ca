import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { COLUMNS_MAX, inkAfter, PLAIN, paint, plainText, raw } from '../../web/core/ansi.ts';

const textOf = (line: string) =>
  paint(line)
    .spans.map(({ text }) => text)
    .join('');

describe('a painted line', () => {
  it('has the colours that the escapes ask for, and carries them to the next line', () => {
    const first = paint('a \x1b[1;31mb\x1b[0m c \x1b[38;5;208md');
    expect(first.spans).toEqual([
      { text: 'a ', ink: {} },
      { text: 'b', ink: { bold: true, fg: 1 } },
      { text: ' c ', ink: {} },
      { text: 'd', ink: { fg: '#ff8700' } },
    ]);
    expect(paint('e', first.ink).spans).toEqual([{ text: 'e', ink: { fg: '#ff8700' } }]);
  });

  it('reads every form of a colour', () => {
    const turned = (parameters: string) => inkAfter({ bold: true, dim: true, fg: 3 }, parameters);
    expect(turned('')).toBe(PLAIN);
    expect(turned('22')).toEqual({ fg: 3 });
    expect(turned('39;4;97')).toEqual({ bold: true, dim: true, underline: true, fg: 15 });
    expect(turned('48;2;1;2;3')).toMatchObject({ bg: '#010203' });
    expect(turned('38:5:255')).toMatchObject({ fg: '#eeeeee' });
    expect(turned('38;5;7')).toMatchObject({ fg: 7 });
    expect(turned('38;5;900')).toMatchObject({ fg: 3 });
    expect(turned('38')).toMatchObject({ fg: 3 });
  });

  it('is what a terminal would have left of a progress bar', () => {
    expect(textOf('10%\r20%\r100% done')).toBe('100% done');
    expect(textOf('downloading\r\x1b[Kdone')).toBe('done');
    expect(textOf('abc\b\bX')).toBe('aXc');
    expect(textOf('ab\x1b[5Gx')).toBe('ab  x');
    expect(textOf('abcdef\x1b[3D\x1b[K')).toBe('abc');
    expect(textOf('abc\x1b[1Kd')).toBe('   d');
  });

  it('drops what is no text: links, titles, queries, half sequences', () => {
    const link = '\x1b]8;;https://evil.example/\x1b\\click\x1b]8;;\x1b\\';
    expect(textOf(link)).toBe('click');
    expect(textOf('\x1b]0;title\x07a\x1b[6nb\x1bPq#0\x1b\\c\x1b(Bd\x1b[?25le')).toBe('abcde');
    expect(textOf('a\x1b[31')).toBe('a31');
    expect(textOf('a\x1b')).toBe('a');
    expect(textOf('bell\x07')).toBe('bell');
  });

  it('shows what would hide or turn the text around', () => {
    expect(textOf('a\0b')).toBe('a␀b');
    expect(textOf('user\u202egnp.exe')).toBe('user⟨U+202E⟩gnp.exe');
    expect(textOf('pass\u200bword\ufeff')).toBe('pass⟨U+200B⟩word⟨U+FEFF⟩');
    expect(textOf('x\x9by')).toBe('x⟨U+009B⟩y');
    expect(textOf('<img src=x onerror=alert(1)>')).toBe('<img src=x onerror=alert(1)>');
  });

  it('is every byte as it is where colours are off', () => {
    expect(raw('\x1b[31mred\x1b[0m\r').spans).toEqual([{ text: '␛[31mred␛[0m␍', ink: {} }]);
  });

  it('stops where no screen shows more', () => {
    expect(textOf('x'.repeat(1_000_000))).toHaveLength(COLUMNS_MAX);
    expect(textOf(`\x1b[9999999999999C${'y'.repeat(10)}`).length).toBeLessThanOrEqual(
      COLUMNS_MAX + 10,
    );
  });

  it('never throws, never has a control character, and never is longer than a screen', () => {
    const pieces = fc.constantFrom(
      '\x1b[',
      '\x1b]',
      'm',
      ';',
      '31',
      '\r',
      '\b',
      'K',
      '\x07',
      'a',
      'ü',
      '😀',
      '\0',
    );
    const lines = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(pieces).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(lines, (line) => {
        const text = textOf(line.replaceAll('\n', ''));
        expect(text).not.toMatch(/[\x00-\x08\x0a-\x1f\x7f-\x9f\u202a-\u202e]/);
        expect(plainText(line.replaceAll('\n', ''))).toBeTypeOf('string');
      }),
    );
  });

  it('leaves text without control characters alone', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[ -~äöü€😀]*$/u), (line) => {
        expect(textOf(line)).toBe(line);
      }),
    );
  });
});
