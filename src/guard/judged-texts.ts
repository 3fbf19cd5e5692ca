// What a policy is asked about when a command comes with more than its text: variables, input, a
// shell of its own, or as keys for a terminal. Each is put into a text that does the same, and the
// strictest word on any of them counts: a text more can only tighten. What is larger than anything
// that is analysed is not looked at here either.

import { quoteWord } from '../text/printable.ts';

/** What takes the input of a command, as far as its text tells. */
export type Reader =
  /** Programs to which it is nothing but text. */
  | { readonly kind: 'text' }
  /** One shell, from the start: its commands. */
  | { readonly kind: 'shell'; readonly shell: string }
  /** Others, shells maybe among them: whatever these make of it. */
  | { readonly kind: 'other'; readonly name: string; readonly shells: readonly string[] };

export type JudgedChoice = {
  readonly command: string;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly stdin?: string | undefined;
  readonly shell?: string | undefined;
  /** The name of the shell that the settings want, where the agent has no word on it. */
  readonly settingsShell?: string | undefined;
  readonly typed?: { readonly into: string; readonly before: string } | undefined;
  /** Its input comes by a terminal, as keys. */
  readonly tty?: boolean | undefined;
  /** Of the command, or of the one that is typed into. Without it the worst is supposed. */
  readonly reader?: Reader | undefined;
};

const LENGTH_MAX = 65_536; // the analysis reads no more

const UNKNOWN_READER: Reader = { kind: 'other', name: 'program', shells: ['bash'] };

/** There is nothing to judge in it. */
const NOTHING = '';

/** Never empty. */
export function judgedTexts(chosen: JudgedChoice): readonly string[] {
  const { command, env, stdin, typed, tty, reader = UNKNOWN_READER } = chosen;
  if (typed !== undefined) {
    const texts = keyTexts(`${typed.before}${command}`, reader);
    return texts.length === 0 ? [NOTHING] : texts;
  }
  const variables = Object.entries(env ?? {});
  return [
    command,
    ...(variables.length === 0 ? [] : [withVariables(variables, command)]),
    ...(stdin === undefined ? [] : inputTexts(command, stdin, reader)),
    ...(stdin === undefined || tty !== true ? [] : keyTexts(stdin, reader)),
    ...otherShell(chosen),
  ];
}

/** The one that reads as the analysis does. Another program of that name is another program. */
export function isBash(shell: string): boolean {
  return /^(?:(?:\/usr)?\/bin\/)?bash$/.test(shell);
}

function otherShell({ command, shell, settingsShell }: JudgedChoice): readonly string[] {
  const by = shell ?? settingsShell;
  return by === undefined || isBash(by) ? [] : [scriptOf(by, command)];
}

/** The text as that shell gets it. */
export function scriptOf(shell: string, text: string): string {
  if (isBash(shell)) return text;
  // Rules are written with plain words, so it is quoted only where it must be.
  const word = /^[\w./-]+$/.test(shell) ? shell : quoteWord(shell);
  return `${word} -c ${quoteWord(text)}`;
}

function withVariables(variables: readonly [string, string][], command: string): string {
  // bash imports functions from names that no assignment can set, as `BASH_FUNC_ls%%`.
  const set = variables.map(([name, value]) =>
    /^[A-Za-z_]\w*$/.test(name) ? `export ${name}=${quoteWord(value)}` : unseen('variable'),
  );
  return `${set.join('\n')}\n${command}`;
}

function inputTexts(command: string, input: string, reader: Reader): readonly string[] {
  if (command.length + input.length > LENGTH_MAX) return [`${command}\n${input}`];
  const both = withInput(command, input);
  return [both, ...shellsOf(reader).map((shell) => scriptOf(shell, input))];
}

function shellsOf(reader: Reader): readonly string[] {
  if (reader.kind === 'text') return [];
  return reader.kind === 'shell' ? [reader.shell] : reader.shells;
}

function withInput(command: string, input: string): string {
  const like = [...input.matchAll(/CUFF_INPUT(_*)/g)].map(([, rest = '']) => rest.length);
  const mark = `CUFF_INPUT${'_'.repeat(1 + Math.max(-1, ...like))}`;
  return `{ ${command}\n} <<'${mark}'\n${input}\n${mark}\n`;
}

const INTERRUPTS = /^[\x03\x04\x1a\x1c]+$/;

/** Keys that end, interrupt or suspend, and nothing else: they run nothing. */
export function onlyInterrupts(keys: string): boolean {
  return INTERRUPTS.test(keys);
}

/**
 * Keys that change a line that was typed, or bring back another one. Beyond ASCII everything may be
 * one: what that is to a terminal depends on the locale.
 */
const EDITS = /[\x00-\x02\x05-\x09\x0b\x0c\x0e-\x19\x1b\x1d-\x1f\x7f-\uffff]/;

const INTERRUPTS_MAX = 8;

/** From the start: what a word means may have been said long before. */
function keyTexts(keys: string, reader: Reader): readonly string[] {
  if (reader.kind === 'text') return [];
  if (keys.length > LENGTH_MAX) return [keys];
  const parts = keys.replace(/\r\n?/g, '\n').split(/[\x03\x04\x1a\x1c]+/);
  // An interrupt may have thrown away what was typed before it, or not.
  const from = parts.slice(0, INTERRUPTS_MAX).map((_, at) => parts.slice(at).join(''));
  const [all = '', ...rest] = from;
  const texts = [all, ...rest.filter((text) => text !== '')];
  const clear =
    reader.kind === 'shell' &&
    parts.length <= INTERRUPTS_MAX &&
    !EDITS.test(all) &&
    !(/bash$/.test(reader.shell) && recallsHistory(all));
  const read = shellsOf(reader).flatMap((shell) => texts.map((text) => scriptOf(shell, text)));
  if (clear) return read;
  const into = reader.kind === 'other' ? reader.name : reader.shell;
  return [...read, unseen(`keys_typed_into_${into}`)];
}

/**
 * Whether an interactive bash could put other words in place of these. It knows quotes of its own
 * for that, a line at a time: single ones are believed where no others are about.
 */
function recallsHistory(text: string): boolean {
  const lines = text.split('\n');
  const replaces = lines.some((line) => line.trimStart().startsWith('^'));
  if (text.includes('histchars') || replaces) return true;
  const plain = !/["\\`#$]/.test(text) && lines.every((line) => line.split("'").length % 2 === 1);
  return (plain ? text.replace(/'[^'\n]*'/g, '') : text).includes('!');
}

/**
 * Whatever reads this cannot know what it runs: no rule can allow the one half of it, and what is
 * judged when it starts does not make up for the other.
 */
function unseen(what: string): string {
  const value = `"$${what.replace(/\W/g, '_')}"`;
  return `${value}; eval ${value}`;
}
