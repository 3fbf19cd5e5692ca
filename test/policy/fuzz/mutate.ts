// Makes new snippets of old ones: a character less or more, two of them cut and joined, one inside
// of another. Ordinary commands are the best to begin with: what is nearly right parses.
import type { Chance } from './random.ts';

const NASTY = [
  ...['"', "'", '`', '$', '\\', '(', ')', '{', '}', '[', ']', '<', '>', '|', '&', ';', '\n', ' '],
  ...['#', '!', '*', '?', '~', '=', '\r', '\t', '\u00a0', '\u2028', '\u0001', '\u007f', '\v', '\f'],
  ...[
    '$(',
    '${',
    '$((',
    '))',
    '<<',
    '<<EOF\n',
    '\nEOF\n',
    '<(',
    '>(',
    "$'",
    '$"',
    '&&',
    '||',
    ';;',
  ],
  ...[
    '\\\n',
    '[[',
    ']]',
    '((',
    '{a,b}',
    '$@',
    '$x',
    'EOF',
    '<<<',
    '2>&1',
    '>&',
    '|&',
    ' do ',
    ' # ',
  ],
  ...[
    'touch z',
    '$(touch z)',
    '`touch z`',
    ';touch z;',
    '\ntouch z\n',
    ' x=',
    '@',
    '%',
    '^',
    'é',
    ',',
  ],
];

export function mutated(by: Chance, pool: readonly string[], other: () => string): string {
  let made = by.once(2) ? by.pick(pool) : other();
  if (by.once(6)) made = embedded(by, made, by.once(2) ? 'touch embedded' : by.pick(pool));
  for (let count = 1 + by.int(3); count > 0; count -= 1) made = changed(by, made, pool);
  return made;
}

function changed(by: Chance, text: string, pool: readonly string[]): string {
  const at = by.int(text.length + 1);
  const length = 1 + by.int(by.once(4) ? 8 : 2);
  return by.oneOf([
    () => text.slice(0, at) + text.slice(at + length),
    () => text.slice(0, at + length) + text.slice(at),
    () => text.slice(0, at) + by.pick(NASTY) + text.slice(at),
    () => text.slice(0, at) + by.pick(NASTY) + text.slice(at),
    () => text.slice(0, at) + by.pick(NASTY) + text.slice(at + 1),
    () => {
      const spliced = by.pick(pool);
      return text.slice(0, at) + spliced.slice(by.int(spliced.length + 1));
    },
  ]);
}

/** One command inside, behind or before another. */
function embedded(by: Chance, one: string, two: string): string {
  return by.oneOf([
    () => `${one}; ${two}`,
    () => `${one} && ${two}`,
    () => `${one}\n${two}`,
    () => `${one} | ${two}`,
    () => `${one} & ${two}`,
    () => `${one} "$(${two})"`,
    () => `${one} \`${two}\``,
    () => `(${one}; ${two})`,
    () => `if true; then ${one}; ${two}; fi`,
    () => `for i in 1; do ${one}\n${two}\ndone`,
    () => `f() { ${two}\n}; ${one}; f`,
    () => `bash -c '${two.replaceAll("'", "'\\''")}'; ${one}`,
    () => `cat <<EOF\n$(${two})\nEOF\n${one}`,
    () => `${one} # ${two}`,
  ]);
}
