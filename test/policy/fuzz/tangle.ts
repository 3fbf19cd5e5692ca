// Words in which quotes, expansions, substitutions and braces stand inside of one another, all of
// them closed: where two readers disagree about what ends what, it is here.
import type { Chance } from './random.ts';
import type { Inner } from './words.ts';

const OPEN = [
  'a',
  'b',
  '-f',
  '*',
  '?',
  '~',
  '=',
  ',',
  '..',
  '1',
  '/',
  '%',
  '#',
  ':',
  '!',
  '@',
  '+',
];
const ESCAPED = ['"', "'", '$', '`', '\\', '{', '}', ',', ' ', '\n', 'a', '*', '~', '#', '(', ')'];
const SAID = ['a', ' ', '"', '$x', '`', '{a,b}', '}', '\\', '$(touch s)', '{', ',', '#', '(', '\n'];
const OPERATORS = [':-', '-', '+', ':+', '=', '#', '%', '/', '//', '^', ':='];
const NAMES = ['x', 'y', 'z', '1', '@', '*', '#', 'HOME'];

export function tangle(by: Chance, depth: number, inner: Inner): string {
  return knot(by, { depth, quoted: false, inner });
}

type Where = { readonly depth: number; readonly quoted: boolean; readonly inner: Inner };

function knot(by: Chance, where: Where): string {
  let made = '';
  do made += thread(by, where);
  while (!by.once(3));
  return made;
}

function thread(by: Chance, { depth, quoted, inner }: Where): string {
  if (depth <= 0) return plain(by, quoted);
  const deeper = { depth: depth - 1, quoted, inner };
  const inside = { ...deeper, quoted: true };
  const bare = { ...deeper, quoted: false };
  return by.oneOf([
    () => plain(by, quoted),
    () => (quoted ? plain(by, true) : `"${knot(by, inside)}"`),
    () => `\${${by.pick(NAMES)}${by.pick(OPERATORS)}${knot(by, deeper)}}`,
    // Quotes of its own, also inside of quotes.
    () => `\${${by.pick(NAMES)}${by.pick(OPERATORS)}"${knot(by, inside)}"}`,
    () => `$(${by.once(2) ? inner(depth - 1) : `touch ${knot(by, bare)}`})`,
    () => `\`touch ${knot(by, bare)}\``,
    () => `{${knot(by, deeper)},${knot(by, deeper)}}`,
    () => `$((1+${by.pick(['1', '$x', '"1"', `$(touch ${knot(by, bare)})`])}))`,
    () => `${by.pick(['$', ''])}"${knot(by, inside)}"`,
  ]);
}

function plain(by: Chance, quoted: boolean): string {
  return by.oneOf([
    () => by.pick(OPEN),
    () => `\\${by.pick(ESCAPED)}`,
    () => (quoted ? by.pick(["'", '{', '}', ' ', ';']) : `'${by.pick(SAID)}'`),
    () => (quoted ? '$x' : `$'${by.pick(['a', '\\x27', '\\n', '\\"', '{'])}'`),
    () => by.pick(['$x', '$@', '$*', '$$', '$', '{a,b}', '{}', '{1..2}']),
  ]);
}
