// The arguments of a call, held against the schema of its tool. What is wrong is one sentence that
// names the argument and what it should be; nothing is guessed, rounded or converted. Only what the
// schemas of dialects use is understood: strings, integers, booleans, enums, maps of strings. For
// an unknown argument the sentence names the one that is probably meant: models carry the names of
// one tool into the next (`cmd` for `command`, `wait` for `wait_ms`), and by letters alone `cmd`
// would be nearest to `cwd`.

import type { ToolDefinition } from '../host/plugin.ts';
import { asObject, jsonText } from '../text/json.ts';
import { printable } from '../text/printable.ts';
import { nearest, quoted } from '../text/problems.ts';

export type Args = Readonly<Record<string, unknown>>;

/** A call that cannot be meant; its message is the answer. */
export class ArgumentError extends Error {}

const SHOWN_MAX = 60; // of a wrong value

export const COMMAND_BYTES_MAX = 131_071; // what Linux takes as one argument

/** The arguments that were given. Some clients say null for what they leave out. */
export function checkedArguments({ name, parameters }: ToolDefinition, args: Args): Args {
  const properties = asObject(parameters.properties) ?? {};
  const known = Object.keys(properties);
  refuseUnknown(name, args, known);
  const given = Object.entries(args).filter(([, value]) => value !== null && value !== undefined);
  const required = Array.isArray(parameters.required) ? parameters.required.map(String) : [];
  const missing = required.find((one) => !given.some(([key]) => key === one));
  if (missing !== undefined) {
    const { description } = asObject(properties[missing]) ?? {};
    throw new ArgumentError(
      `${name} needs the argument ${missing}: ${printable(`${description}`)}.`,
    );
  }
  for (const [key, value] of given) checkValue(key, value, asObject(properties[key]) ?? {});
  return Object.fromEntries(given);
}

/** An argument that is silently ignored would have been meant. */
export function refuseUnknown(tool: string, args: Args, known: readonly string[]): void {
  const stranger = Object.keys(args).find((one) => !known.includes(one));
  if (stranger === undefined) return;
  const meant = meantName(stranger, known);
  const others = known.length === 0 ? 'it takes none.' : `known are ${known.join(', ')}.`;
  const what = meant === undefined ? others : `did you mean ${quoted(meant)}?`;
  throw new ArgumentError(`${tool} has no argument ${shown(stranger)}; ${what}`);
}

/** Arguments of other shells that models send out of habit, and that mean nothing here. */
export type ForeignArguments = readonly string[];

/** Without those, and with a line that says so where one of them would have changed something. */
export function withoutForeign(
  args: Args,
  foreign: ForeignArguments,
): { readonly args: Args; readonly notes: readonly string[] } {
  const entries = Object.entries(args);
  const kept = entries.filter(([name]) => !foreign.includes(name));
  const ignored = entries
    .filter(([name, value]) => foreign.includes(name) && value !== false && value !== null)
    .map(([name]) => name);
  const notes =
    ignored.length === 0 ? [] : [`[ignored, it has no meaning here: ${ignored.join(', ')}]`];
  return { args: Object.fromEntries(kept), notes };
}

