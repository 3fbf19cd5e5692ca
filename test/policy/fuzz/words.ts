// Words of bash, in every way to write them: quotings, expansions, substitutions, patterns. What is
// inside a substitution is made by the caller, who knows commands.
import type { Chance } from './random.ts';
import { tangle } from './tangle.ts';

export type Inner = (depth: number) => string;

const PLAIN = ['a', 'b.txt', 'src', '-f', '--all', 'x=1', 'HEAD~1', '%s', 'a.ts', '1', '0', '-n'];
const NAMES = [
  'x',
  'y',
  'a',
  'HOME',
  'PATH',
  'IFS',
  'USER',
  '1',
  '@',
  '*',
  '#',
  '?',
  '$',
  '!',
  '_',
];
const OWN = ['x', 'y', 'z', 'a'];
const SAID = [
  "it's",
  'a b',
  '$HOME',
  '#no',
  'a;b',
  '`',
  '"',
  '\\',
  '*',
  '~',
  '{a,b}',
  '!',
  '',
  '\n',
];

/** A name that bash can assign to. */
export function variable(by: Chance): string {
  return by.once(12) ? by.pick(['PATH', 'HOME', 'LANG', 'IFS', 'USER']) : by.pick(OWN);
}

export function word(by: Chance, depth: number, inner: Inner): string {
  if (by.once(25)) return tangle(by, Math.max(depth, 2), inner);
  let made = piece(by, depth, inner);
  while (by.once(5)) made += piece(by, depth, inner);
  return made;
}

function piece(by: Chance, depth: number, inner: Inner): string {
  if (depth <= 0 || !by.once(3)) return simplePiece(by);
  return by.oneOf([
    () => substitution(by, depth - 1, inner),
    () => `"${quotedInside(by, depth - 1, inner)}"`,
    () => expansion(by, depth - 1, inner),
    () => `"${expansion(by, depth - 1, inner)}"`,
    () => `$"${quotedInside(by, depth - 1, inner)}"`,
    () => `$((${arithmetic(by, depth - 1, inner)}))`,
    () => `<(${inner(depth - 1)})`,
  ]);
}

function simplePiece(by: Chance): string {
  const kind = by.int(20);
  if (kind < 10) return by.pick(PLAIN);
  if (kind === 10) return single(by.pick(SAID));
  if (kind === 11) return `"${by.pick(SAID).replace(/["`$\\]/g, '\\$&')}"`;
  if (kind === 12) return dollarSingle(by, by.pick(['a b', 'x', 'touch', "it's", '$(ls)', 'é']));
  if (kind === 13) return `\\${by.pick(['a', ' ', '"', "'", '$', '\n', '#', ';', '\\', '*', '('])}`;
  if (kind === 14) return by.pick(['*', '?.txt', '*.ts', '[ab].txt', 'src/*', '[!x]*', '.*', '**']);
  if (kind === 15) return by.pick(['~', '~/x', '~+', '~nobody', 'a~', '~-', '~root/x', 'x=~']);
  if (kind === 16)
    return by.pick(['{a,b}', '{1..3}', 'x{a,}y', '{a}', '{,}', '{a,{b,c}}', '{a..c}']);
  if (kind === 17) return `$${by.pick(NAMES)}`;
  if (kind === 18) return `"$${by.pick(NAMES)}"`;
  return by.pick(["''", '""', "$''", '{}', '[', ']', '!', '=', '-', ':', '%', '@', '^', '+', ',']);
}

