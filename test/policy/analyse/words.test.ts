// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the text of a shell, not of a template
// Words are what bash makes of them: compared with the arguments that a program really gets.
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Arg } from '../../../src/policy/unit.ts';
import { read } from './shown.ts';

/** What a program gets from these commands, each a list of words. */
function reallyGets(lines: readonly string[]): readonly (readonly string[])[] {
  const text = lines.map((line) => `show ${line}`).join('\n');
  const show = 'show() { printf "%s\\0" "$@"; printf "\\1\\0"; }';
  const { stdout } = spawnSync('bash', ['--norc', '-c', `${show}\nset -f\n${text}\n`], {
    env: { HOME: '/h', LC_ALL: 'C.UTF-8', PATH: process.env.PATH },
    encoding: 'utf8',
  });
  const ends = stdout.split('\x01\0').slice(0, -1);
  // printf writes one empty string when there is nothing.
  return ends.map((one) => one.split('\0').slice(0, -1));
}

function literals(line: string): readonly string[] {
  const { units, problems } = read(`show ${line}`);
  expect(problems).toEqual([]);
  const argv = units.at(-1)?.argv.slice(1) ?? [];
  return argv.map((arg: Arg) => {
    if (arg.kind === 'literal') return arg.value;
    return arg.kind === 'glob' ? arg.pattern.replace(/\\(.)/gs, '$1') : `unknown ${arg.source}`;
  });
}

function quoted(value: string, how: number): string {
  const characters = [...value];
  switch (how) {
    case 0:
      return `'${value.replaceAll("'", "'\\''")}'`;
    case 1:
      return `"${value.replace(/[\\"$`]/g, '\\$&')}"`;
    case 2:
      return characters.map((one) => (one === '\n' ? "'\n'" : `\\${one}`)).join('') || "''";
    case 3:
      return `$'${characters.map(octal).join('')}'`;
    case 4:
      return `$'${characters.map(hexadecimal).join('')}'`;
    default: {
      const half = Math.floor(characters.length / 2);
      const [first, second] = [characters.slice(0, half), characters.slice(half)];
      return `${quoted(first.join(''), 0)}\\\n${quoted(second.join(''), 1)}`;
    }
  }
}

const bytes = (one: string) => [...Buffer.from(one)];
const octal = (one: string) =>
  bytes(one)
    .map((byte) => `\\${byte.toString(8).padStart(3, '0')}`)
    .join('');
const hexadecimal = (one: string) =>
  bytes(one)
    .map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`)
    .join('');

describe('words', () => {
  it('are those of bash, however they are quoted', () => {
    const value = fc.string({
      unit: fc.constantFrom(...' \t\nab1$`\'"\\*?[]{},~#!;&|()<>=:-/.^é\u00a0\r\u{1f600}'),
      maxLength: 8,
    });
    const word = fc.array(fc.tuple(value, fc.integer({ min: 0, max: 5 })), {
      minLength: 1,
      maxLength: 3,
    });
    const lines = fc.array(fc.array(word, { minLength: 1, maxLength: 3 }), {
      minLength: 8,
      maxLength: 8,
    });
    fc.assert(
      fc.property(lines, (list) => {
        const texts = list.map((line) =>
          line.map((parts) => parts.map(([one, how]) => quoted(one, how)).join('')).join(' '),
        );
        expect(texts.map(literals)).toEqual(reallyGets(texts));
      }),
      { numRuns: 60 },
    );
  });

  it('have their braces expanded as bash does', () => {
    const part = fc.constantFrom(
      ...[
        '{',
        '}',
        ',',
        '..',
        'a',
        'b',
        '1',
        '3',
        '10',
        '01',
        '-',
        '{a,b}',
        '{1..3}',
        '{',
        '}',
        ',',
      ],
      ...['""', "'x,y'", '\\{', '\\,', '{c..a}', '{1..7..3}', '.', '{}', '~'],
    );
    const word = fc.array(part, { minLength: 1, maxLength: 9 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.array(word, { minLength: 12, maxLength: 12 }), (words) => {
        const texts = words
          .map((one) => `x${one}`)
          .filter((one) => read(`show ${one}`).problems.length === 0);
        expect(texts.map(literals)).toEqual(reallyGets(texts));
      }),
      { numRuns: 60 },
    );
  });

  const table = [
    "$'a\\'b' $'\\t\\e\\a\\b\\f\\v\\?\\\"' $'\\cB\\c[' $'\\u00e9\\U1F600'",
    "$'a\\0b'c $'\\z' $'\\400'",
    '"a\\b\\$c\\"d\\`e\\\\f" "a\\\nb" $"loc" "\'" \'"\' "$" "a$" $ "$\'x\'"',
    'a\\\nb \\a\\ \\b "" \'\' ""a \'\'"" ',
    '~ ~/x a~ "~" \\~ ~"/x" x=~/y x=a:~/z x=~:~ -x=~ ~"u" =~',
    '$HOME ${HOME}x "$HOME"/y \'$HOME\' \\$HOME',
    'a#b "#" \\# a=#',
    '{a,b}{1,2} {a,{b,c}} {a,b {} {a} x{,y} {1..3} {3..1} {a..c} {01..10..4} "{a,b}" {"a,b",c}',
    '{1..3}{a,b} -{x,y} a{b,c}d{e,f}g {a..c..2} {-2..2} {..} {a..} {,} {,,}x',
    '[ ] [a] [[ {  } ! = == time if then',
    'é \u00a0 a\u00a0b \u2003 a\rb',
    'a\\\n\\\nb "\\\n" c\\\n d',
  ];
  it.each(table)('%j', (line) => {
    expect(literals(line)).toEqual(reallyGets([line])[0]);
  });

  it('are split like bash does where a variable is not quoted', () => {
    const setup = 'x=" a  b "; y="c\td"; z=;';
    const line = '$x 1$x"2"$y $z "$z" ""$z a${x}b $x$y "$x$y"';
    const script = `${setup} set -f; printf '%s\\0' ${line}`;
    const { stdout } = spawnSync('bash', ['-c', script], { encoding: 'utf8' });
    const argv = read(`${setup} show ${line}`).units.at(-1)?.argv.slice(1) ?? [];
    expect(argv.map((arg) => (arg.kind === 'literal' ? arg.value : arg))).toEqual(
      stdout.split('\0').slice(0, -1),
    );
  });

  it.each([
    ['a*', 'a*', 'a'],
    ['src/"x*"/?', 'src/x\\*/?', 'src/x*/'],
    ['[ab]c', '[ab]c', ''],
    ['~/x/*.c', '/h/x/*.c', '/h/x/'],
  ])('%j is a pattern', (word, pattern, prefix) => {
    expect(read(`c ${word}`).units[0]?.argv[1]).toMatchObject({ kind: 'glob', pattern, prefix });
  });
});
