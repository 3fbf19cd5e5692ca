// What a person is asked about a command, what the person can answer, and what the agent is told
// about that. A question shows everything that a yes would cover.

import type { Decision } from '../policies/engine.ts';
import type { PatternExamples } from '../policies/pattern-rule.ts';
import { because } from '../policy/reasons.ts';
import { printable, quoteWord } from '../text/printable.ts';

const SHOWN_MAX = 4_000; // characters of a command in a question: what a person might read
const REASONS_MAX = 20;

/** What the agent asks for: the text, and whatever else it chose that changes what it does. */
export type GuardRequest = {
  readonly command: string;
  /** Absolute. */
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly stdin?: string | undefined;
  /** `stdin` comes by a terminal, as keys. */
  readonly tty?: boolean | undefined;
  readonly shell?: string | undefined;
  /** What a live shell has been typed before; `command` is what is typed next. */
  readonly typed?: { readonly into: string; readonly before: string } | undefined;
};

// Some clients show a list whose first line is chosen when the person presses Enter.
const CHOICES = [
  { value: 'deny', title: 'Do not run it' },
  { value: 'once', title: 'Allow it once' },
  { value: 'hour', title: 'Allow exactly this for an hour' },
  { value: 'conversation', title: 'Allow exactly this until this conversation ends' },
  { value: 'always', title: 'Always allow exactly this, as a rule of the project' },
  { value: 'pattern', title: 'Always allow what the pattern covers, as a rule of the project' },
] as const;

type Choice = (typeof CHOICES)[number];

export type ChoiceTerms = {
  /** No answer about a secret holds for longer than one run. */
  readonly secret: boolean;
  /** Keys are typed behind others, which never come again. */
  readonly typed: boolean;
  /** The conversation can be told from others. */
  readonly named: boolean;
  /** There is a pattern to show. */
  readonly pattern: boolean;
};

export function choicesFor({ secret, typed, named, pattern }: ChoiceTerms): readonly Choice[] {
  const offered: Readonly<Record<Choice['value'], boolean>> = {
    deny: true,
    once: true,
    hour: !secret && !typed,
    conversation: !secret && !typed && named,
    always: !secret,
    pattern: !secret && !typed && pattern,
  };
  return CHOICES.filter(({ value }) => offered[value]);
}

/** A pattern with what it would mean, for the end of a question. */
export function patternShown({ pattern, allows, refuses }: PatternExamples): string {
  const list = (texts: readonly string[]): readonly string[] =>
    texts.map((text) => `  ${text.split('\n').map(printable).join('\\n')}`);
  return [
    `The pattern \`${printable(pattern)}\` would always allow, for example:`,
    ...list(allows),
    'and would not allow:',
    ...list(refuses),
  ].join('\n');
}

export const SAID_NO = 'The person was asked and said no.';

export const SAID_NO_BEFORE =
  'The person said no to this a moment ago and is not asked again for five minutes.';

export type Answer = Choice['value'] | 'unasked' | 'unseen' | 'none';

/** What the agent is told about a question without an answer. */
export const UNANSWERED: Readonly<Partial<Record<Answer, readonly string[]>>> = {
  // There is no way to ask: nothing can be said about a person.
  unasked: [],
  unseen: [
    'The client answered without showing it: the answer came sooner than a person can read it.',
  ],
  none: ['The person was asked and gave no answer.'],
};

export function questionText(
  asked: GuardRequest,
  decision: Decision,
  redact: (text: string) => string,
): string {
  const { command, cwd, typed } = asked;
  const lines = [
    typed === undefined ? 'An agent wants to run:' : `An agent wants to type into ${typed.into}:`,
    '',
    shown(command, redact),
    '',
    `in ${shown(cwd, redact)}`,
    ...besideShown(asked, redact),
    '',
    ...reasonsShown(decision, redact),
  ];
  return lines.join('\n');
}

/** What comes with the command: a yes covers it, too. */
export function besideShown(
  { env, stdin, tty, shell, typed }: GuardRequest,
  redact: (text: string) => string,
): readonly string[] {
  const variables = Object.entries(env ?? {});
  const parts = [
    ...variables.map(([name, value]) => `with ${name}=${quoteWord(redact(value))}`),
    ...(shell === undefined ? [] : [`by ${shell}`]),
    ...(stdin === undefined
      ? []
      : [`with ${tty === true ? 'these keys' : 'this input'}:\n${stdin}`]),
    ...(typed === undefined ? [] : [`typed into ${typed.into}, behind this:\n${typed.before}`]),
  ];
  return parts.map((part) => shown(part, redact));
}

/** All of them: the first may be harmless. */
export function reasonsShown(
  { reasons, verdict }: Decision,
  redact: (text: string) => string,
): readonly string[] {
  const strictest = reasons.filter((reason) => reason.verdict === verdict);
  const all = [...new Set(strictest.map((reason) => shown(because(reason), redact)))];
  const more = all.length - REASONS_MAX;
  return more > 0 ? [...all.slice(0, REASONS_MAX), `(and ${more} reasons more)`] : all;
}

function shown(text: string, redact: (text: string) => string): string {
  const safe = redact(text).split('\n').map(printable).join('\n');
  const rest = safe.length - SHOWN_MAX;
  return rest > 0 ? `${safe.slice(0, SHOWN_MAX)}\n(and ${rest} characters more)` : safe;
}
