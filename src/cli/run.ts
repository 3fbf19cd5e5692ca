// `derun run` and `cuff run`: flags, then `--`, then the command. Parsed by hand: a framework would
// cost more time than the rest of the start. A wrong call is refused before anything is touched.

import { stateRoot } from '../capture/paths.ts';
import { AppError } from '../errors.ts';
import { ownSettingsWith } from '../packing/own-settings.ts';
import { type ProxyEnd, type ProxyOptions, proxy } from '../shell/proxy.ts';
import { parseDuration } from '../text/duration.ts';
import { nameAndValue } from './name-and-value.ts';
import type { EntryFlags } from './run-journal.ts';
import { safeWords } from './safe-words.ts';
import { mendStreams } from './socket-streams.ts';

type Flags = { -readonly [K in keyof ProxyOptions]: ProxyOptions[K] } & {
  env?: Record<string, string>;
};

export const RUN_USAGE = {
  derun: 'derun run [--session-id <id>] [--retention <duration>] -- <command> [args...]',
  cuff:
    'cuff run [--session-id <id>] [--retention <duration>] [--tty|--no-tty] ' +
    '[--trace|--no-trace] [--kill-after <duration>] [--cwd <dir>] [--env NAME=VALUE]... ' +
    '[--strict] ' +
    '[--journal [--agent <name>] [--session <id>] [--tool-call <id>] [--description <text>]] ' +
    '-- <command> [args...]',
};

export async function runCommand(name: 'cuff' | 'derun', args: readonly string[]): Promise<void> {
  if (args[0] === '--help' || args[0] === '-h') {
    process.stdout.write(`usage: ${RUN_USAGE[name]}\n`);
    return;
  }
  const { flags, entry, argv } = parseRun(name, args);
  const options: ProxyOptions = { ...flags, ...(await liveIn(name)), over: encrypted };
  if (entry.journal !== true) return end(name, await proxy(argv, options));
  const { entryOfRun } = await import('./run-journal.ts');
  end(name, await proxy(argv, { ...options, entry: await entryOfRun(argv, flags, entry) }));
}

/** Where its capture is to be, if the user's own settings say anything of that. */
async function liveIn(name: string): Promise<Pick<ProxyOptions, 'live'>> {
  const named = ownSettingsWith('encryption', process.cwd(), process.env);
  if (!named.some(({ text }) => text.includes('live'))) return {};
  const { livePlace } = await import('../packing/live.ts');
  const live = livePlace(stateRoot(process.env), process.cwd(), process.env);
  if (live.kind === 'plain' && live.why !== undefined) {
    process.stderr.write(safeWords(`${name}: ${live.why}\n`));
  }
  return { live };
}

async function encrypted({ id, dir }: { id: string; dir: string | undefined }): Promise<void> {
  const named = ownSettingsWith('encryption', process.cwd(), process.env);
  if (dir === undefined || named.length === 0) return;
  await (await import('./encrypt-run.ts')).encryptRun(id, dir);
}

function parseRun(
  name: 'cuff' | 'derun',
  args: readonly string[],
): { flags: ProxyOptions; entry: EntryFlags; argv: readonly string[] } {
  const flags: Flags = {};
  const entry: EntryFlags = {};
  let i = 0;
  for (; i < args.length && args[i] !== '--'; i++) {
    const word = args[i] ?? '';
    if (!word.startsWith('--')) throw usage(name, `Unexpected '${word}' before '--'.`);
    const [flag, joined] = nameAndValue(word);
    const set = name === 'cuff' && joined === undefined ? SWITCHES[flag] : undefined;
    if (set !== undefined) {
      Object.assign(flags, set);
      continue;
    }
    if (name === 'cuff' && word === '--journal') {
      entry.journal = true;
      continue;
    }
    const value = joined ?? args[i + 1];
    if (!VALUED[name].includes(flag)) throw usage(name, `Unknown flag '${flag}'.`);
    if (value === undefined || (joined === undefined && value === '--')) {
      throw usage(name, `Flag '${flag}' needs a value.`);
    }
    const about = name === 'cuff' ? ENTRY_FLAGS[flag] : undefined;
    if (about === undefined) setValue(name, flags, flag, value);
    else entry[about] = value;
    if (joined === undefined) i++;
  }
  if (i === args.length) throw usage(name, "The command must follow '--'.");
  const argv = args.slice(i + 1);
  if (argv[0] === undefined || argv[0] === '') throw usage(name, "There is no command after '--'.");
  const [alone] = entry.journal === true ? [] : Object.keys(entry);
  if (alone !== undefined) throw usage(name, `'${flagOf(alone)}' is for the entry of --journal.`);
  return { flags, entry, argv };
}

