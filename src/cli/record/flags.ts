// The words behind `cuff record <subcommand>`, parsed by what the command says it takes. By hand,
// because `record list` must start at once; all subcommands share it, so that they read alike.

import { AppError } from '../../errors.ts';
import type { RecordCommand, RecordOption } from '../../recordings/commands.ts';
import {
  type JournalLocation,
  journalOf,
  locatedByName,
  projectOf,
  usualJournal,
} from '../../recordings/directory.ts';
import { parseSince } from '../../text/dates.ts';
import { printable } from '../../text/printable.ts';
import { nameAndValue } from '../name-and-value.ts';
import { say } from '../output.ts';
import { takeHome } from '../take-home.ts';
import { nameJournal, type OpenedJournal, openJournal } from './opened.ts';
import type { JournalSettings } from './record-settings.ts';

// A count larger than this is a slip of the finger.
const COUNT_DIGITS_MAX = 9;

export class Flags {
  readonly #command: RecordCommand;
  readonly #values: ReadonlyMap<string, string>;
  readonly #operands: readonly string[];
  #opened: Promise<OpenedJournal> | undefined;

  constructor(
    command: RecordCommand,
    values: ReadonlyMap<string, string>,
    operands: readonly string[],
  ) {
    this.#command = command;
    this.#values = values;
    this.#operands = operands;
  }

  on(flag: string): boolean {
    return this.#values.has(flag);
  }

  text(flag: string): string | undefined {
    const fallback = this.#command.options.find((option) => option.flag === flag)?.default;
    return this.#values.get(flag) ?? (fallback === undefined ? undefined : String(fallback));
  }

  count(flag: string): number {
    return Number(this.text(flag) ?? 0);
  }

  /** What stands where the command wants its argument; empty where it may be left out. */
  operand(): string {
    return this.#operands[0] ?? '';
  }

  /** `--json` or `--format`. */
  format(): string {
    return this.on('--json') ? 'json' : (this.text('--format') ?? 'table');
  }

  /** Epoch milliseconds, or undefined when it was not asked for. */
  since(flag = '--since'): number | undefined {
    const text = this.text(flag);
    if (text === undefined) return undefined;
    const at = parseSince(text, Date.now());
    if (at === undefined) {
      throw new AppError('usage', `Invalid date format '${printable(text)}'`, {
        hint: "Expected: YYYY-MM-DD or relative format (e.g., '7d', '2w', '1m')",
      });
    }
    return at;
  }

  /** The journal to read. Throws `journal_unreadable`. */
  journal(): Promise<OpenedJournal> {
    this.#opened ??= this.#open();
    return this.#opened;
  }

  async #open(): Promise<OpenedJournal> {
    await takeHome(process.cwd(), process.env);
    return openJournal(this.#known() ?? (await this.#settingsFor(process.cwd())));
  }

  /** The journal to write to; it need not exist. One that exists above is not meant. */
  async target(): Promise<string> {
    const located = this.#known() ?? (await this.#settingsFor(process.cwd()));
    const target = located.named ? located : journalOf(process.cwd(), process.env);
    nameJournal(target);
    return target.directory;
  }

  /** What is said about the journal in the settings of the project that has it. */
  async settings({ quiet = false } = {}): Promise<JournalSettings> {
    const known = this.#known();
    const project = known && projectOf(known.directory);
    return { ...(await this.#settingsFor(project ?? process.cwd(), quiet)), ...known };
  }

  #known(): JournalLocation | undefined {
    const name = this.text('--directory');
    if (name !== undefined) return locatedByName(name);
    return usualJournal(process.cwd(), process.env, this.on('--trust'));
  }

  async #settingsFor(cwd: string, quiet = false): Promise<JournalSettings> {
    const { journalSettings } = await import('./record-settings.ts');
    const settings = await journalSettings(cwd, process.env, this.on('--trust'));
    if (!quiet) for (const sentence of settings.waiting) say(sentence);
    return settings;
  }
}

/** Flags and operands may stand in any order; behind `--` there are only operands. */
export function parseFlags(command: RecordCommand, args: readonly string[]): Flags {
  const values = new Map<string, string>();
  const operands: string[] = [];
  for (let i = 0; i < args.length; i += 1) {
    const word = args[i] ?? '';
    if (word === '--') {
      operands.push(...args.slice(i + 1));
      break;
    }
    if (!word.startsWith('-') || word === '-') {
      operands.push(word);
      continue;
    }
    const [flag, joined] = nameAndValue(word);
    const option = command.options.find((one) => one.flag === flag);
    if (option === undefined) throw usage(command, `Unknown option '${printable(flag)}'`);
    if (option.type === 'flag') {
      if (joined !== undefined) throw usage(command, `Option '${flag}' takes no value`);
      values.set(flag, '');
      continue;
    }
    if (joined === undefined) i += 1;
    values.set(flag, checked(command, option, joined ?? args[i]));
  }
  checkOperands(command, operands, values);
  checkFormats(command, values);
  return new Flags(command, values, operands);
}

function checked(command: RecordCommand, option: RecordOption, value: string | undefined): string {
  const { flag, type, choices } = option;
  if (value === undefined) throw usage(command, `Option '${flag}' needs a value`);
  if (type === 'path' && value === '') throw usage(command, `Option '${flag}' is empty`);
  if (type === 'integer' && !(/^\d+$/.test(value) && value.length <= COUNT_DIGITS_MAX)) {
    throw usage(command, `Option '${flag}' wants a whole number, not '${printable(value)}'`);
  }
  if (choices !== undefined && !choices.includes(value)) {
    const known = choices.join(', ');
    throw usage(command, `Option '${flag}' is one of ${known}, not '${printable(value)}'`);
  }
  return value;
}

function checkOperands(
  command: RecordCommand,
  operands: readonly string[],
  values: ReadonlyMap<string, string>,
): void {
  const wanted = command.arguments[operands.length];
  const dispensable = wanted?.unless !== undefined && values.has(wanted.unless);
  if (wanted !== undefined && !dispensable) {
    throw usage(command, `Missing argument ${wanted.name}`);
  }
  const extra = operands[command.arguments.length];
  if (extra !== undefined) throw usage(command, `Unexpected argument '${printable(extra)}'`);
}

/** Two formats at once would leave a script with the one that it does not expect. */
function checkFormats(command: RecordCommand, values: ReadonlyMap<string, string>): void {
  const format = values.get('--format') ?? 'json';
  if (values.has('--json') && format !== 'json') {
    throw usage(command, `Options '--json' and '--format ${format}' contradict each other`);
  }
}

function usage(command: RecordCommand, message: string): AppError {
  return new AppError('usage', message, {
    hint: `Hint: Use 'cuff record ${command.name} --help' to see what it takes`,
  });
}
