import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compilePattern, PatternError, quotedWord } from '../../src/policy/pattern.ts';

const HOLES = '<path>, <int>, <rev>, <range>, <word>, <url> and <url:host>';
const KNOWN = `known are ${HOLES}, and quotes make it a word`;

/** Each variant as text: literals as they are, holes by their kind. */
function shown(pattern: string): string[] {
  return compilePattern(pattern).map(({ words }) =>
    words
      .map((word) => {
        if (word.kind === 'literal') return word.value;
        return word.kind === 'partial' ? `/${word.lead}/` : `<${word.kind}>`;
      })
      .join(' '),
  );
}

describe('a pattern', () => {
  it.each([
    ['git status', ['git status']],
    ['git log *', ['git log <rest>']],
    ['cp * dist', ['cp <one> dist']],
    ['git {add,rm} *', ['git add <rest>', 'git rm <rest>']],
    ['ls [-l] src', ['ls src', 'ls -l src']],
    ['head [-n <int>] *', ['head <rest>', 'head -n // <rest>']],
    ['echo \'*\' "{a,b}" \\<int>', ['echo * {a,b} <int>']],
    ['a{b,c}d{e,f}', ['abde', 'abdf', 'acde', 'acdf']],
    ['a {single}', ['a {single}']],
    ["'[' -f x ']'", ['[ -f x ]']],
    ['[ -f x ]', ['[ -f x ]']],
    ['pip install .[dev]', ['pip install .[dev]']],
    ['kubectl logs --tail=<int>', ['kubectl logs /--tail=/']],
  ])('%j has the variants %j', (pattern, variants) => {
    expect(shown(pattern)).toEqual(variants);
  });

  it.each([
    ['', 'the pattern is empty'],
    ["git 'log", "the quote ' is never closed"],
    ['ls [-l src', 'the [ of an optional word is never closed'],
    ['echo {a,b}{c,d}{e,f}{g,h}{i,j}{k,l}{m,n}', 'it has more than 64 variants'],
    ['echo *a*b*c*d*', 'a word has more than 3 holes'],
    ['x <int:host>', '<int> takes no host; only <url:host> does'],
    ['x <url:http://a/b>', '<url:http://a/b> has to have a host alone, as in <url:example.org>'],
    ['x <url:>', `<url:> is no hole; ${KNOWN}`],
    ['rm <file>', `<file> is no hole; ${KNOWN}`],
    ['rm --x=<paht>', `<paht> is no hole; ${KNOWN}`],
    ['rm <path', `<path is no hole; ${KNOWN}`],
  ])('%j is refused: %s', (pattern, message) => {
    expect(() => compilePattern(pattern)).toThrow(new PatternError(message));
  });

  it.each([
    ['x <int>', ['7', '0'], ['-7', 'a', '7a', '']],
    ['x <rev>', ['main', 'HEAD~1', 'v1.2.3', 'feature/x'], ['-x', '--all', 'a b', '']],
    ['x <range>', ['1,20', '7', 'main...HEAD', 'a..b', 'a..'], ['-1', 'main', 'a b']],
    ['x <word>', ['a', '@x', 'a=b'], ['-a', 'a b', '']],
    ['x <path>', ['a', './-a', 'a b'], ['-a', '']],
    ['x <url>', ['http://a/b'], ['ftp://a', 'a', '-a']],
    ['x --n=<int>', ['--n=1'], ['--n=', '--n=a', '--m=1']],
    ['x src/*.ts', ['src/a.ts', 'src/b/c.ts'], ['lib/a.ts', 'src/a.js']],
    ['x *.ts', ['a.ts'], ['-a.ts']],
  ])('%j has a hole for %j and none for %j', (pattern, inside, outside) => {
    const word = compilePattern(pattern)[0]?.words[1];
    const matches = (text: string): boolean => word?.kind === 'partial' && word.regex.test(text);
    expect(inside.filter((text) => !matches(text))).toEqual([]);
    expect(outside.filter(matches)).toEqual([]);
  });

  it('takes a quoted word literally, whatever is in it', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (word) => {
        expect(compilePattern(`x ${quotedWord(word)}`)).toEqual([
          {
            source: `x ${quotedWord(word)}`,
            words: [
              { kind: 'literal', value: 'x' },
              { kind: 'literal', value: word },
            ],
          },
        ]);
      }),
    );
  });

  it('means the same when its words are quoted, stars apart', () => {
    const word = fc.oneof(
      fc.constantFrom('*', '**', ']', '}', ',', '>', '&&', '--a=b', '\u00e9'),
      fc.stringMatching(/^[\w\]},>=.-]{1,4}$/),
    );
    const gap = fc.constantFrom(' ', '\t', '  ', '\u00a0');
    const words = ([one]: ReturnType<typeof compilePattern>) => one?.words;
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), gap, (all, space) => {
        const quoted = all.map((text) => (text.startsWith('*') ? text : `'${text}'`));
        const slowly = `${quoted.join(space)} ''`;
        expect(words(compilePattern(`${all.join(space)} x`))?.slice(0, -1)).toEqual(
          words(compilePattern(slowly))?.slice(0, -1),
        );
        const stars = words(compilePattern([...all, '*'].join(space)));
        expect(stars).toEqual(words(compilePattern(`${[...quoted, "''*"].join(space)}`)));
      }),
    );
  });

  it('is compiled or refused with a sentence, never otherwise', () => {
    const piece = fc.oneof(
      fc.constantFrom('*', '<int>', '{a,b}', '[x', ']', "'", '"', '\\', ' ', '<', '{', ',', '}'),
      fc.string({ maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        try {
          compilePattern(pieces.join(''));
        } catch (error) {
          expect(error).toBeInstanceOf(PatternError);
        }
      }),
    );
  });
});
