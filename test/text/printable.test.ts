import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printable, printableJson, processLine, quoteWords } from '../../src/text/printable.ts';

const OBEYED = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

describe('printable text', () => {
  it('shows what a terminal would obey', () => {
    expect(printable('a\x1b[2Jb\r\n\tc\x7f\x9bd\u202ee\u2028f\ud800g')).toBe(
      'a\\x1b[2Jb\\r\\n\\tc\\x7f\\x9bd\\u{202e}e\\u{2028}f\\u{d800}g',
    );
  });

  it('leaves all other text alone', () => {
    expect(printable('naïve 日本語 🎉 a\\nb')).toBe('naïve 日本語 🎉 a\\nb');
  });

  it('shows a shell of ours as what it runs, on one short line', () => {
    const shell = '/bin/bash --noprofile --norc -c ';
    expect(processLine(`${shell}{ sleep 9\n} &`, 40)).toBe('bash -c { sleep 9 } &');
    expect(processLine(`${shell}${'x'.repeat(40)}`, 12)).toBe('bash -c xxxx…');
    expect(processLine('bash --noprofile --norc -c x', 40)).toBe('bash --noprofile --norc -c x');
  });

  it('never has anything left to obey', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => !OBEYED.test(printable(text))));
  });
});

describe('printable JSON', () => {
  it('is the same value, with nothing in it to obey', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const json = printableJson({ text });
        expect(JSON.parse(json)).toEqual({ text });
        expect(json).not.toMatch(OBEYED);
      }),
    );
  });
});

describe('an argv as text', () => {
  it('is quoted only where a shell needs it', () => {
    expect(quoteWords(['sh', '-c', 'echo "a" b', '', "it's", 'x=1', '*'])).toBe(
      `sh -c 'echo "a" b' '' 'it'\\''s' x=1 '*'`,
    );
  });

  it('means the same words to a shell', () => {
    const word = fc.string({ unit: 'grapheme-ascii' }).filter((text) => !text.includes('\0'));
    fc.assert(
      fc.property(fc.array(word, { maxLength: 4 }), (words) => {
        const script = `for w in ${quoteWords(words)}; do printf '%s\\0' "$w"; done`;
        const out = execFileSync('sh', ['-c', script], { encoding: 'utf8' });
        expect(out.split('\0').slice(0, -1)).toEqual(words);
      }),
      { numRuns: 30 },
    );
  });
});