const ENTRY_FLAGS: Readonly<Record<string, Exclude<keyof EntryFlags, 'journal'>>> = {
  '--agent': 'agent',
  '--session': 'session',
  '--tool-call': 'toolCall',
  '--description': 'description',
};

function flagOf(key: string): string {
  return Object.keys(ENTRY_FLAGS).find((flag) => ENTRY_FLAGS[flag] === key) ?? key;
}

const VALUED = {
  derun: ['--session-id', '--retention'],
  cuff: [
    ...['--session-id', '--retention', '--kill-after', '--cwd', '--env'],
    ...['--agent', '--session', '--tool-call', '--description'],
  ],
};

const SWITCHES: Readonly<Record<string, Flags>> = {
  '--tty': { tty: true },
  '--no-tty': { tty: false },
  '--trace': { trace: true },
  '--no-trace': { trace: false },
  '--strict': { strict: true },
};

function setValue(name: 'cuff' | 'derun', flags: Flags, flag: string, value: string): void {
  if (flag === '--session-id') flags.id = value;
  if (flag === '--retention') flags.retentionSeconds = seconds(name, value);
  if (flag === '--kill-after') flags.killAfterMs = positive(name, flag, value);
  if (flag === '--cwd') flags.cwd = value;
  if (flag === '--env') {
    const [variable, content] = nameAndValue(value);
    if (variable === '' || content === undefined) {
      throw usage(name, `--env wants NAME=VALUE, not '${value}'.`);
    }
    flags.env = { ...flags.env, [variable]: content };
  }
}

function positive(name: 'cuff' | 'derun', flag: string, value: string): number {
  const ms = parseDuration(value);
  if (ms === undefined) throw usage(name, `${flag} '${value}' is not a duration like 90s or 24h.`);
  if (ms <= 0) throw usage(name, `${flag} must be positive, not '${value}'.`);
  return ms;
}

function seconds(name: 'cuff' | 'derun', value: string): number {
  const ms = positive(name, '--retention', value);
  if (ms % 1000 !== 0) throw usage(name, `--retention must be whole seconds, not '${value}'.`);
  return ms / 1000;
}

function usage(name: 'cuff' | 'derun', message: string): AppError {
  return new AppError('usage', message, { hint: `usage: ${RUN_USAGE[name]}` });
}

/** This process ends as the command did: its code, its signal, 126 and 127 for a failed start. */
function end(name: string, { outcome, timedOut }: ProxyEnd): void {
  if (timedOut) process.exit(124);
  if (outcome.kind === 'exited') process.exit(outcome.code);
  if (outcome.kind === 'failed') {
    mendStreams();
    process.stderr.write(safeWords(`${name}: ${outcome.message}\n`));
    if (outcome.error === 'runner_lost') process.exit(1);
    process.exit(outcome.error === 'ENOENT' ? 127 : 126);
  }
  dieOf(outcome.signal);
}

const SIGRTMIN = 34; // Linux; Node has no names for real-time signals

function dieOf(name: string): void {
  const real = /^SIGRTMIN\+(\d+)$/.exec(name)?.[1];
  if (real !== undefined) {
    process.kill(process.pid, SIGRTMIN + Number(real));
    return;
  }
  const signal = name as NodeJS.Signals;
  // Adding and removing a listener gives the signal its default action back (Node ignores SIGPIPE).
  const nothing = (): void => undefined;
  if (signal !== 'SIGKILL' && signal !== 'SIGSTOP')
    process.on(signal, nothing).off(signal, nothing);
  process.kill(process.pid, signal);
}
