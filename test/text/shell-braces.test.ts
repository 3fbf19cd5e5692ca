// Braces written out, as bash itself does it.
import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bracesExpanded, expandBraces } from '../../src/text/shell-braces.ts';
import { parseShell } from '../../src/text/shell-parse.ts';

/** What bash makes of each word: its results, every one in `<>`. */
function byBash(words: readonly string[]): readonly string[] {
  const script = words.map((word) => `printf '<%s>' ${word}; echo`).join('\n');
  const out = execFileSync('bash', ['-f', '-c', script], { encoding: 'utf8' });
  return out.split('\n').slice(0, -1);
}

function byUs(word: string): string {
  const [command] = parseShell(`x ${word}`).commands;
  const words = command === undefined ? [] : bracesExpanded(command).words.slice(1);
  return (words.length === 0 ? [''] : words.map(({ literal }) => literal))
    .map((w) => `<${w}>`)
    .join('');
}

describe('braces', () => {
  it('are written out as bash does it', () => {
    const choice = fc.stringMatching(/^[a-c/.]{0,2}$/);
    const { word } = fc.letrec<{ word: string }>((tie) => ({
      word: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom('a', '/', "'{a,b}'", '"{x,"', '\\{', '\\,', '"a,}"', "$'b'"),
        choice,
        fc.array(tie('word'), { minLength: 2, maxLength: 3 }).map((all) => `{${all.join(',')}}`),
        fc.tuple(tie('word'), tie('word')).map((both) => both.join('')),
      ),
    }));
    fc.assert(
      fc.property(fc.array(word, { minLength: 20, maxLength: 60 }), (words) => {
        const small = words.filter((text) => text !== '' && expandBraces(text).length < 32);
        expect(small.map(byUs)).toEqual(byBash(small));
      }),
      { numRuns: 20 },
    );
  });

  it('that are none stay as they are', () => {
    for (const text of [
      '{',
      '}',
      '{a}',
      '{a,b',
      'a,b}',
      '{1..3}',
      '"{a,b}"',
      '\\{a,b}',
      '{a\\,b}',
    ]) {
      expect(expandBraces(text)).toEqual([text]);
    }
  });

  it('are left alone where substitutions are, and when there are very many', () => {
    for (const text of ['{a,$(x)}', `{a,\${x}}`, '{a,`x`}', `{a,${'b'.repeat(300)}}`]) {
      expect(expandBraces(text)).toEqual([text]);
    }
    expect(expandBraces('{a,b}'.repeat(40))).toHaveLength(32);
    expect(expandBraces('{,}'.repeat(80)).length).toBeLessThanOrEqual(32);
  });
});