function single(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The same text as `$'...'`, each character written in one of its ways. */
export function dollarSingle(by: Chance, text: string): string {
  const made = [...text].map((letter) => {
    const code = letter.codePointAt(0) ?? 0;
    if (by.once(3) && code < 128) return `\\x${code.toString(16).padStart(2, '0')}`;
    if (by.once(4) && code < 128) return `\\${code.toString(8).padStart(3, '0')}`;
    if (by.once(5)) return `\\u${code.toString(16).padStart(4, '0')}`;
    return letter === "'" || letter === '\\' ? `\\${letter}` : letter;
  });
  const end = by.once(12) ? by.pick(['\\cA', '\\0x', '\\x00y', '\\e', '\\u00']) : '';
  return `$'${made.join('')}${end}'`;
}

/** A program's name, now and then disguised. */
export function disguised(by: Chance, name: string): string {
  const at = 1 + by.int(Math.max(1, name.length - 1));
  const [head, tail] = [name.slice(0, at), name.slice(at)];
  return by.oneOf([
    () => `\\${name}`,
    () => `${head}""${tail}`,
    () => `${head}'${tail}'`,
    () => `${head}\\\n${tail}`,
    () => `"${name}"`,
    () => dollarSingle(by, name),
    () => `${head}$'${tail}'`,
    () => `${head}\${nothing}${tail}`,
    () => `${head}$()${tail}`,
    () => `$(echo ${name})`,
    () => `\${x:-${name}}`,
    () => `{${name},${by.pick(['a', 'b c', '-f', '""'])}}`,
    () => `/bin/${name}`,
    () => `/b?n/${name}`,
    () => `$'${head}'"${tail}"`,
    () => `./evil/${by.pick(['git', 'ls'])}`,
  ]);
}

function quotedInside(by: Chance, depth: number, inner: Inner): string {
  let made = '';
  do {
    made += by.oneOf([
      () =>
        by.pick([
          'a',
          ' ',
          'b c',
          "'",
          '#',
          ';',
          '(',
          ')',
          '\\"',
          '\\$',
          '\\\\',
          '*',
          '~',
          '{a,b}',
        ]),
      () => `$${by.pick(NAMES)}`,
      () => substitution(by, depth, inner),
      () => expansion(by, depth, inner),
    ]);
  } while (!by.once(2));
  return made;
}

export function substitution(by: Chance, depth: number, inner: Inner): string {
  const made = inner(depth);
  return by.oneOf([
    () => `$(${made})`,
    () => `$( ${made} )`,
    () => `$(${made}\n)`,
    () => `\`${made.replace(/[\\`$]/g, by.once(2) ? '\\$&' : '$&')}\``,
    () => `$(${made} # it's )\n)`,
    () => `\${ ${made}; }`,
    () => `$(<${by.pick(['a.txt', 'b.txt', 'none'])})`,
  ]);
}

function expansion(by: Chance, depth: number, inner: Inner): string {
  const name = by.once(4) ? by.pick(NAMES) : by.pick(OWN);
  const text = (): string => (by.once(2) ? simplePiece(by) : word(by, depth, inner));
  return by.oneOf([
    () => `\${${name}${by.pick([':-', '-', ':+', '+', ':='])}${text()}}`,
    () => `\${${name}${by.pick(['#', '##', '%', '%%', '^', ',,'])}${text()}}`,
    () => `\${${name}${by.pick(['/', '//', '/#', '/%'])}${text()}/${text()}}`,
    () => `\${${name}:${arithmetic(by, depth, inner)}}`,
    () => `\${#${name}}`,
    () => `\${${name}[${subscript(by, depth, inner)}]}`,
    () => `\${${name}:-"${quotedInside(by, depth, inner)}"}`,
    () => `\${${name}:?}`,
    () => `\${${name}@${by.pick(['Q', 'E', 'P', 'A', 'U'])}}`,
    () => `\${!${by.pick(['x', 'y', 'a[@]', 'x*'])}}`,
  ]);
}

export function subscript(by: Chance, depth: number, inner: Inner): string {
  if (depth <= 0 || by.once(2)) return by.pick(['0', '1', '@', '*', 'x', '-1', 'y+1', '$x']);
  return by.oneOf([
    () => substitution(by, depth, inner),
    () => `a[${substitution(by, depth, inner)}]`,
    () => arithmetic(by, depth, inner),
    () => `"${substitution(by, depth, inner)}"`,
    () => `'$(${inner(depth)})'`,
  ]);
}

export function arithmetic(by: Chance, depth: number, inner: Inner): string {
  if (depth <= 0 || by.once(2)) {
    return by.pick(['1', '1+2', 'x', 'x=1', 'y++', '$x', '0x1f', '1<2', 'a[0]', '(1)', '1,2', '']);
  }
  return by.oneOf([
    () => `1+${substitution(by, depth, inner)}`,
    () => `a[${subscript(by, depth, inner)}]`,
    () => `x=${expansion(by, depth, inner)}`,
    () => `1 ? ${arithmetic(by, depth, inner)} : 2`,
    () => `"$x"`,
    () => `'a[$(${inner(depth)})]'`,
  ]);
}
