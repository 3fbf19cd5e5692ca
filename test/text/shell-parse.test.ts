// What counts as a command, a word and a literal; and that no text whatever breaks the parser.
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseShell, type SimpleCommand } from '../../src/text/shell-parse.ts';
import { workOf } from '../pace.ts';

function words({ words }: SimpleCommand): readonly string[] {
  return words.map(({ literal, source }) => literal ?? `?${source}`);
}

const argvs = (text: string) => parseShell(text).commands.map(words);

describe('the simple commands of a text', () => {
  it.each<[string, string[][]]>([
    ['a b', [['a', 'b']]],
    ['a; b & c\nd', [['a'], ['b'], ['c'], ['d']]],
    ['a && b || c | d |& e', [['a'], ['b'], ['c'], ['d'], ['e']]],
    ['(a); { b; }; ! c; time d', [['a'], ['b'], ['c'], ['d']]],
    ['if a; then b; elif c; then d; else e; fi', [['a'], ['b'], ['c'], ['d'], ['e']]],
    ['for x in $(a); do b; done; while c; do d; done', [['a'], ['b'], ['c'], ['d']]],
    ['case $(a) in x) b;; *) c;; esac', [['a'], ['b'], ['c']]],
    ['f() { a; }; function g { b; }; coproc c', [['a'], ['b'], ['c']]],
    ['x $(a `b`) "$(c)"', [['x', '?$(a `b`)', '?"$(c)"'], ['a', '?`b`'], ['b'], ['c']]],
    ['x <(a) >(b)', [['x', '?<(a)', '?>(b)'], ['a'], ['b']]],
    ['[[ -n $(a) ]] && (( 1 + $(b) ))', [['a'], ['b']]],
    [`echo "$\{x:-$(a)}"`, [['echo', `?"$\{x:-$(a)}"`], ['a']]],
    ['V=$(a) b', [['b'], ['a']]],
    ['V=(1 $(a))', [[], ['a']]],
    ['x `a \\`b\\``', [['x', '?`a \\`b\\``'], ['a', '?`b`'], ['b']]],
    ['cat <<E\n$(a) b\nE\nc', [['cat'], ['a'], ['c']]],
    ["cat <<'E'\n$(a) b\nE\nc", [['cat'], ['c']]],
    ['cat <<-E | b\n\t`a`\n\tE', [['cat'], ['a'], ['b']]],
    ['a # b; c\nd', [['a'], ['d']]],
    [`echo 'a; b' "c; d" e\\;f`, [['echo', 'a; b', 'c; d', 'e;f']]],
    ['> x', [[]]],
    ['', []],
    ['# only this', []],
  ])('of %j', (text, expected) => {
    expect(argvs(text)).toEqual(expected);
    expect(parseShell(text).ok).toBe(true);
  });

  it('have their place in the text, except where it had to be decoded first', () => {
    const text = 'cd "x y" && $(git -C d "com"mit) `a \\$b`';
    const { commands } = parseShell(text);
    const git = commands[2];
    expect(git?.words.map(({ span }) => span && text.slice(span.from, span.to))).toEqual([
      'git',
      '-C',
      'd',
      '"com"mit',
    ]);
    expect(git?.span && text.slice(git.span.from, git.span.to)).toBe('git -C d "com"mit');
    expect(commands[3]?.words.map(({ span }) => span)).toEqual([undefined, undefined]);
  });

  it('have their redirections, as they are written', () => {
    const [first] = parseShell('A=1 c 2>>log <<<"in" &>all <<E\nbody $x\nE').commands;
    expect(first?.redirections).toEqual(['log', '"in"', 'all', 'body $x\n']);
  });

  it('are those before the place where the text stops making sense', () => {
    const { ok, commands } = parseShell('a; b ) c');
    expect(ok).toBe(false);
    expect(commands.map(words)).toEqual([['a'], ['b']]);
    expect(parseShell('echo "never closed').ok).toBe(false);
    expect(parseShell('x $(if)').ok).toBe(false);
  });
});

describe('the pipelines of a text', () => {
  it('are those at the top, with their stages', () => {
    const { pipelines } = parseShell('a | { b; } | [[ x ]] && c; if d | e; then f; fi &');
    expect(
      pipelines.map(({ stages, background }) => [stages.map(({ kind }) => kind), background]),
    ).toEqual([
      [['simple', 'compound', 'test'], false],
      [['simple'], false],
      [['compound'], true],
    ]);
  });
});

