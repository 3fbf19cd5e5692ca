// Lines that look like errors, for answers that cannot show all of an output: by the words that
// compilers, test runners and shells use, not by what they mean. Lines that say that nothing went
// wrong ("0 errors", "✓ fails on errors") do not count.

import { shapeOf } from './fold.ts';

const LENGTH_MAX = 2_000; // characters of a line that are looked at
const SHOWN_MAX = 200; // characters of a line that are shown
const PICKED_MAX = 5;

const HARMLESS =
  /\b(?:0|no|without) (?:errors?|failures?|failed)\b|\b(?:errors?|fail\w*)\s*[:=]\s*0\b/gi;
const PASSED = /^\s*(?:[✓✔√]|ok\b|PASS\b)/;

/** What a program says of the error itself. */
const STRONG = new RegExp(
  [
    '\\b[A-Z]\\w*(?:Error|Exception)\\b',
    '(?:^|[^\\w/.-])(?:error|Error|ERROR|fatal|Fatal|FATAL)(?:\\[\\w+\\])?(?: \\w{1,10})?\\s*[:!]',
    '(?:^|\\s)(?:FAIL|FAILED|FAILURE|[✗✖✕×]|not ok)(?:\\s|:|$)',
    '^E\\s{2,}\\S|^e: ',
    'panicked at|^panic: |Traceback \\(most|[Ss]egmentation fault|core dumped',
    '(?:undefined|[Uu]nresolved) reference|command not found|No such file|Permission denied',
    '\\*\\*\\* \\[.*\\] Error \\d',
    'npm ERR!|\\bERR_[A-Z_]{3,}|\\bCRITICAL\\b',
    '[Oo]ut of memory|^Killed\\b|[Cc]onnection refused|[Cc]ould not (?:resolve|find|connect)',
    ': not found$',
  ].join('|'),
);

/** What it says around it. */
const WEAK = /\b(?:errors?|fail(?:ed|ures?|s)?|fatal|exception|aborted|denied|cannot|unable to)\b/i;

/** Every line of either kind has one of these: most lines are done with after one look. */
const HINT = new RegExp(
  'err|fail|fatal|except|panic|traceback|fault|dumped|reference|not found|no such|denied|not ok|' +
    'abort|cannot|could not|unable|refused|killed|out of mem|critical|[✗✖✕×]|^e[:\\s]',
  'i',
);

export type ErrorWeight = 'none' | 'weak' | 'strong';

export function errorWeight(line: string): ErrorWeight {
  const start = line.length > LENGTH_MAX ? line.slice(0, LENGTH_MAX) : line;
  if (!HINT.test(start) || PASSED.test(start)) return 'none';
  const rest = start.replace(HARMLESS, '');
  if (STRONG.test(rest)) return 'strong';
  return WEAK.test(rest) ? 'weak' : 'none';
}

export type ErrorLine = { readonly number: number; readonly text: string };

/** The first few of the lines that look like errors, and how many there are. */
export type ErrorLines = { readonly lines: readonly ErrorLine[]; readonly count: number };

/** Lines that say the error itself go before those around it; each kind of line counts once. */
export class ErrorPick {
  readonly #picked = { strong: new Map<string, ErrorLine>(), weak: new Map<string, ErrorLine>() };
  readonly #count = { strong: 0, weak: 0 };

  add(number: number, text: string): void {
    const weight = errorWeight(text);
    if (weight === 'none') return;
    this.#count[weight] += 1;
    const picked = this.#picked[weight];
    if (picked.size >= PICKED_MAX) return;
    const shape = shapeOf(text.slice(0, LENGTH_MAX));
    if (!picked.has(shape)) picked.set(shape, { number, text: shortened(text) });
  }

  get result(): ErrorLines {
    const weight = this.#count.strong > 0 ? 'strong' : 'weak';
    return { lines: [...this.#picked[weight].values()], count: this.#count[weight] };
  }
}

function shortened(text: string): string {
  const characters = [...text.slice(0, SHOWN_MAX * 2)];
  if (characters.length <= SHOWN_MAX && text.length <= SHOWN_MAX * 2) return text;
  return `${characters.slice(0, SHOWN_MAX).join('')}…`;
}
