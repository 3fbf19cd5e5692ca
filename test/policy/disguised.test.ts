// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the text of a shell, not of a template
// Every attack that is known, written otherwise: its words quoted or cut in two, the whole of it
// inside of something else, up to two times over. None may be allowed. `CUFF_LONG=1` tries many
// more, with another seed every time; `CUFF_SEED` repeats it.
import { expect, it } from 'vitest';
import type { Judgement } from '../../src/policy/decide.ts';
import { seedOf } from '../seed.ts';
import own from './fixtures/attacks.json' with { type: 'json' };
import { type Chance, chance } from './fuzz/random.ts';
import { judgement, PROJECT } from './helper.ts';

const LONG = process.env.CUFF_LONG === '1';
const SEED = seedOf('disguises');
const COUNT = LONG ? 100_000 : 3_000;

const single = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const double = (text: string): string => `"${text.replace(/["`$\\]/g, '\\$&')}"`;
const codes = (text: string, base: 8 | 16): string =>
  [...text].map((one) => `\\${base === 16 ? 'x' : ''}${digits(one, base)}`).join('');
const digits = (letter: string, base: 8 | 16): string =>
  letter
    .charCodeAt(0)
    .toString(base)
    .padStart(base === 8 ? 3 : 2, '0');
const cut = (word: string, by: string): string => word.slice(0, 1) + by + word.slice(1);

const QUOTINGS: readonly ((word: string) => string)[] = [
  single,
  double,
  (word) => `\\${word}`,
  (word) => `$'${word}'`,
  (word) => `$'${codes(word, 16)}'`,
  (word) => `$'${codes(word, 8)}'`,
  (word) => `$"${word}"`,
  (word) => `"${word.slice(0, 1)}"${word.slice(1)}`,
  ...["''", '""', '\\\n', '${nothing}', '$()', '$@', '${x#y}', '`true`'].map(
    (by) => (word: string) => cut(word, by),
  ),
];

const EMBEDDINGS: readonly ((text: string) => string)[] = [
  ...['true && ', 'echo a; ', '! ', 'true\n', '# c\n', 'false || ', 'cd . && ', '((1)) && '].map(
    (front) => (text: string) => front + text,
  ),
  ...['exec 3>&1; ', 'set -e; '].map((front) => (text: string) => front + text),
  (text) => `(${text}\n)`,
  (text) => `{ ${text}\n}`,
  (text) => `if true; then ${text}\nfi`,
  (text) => `for i in 1; do ${text}\ndone`,
  (text) => `while ${text}\ndo break; done`,
  (text) => `until ${text}\ndo :; done`,
  (text) => `select i in a; do ${text}\nbreak; done <<< 1`,
  (text) => `coproc { ${text}\n}`,
  (text) => `f() { ${text}\n}; f`,
  (text) => `${text} &`,
  ...['echo $(', 'z=$(', '[[ -n $(', 'a=($(', 'cat <('].map(
    (front) => (text: string) => `${front}${text}\n)${CLOSED[front] ?? ''}`,
  ),
  (text) => `echo "$(${text}\n)"`,
  (text) => `: "\${z:=$(${text}\n)}"`,
  (text) => `echo \${y:-$(${text}\n)}`,
  (text) => `case $(${text}\n) in a) ;; esac`,
  (text) => `cat <<E\n$(${text}\n)\nE`,
  (text) => `eval ${single(text)}`,
  (text) => `bash -c ${single(text)}`,
  (text) => `bash -c ${double(text)}`,
  (text) => `sh -c ${single(text)}`,
  (text) => `trap ${single(text)} EXIT`,
  (text) => `bash <<< ${single(text)}`,
  (text) => `bash <<'EOT'\n${text}\nEOT`,
  (text) => `code=${single(text)}; eval "$code"`,
  (text) => `code=${single(text)}; bash -c "$code"`,
  (text) => `echo ${single(text)} | bash`,
  (text) => `env bash -c ${single(text)}`,
  (text) => `timeout 5 bash -c ${single(text)}`,
  (text) => `xargs -I{} bash -c ${single(text)} <<< a`,
  (text) => `find . -maxdepth 0 -exec bash -c ${single(text)} \\;`,
];
const CLOSED: Readonly<Record<string, string>> = { '[[ -n $(': ' ]]', 'a=($(': ')' };

/** A word outside of quotes, written otherwise. */
function quotedSomewhere(text: string, by: Chance): string {
  const words = [...text.matchAll(/(?<![\w$'"\\{~-])[A-Za-z]{2,}(?![\w'"=(])/g)].filter(
    ({ index }) => {
      const before = text.slice(0, index);
      const quotes = ((before.split("'").length - 1) % 2) | ((before.split('"').length - 1) % 2);
      return quotes === 0 && !/<<\S*$|`|\\'|"\$\(/.test(before);
    },
  );
  if (words.length === 0) return text;
  const { 0: word, index } = by.pick(words);
  return text.slice(0, index) + by.pick(QUOTINGS)(word) + text.slice(index + word.length);
}

// `! cd .. && ls` lists where it is, a quoted `~root` is a name like any other, and a loop has none
// in quotes.
const OTHERWISE = /^cd\b|~root|\$\{x|^for [A-Z]/;

it('an attack that is written otherwise is not allowed', () => {
  const attacks = own.flatMap(({ rules, commands }) => {
    // Under the rules that it carries, and those that what is around it needs.
    const open = 'deny' in rules && rules.deny !== undefined;
    const around = open ? {} : { allow: [...(rules.allow ?? []), 'echo *', 'cat *', 'true'] };
    const judged = judgement({ default: open ? 'allow' : 'ask', ...rules, ...around });
    return commands
      .filter((command) => !OTHERWISE.test(command) && !allows(judged, command))
      .map((command) => ({ judged, command }));
  });
  expect(attacks.length).toBeGreaterThan(1_000);
  const by = chance(SEED);
  const allowed: string[] = [];
  for (let count = 0; count < COUNT; count += 1) {
    const { judged, command } = by.pick(attacks);
    let text = command;
    for (let times = by.int(3); times > 0; times -= 1) text = quotedSomewhere(text, by);
    for (let times = by.int(3); times > 0; times -= 1) text = by.pick(EMBEDDINGS)(text);
    if (allows(judged, text)) allowed.push(`${JSON.stringify(command)}: ${JSON.stringify(text)}`);
  }
  expect(allowed, `CUFF_SEED=${SEED}`).toEqual([]);
});

function allows(judged: Judgement, text: string): boolean {
  return judged.decide(text, PROJECT).verdict === 'allow';
}