describe('a word', () => {
  it.each<[string, string | undefined]>([
    ['abc', 'abc'],
    ['""', ''],
    [`a'b'"c"\\d`, 'abcd'],
    ["'*'", '*'],
    ['\\*', '*'],
    ['"a\\"b\\$c\\d"', 'a"b$c\\d'],
    ["$'a\\tb\\x41'", 'a\tbA'],
    ['com\\\nmit', 'commit'],
    ['"com\\\nmit"', 'commit'],
    ['{}', '{}'],
    ['a=b', 'a=b'],
    ['a~', 'a~'],
    ['"~"', '~'],
    ['$x', undefined],
    ['"$x"', undefined],
    ['a*', undefined],
    ['~/x', undefined],
    ['{a,b}', undefined],
    ['$((1))', undefined],
    ['@(a|b)', undefined],
    ['A=~/x', undefined],
    ['A=x:~/y', undefined],
    ['a-b=~', 'a-b=~'],
  ])('%s is literally %j', (source, literal) => {
    expect(parseShell(`x ${source}`).commands[0]?.words[1]?.literal).toBe(literal);
  });

  it('has pieces that say what is text and what is not', () => {
    expect(parseShell('x ~me/"a b"*{c,d}$e').commands[0]?.words[1]?.pieces).toEqual([
      { kind: 'tilde', source: '~me' },
      { kind: 'text', value: '/a b' },
      { kind: 'glob', source: '*' },
      { kind: 'brace', source: '{c,d}' },
      { kind: 'expansion', source: '$e' },
    ]);
  });

  it('is not known where a tilde is assigned, also behind a joined line', () => {
    expect(argvs('x a=~ b=\\\n~ c=d:\\\n~ e=~f')).toEqual([
      ['x', '?a=~', '?b=\\\n~', '?c=d:\\\n~', '?e=~f'],
    ]);
  });

  it('of an argument that assigns is a word like any other', () => {
    expect(argvs('export A=1 B="x y" C=$z')).toEqual([['export', 'A=1', 'B=x y', '?C=$z']]);
  });

  it('is literally what bash makes of it', () => {
    const part = fc.constantFrom(
      ...['a', 'Z', '=', '/', '.', ':', '-', '{}', '~', '\\ ', '\\\\', '\\*', '\\"', "\\'", '\\\n'],
      ...[
        '#',
        "'x y'",
        "'$z'",
        "'\\'",
        '"p q"',
        '"\\$"',
        '"\\a"',
        '"\'"',
        "$'\\n'",
        "$'\\''",
        '""',
      ],
    );
    // Behind an x: a tilde or a comment begins only where a word does.
    const source = fc.array(part, { maxLength: 8 }).map((parts) => `x${parts.join('')}`);
    const assignedTilde = /=(?:.*:)?~/s;
    fc.assert(
      fc.property(fc.array(source, { minLength: 1, maxLength: 20 }), (sources) => {
        const plain = sources.filter((each) => !assignedTilde.test(each.replaceAll('\\\n', '')));
        const text = `printf '%s\\0' '' ${plain.join(' ')}`;
        const { stdout } = spawnSync('bash', ['-c', text], { cwd: '/', encoding: 'utf8' });
        const literals = parseShell(text).commands[0]?.words.map(({ literal }) => literal);
        expect(literals?.slice(3)).toEqual(stdout.split('\0').slice(1, -1));
      }),
      { numRuns: 60 },
    );
  });
});

describe('any text at all', () => {
  const openers = [
    ...['$(', '`', '"', "'", '(', '{', '{a,', '<(', '${x:-', '$((', '$[', '[[ ', '\\', '{`a b`'],
    ...['if ', 'case x in ', '<<A\n', '<<"A"\n', 'f() {', 'coproc ', 'function f ', 'while a; do '],
    ...['! ', 'time ', 'x=(', '@(', '{"a b"', '{$(a b)', 'cat <<A$(', '\0', '\ud800', '"${x:-$('],
  ];
  const closers = [')', '}', 'fi', ';', '\n', ' ', ']', 'A\n', 'a', '|', '&', '#', 'done', '))'];

  // The bound is generous: what it is there for took minutes.
  const quickly = (text: string): void => {
    expect(
      workOf(() => parseShell(text)),
      text.slice(0, 40),
    ).toBeLessThan(450);
  };

  it.each(openers)('is parsed in bounded time: 64 KB of %j', (opener) => {
    quickly(opener.repeat(Math.ceil(65_536 / opener.length)));
  });

  it('is parsed without an exception, in bounded time: 64 KB of garbage', () => {
    const piece = fc.oneof(fc.constantFrom(...openers, ...closers), fc.string({ maxLength: 8 }));
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        if (text !== '') quickly(text.repeat(Math.ceil(65_536 / text.length)));
      }),
      { numRuns: 40 },
    );
  });

  it('gives words whose places hold their source', () => {
    const piece = fc.constantFrom(...openers, ...closers, 'git', 'commit');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const text = pieces.join('');
        for (const word of parseShell(text).commands.flatMap((command) => command.words)) {
          if (word.span) expect(text.slice(word.span.from, word.span.to)).toBe(word.source);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('that no kernel would run is not looked at', () => {
    expect(parseShell(`a ${'x'.repeat(131_072)}`)).toEqual({
      ok: false,
      commands: [],
      pipelines: [],
    });
  });

  it('that is long and full of braces is parsed like any other', () => {
    const code = "function f(a) { return a.map((b) => ({ ...b, c: `b` })); } // don't\n";
    const text = `cat > f.js <<'EOF'\n${code.repeat(1_500)}EOF\ngit commit -m x`;
    const { ok, commands } = parseShell(text);
    expect(ok).toBe(true);
    expect(commands.map(words)).toEqual([['cat'], ['git', 'commit', '-m', 'x']]);
  });
});
