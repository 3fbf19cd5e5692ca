// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the text of a shell, not of a template
// No text whatever breaks the analysis, or takes it long.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { workOf } from '../../pace.ts';
import { read } from './shown.ts';

const HOSTILE: Readonly<Record<string, string>> = {
  statements: 'a;'.repeat(32_000),
  parentheses: '('.repeat(65_000),
  substitutions: '$('.repeat(32_000),
  quotedSubstitutions: '"$('.repeat(20_000),
  backquotes: '`a`'.repeat(21_000),
  braces: `echo ${'{a,b}'.repeat(12_000)}`,
  openBraces: 'echo {a,'.repeat(8_000),
  parameters: '${a:-'.repeat(12_000),
  arithmetic: '$(('.repeat(20_000),
  nestedArithmetic: `${'$(( ('.repeat(8_000)}${')'.repeat(20_000)}`,
  hereDocuments: 'cat <<E\n$(a)\nE\n'.repeat(4_000),
  loops: 'while a;do '.repeat(5_000),
  worlds: `for a in 1 2 3 4 5 6 7 8;do for b in 1 2 3 4;do ${'p $a $b;'.repeat(6_000)}done;done`,
  variables: Array.from({ length: 6_000 }, (_, at) => `v${at}=1`).join(';'),
  evals: `${'eval '.repeat(13_000)}a`,
  wrappers: `${'env '.repeat(16_000)}a`,
  doubling: `x=a;${'x=$x$x;'.repeat(9_000)}c $x`,
  cases: 'case a in a) '.repeat(5_000),
  backslashes: '\\'.repeat(65_000),
  functions: 'f(){ a;};'.repeat(7_000),
  expansions: `echo ${'${a}'.repeat(15_000)}`,
  tildes: `A=${'~:'.repeat(30_000)}`,
};

describe('limits', () => {
  it.each(Object.keys(HOSTILE))('%s end soon', (name) => {
    const text = (HOSTILE[name] ?? '').slice(0, 65_536);
    expect(text.length).toBeGreaterThan(1_000);
    expect(workOf(() => read(text))).toBeLessThan(450);
  });

  it('no text throws, and every span is inside of it', () => {
    const piece = fc.constantFrom(
      ...['$(', '${', '`', '"', "'", "$'", '\\', '\n', ' ', ';', '#', '<(', '<<E', 'E', '((', '))'],
      ...[
        '[[',
        ']]',
        '{',
        '}',
        ')',
        '(',
        '&',
        '|',
        'a',
        'x=',
        '$x',
        'case',
        'in',
        'esac',
        'if',
        'fi',
      ],
      ...[
        'for',
        'do',
        'done',
        'eval',
        'bash -c',
        '*',
        '~',
        '\r',
        'é',
        '\ud800',
        '=(',
        '[',
        ']',
        '<',
      ],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join('');
        const { units, problems } = read(text);
        for (const { span } of [...units, ...problems]) {
          if (span === undefined) continue;
          expect(span.from).toBeGreaterThanOrEqual(0);
          expect(span.to).toBeLessThanOrEqual(text.length + 1);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