/** A number that was sent as a text is the number. */
export function withNumbers({ parameters }: ToolDefinition, args: Args): Args {
  const properties = asObject(parameters.properties) ?? {};
  const taken = ([name, value]: [string, unknown]): [string, unknown] => {
    const { type } = asObject(properties[name]) ?? {};
    const numeric = type === 'integer' || type === 'number';
    const whole = typeof value === 'string' && /^\d{1,15}$/.test(value);
    return [name, numeric && whole ? Number(value) : value];
  };
  return Object.fromEntries(Object.entries(args).map(taken));
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** Throws when it is empty or longer than a program can be given. */
export function commandOf(args: Args, key = 'command'): string {
  const command = args[key];
  if (typeof command !== 'string' || command.trim() === '') {
    throw new ArgumentError(`${key} is empty: give the command to run.`);
  }
  const bytes = Buffer.byteLength(command);
  if (bytes > COMMAND_BYTES_MAX) {
    const limit = `at most ${COMMAND_BYTES_MAX} can be given`;
    throw new ArgumentError(`${key} has ${bytes} bytes and ${limit}: write a file and run that.`);
  }
  return command;
}

function checkValue(name: string, value: unknown, schema: Readonly<Record<string, unknown>>): void {
  const allowed = Array.isArray(schema.enum) ? schema.enum : undefined;
  if (allowed !== undefined && !allowed.includes(value)) {
    throw wrong(name, `one of ${allowed.join(', ')}`, value);
  }
  if (schema.type === 'string') checkText(name, value);
  if (schema.type === 'boolean' && typeof value !== 'boolean') {
    throw wrong(name, 'true or false', value);
  }
  if (schema.type === 'integer' || schema.type === 'number') checkNumber(name, value, schema);
  if (schema.type !== 'object') return;
  const map = asObject(value);
  if (map === undefined) throw wrong(name, 'an object of strings', value);
  for (const [key, one] of Object.entries(map)) {
    if (key === '' || /[=\0]/.test(key)) throw wrong(name, 'an object of variables', key);
    checkText(`${name}.${printable(key)}`, one);
  }
}

function checkText(name: string, value: unknown): void {
  if (typeof value !== 'string') throw wrong(name, 'a string', value);
  if (value.includes('\0')) throw new ArgumentError(`${name} must not contain a NUL character.`);
}

/** Also where a schema says `number`, as those of other tools do: milliseconds, tokens and ids. */
function checkNumber(
  name: string,
  value: unknown,
  { minimum, maximum }: Readonly<Record<string, unknown>>,
): void {
  const least = typeof minimum === 'number' ? minimum : Number.MIN_SAFE_INTEGER;
  const most = typeof maximum === 'number' ? maximum : Number.MAX_SAFE_INTEGER;
  if (Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most) return;
  const from = typeof minimum === 'number' ? ` from ${minimum}` : '';
  const to = typeof maximum === 'number' ? ` up to ${maximum}` : '';
  throw wrong(name, `a whole number${from}${to}`, value);
}

function wrong(name: string, what: string, value: unknown): ArgumentError {
  return new ArgumentError(`${name} must be ${what}, not ${shown(value)}.`);
}

/** A wrong value, as far as it helps to see it. */
export function shown(value: unknown): string {
  const characters = [...printable(jsonText(value) ?? String(value))];
  if (characters.length <= SHOWN_MAX) return characters.join('');
  return `${characters.slice(0, SHOWN_MAX).join('')}…`;
}

/** Names of one thing, in tools that models know. */
const SAME: readonly (readonly string[])[] = [
  ['command', 'cmd', 'commands', 'script', 'code'],
  ['cwd', 'workdir', 'working_directory', 'working_dir', 'directory', 'dir'],
  ['background', 'run_in_background', 'is_background', 'detach'],
  ['id', 'bash_id', 'shell_id', 'task_id', 'session_id', 'run_id'],
  ['timeout', 'timeout_ms', 'timeout_seconds', 'wait_ms', 'yield_time_ms'],
  ['max_bytes', 'max_output_tokens', 'max_output_length', 'max_output'],
  ['stdin', 'chars', 'input'],
  ['pattern', 'query', 'filter', 'for'],
];

/** The known name that is most probably meant, if one is. */
export function meantName(word: string, known: readonly string[]): string | undefined {
  const bare = bareName(word);
  return (
    known.find((one) => bareName(one) === bare) ??
    only(known.filter((one) => SAME.some((names) => names.includes(one) && has(names, bare)))) ??
    nearest(word, known) ??
    only(known.filter((one) => sharesWord(one, word)))
  );
}

function has(names: readonly string[], bare: string): boolean {
  return names.some((one) => bareName(one) === bare);
}

/** `runInBackground` and `run-in-background` are `run_in_background`. */
function bareName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** `wait` and `wait_ms`, `slow` and `slow_ok`. */
function sharesWord(one: string, word: string): boolean {
  const words = one.split('_');
  return words.includes(word.toLowerCase()) || word.toLowerCase().split(/[_-]/).includes(one);
}

function only<T>(found: readonly T[]): T | undefined {
  return found.length === 1 ? found[0] : undefined;
}
