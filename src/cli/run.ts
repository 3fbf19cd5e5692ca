// `derun run` and `cuff run`: flags, then `--`, then the command. Parsed by hand: a framework would
// cost more time than the rest of the start. Whatever is wrong is said before anything is touched.

import { AppError } from '../errors.ts';
import { type ProxyEnd, type ProxyOptions, proxy } from '../shell/proxy.ts';
import { parseDuration } from '../text/duration.ts';
import { safeWords } from './safe-words.ts';

type Flags = { -readonly [K in keyof ProxyOptions]: ProxyOptions[K] } & {
  env?: Record<string, string>;
};

export const RUN_USAGE = {
  derun: 'derun run [--session-id <id>] [--retention <duration>] -- <command> [args...]',
  cuff:
    'cuff run [--session-id <id>] [--retention <duration>] [--tty|--no-tty] ' +
    '[--trace|--no-trace] [--kill-after <duration>] [--cwd <dir>] [--env NAME=VALUE]... ' +
    '[--strict] ' +
    '-- <command> [args...]',
};

export async function runCommand(name: 'cuff' | 'derun', args: readonly string[]): Promise<void> {
  if (args[0] === '--help' || args[0] === '-h') {
    process.stdout.write(`usage: ${RUN_USAGE[name]}\n`);
    return;
  }
  const { flags, argv } = parseRun(name, args);
  end(name, await proxy(argv, flags));
}

function parseRun(
  name: 'cuff' | 'derun',
  args: readonly string[],
): { flags: ProxyOptions; argv: readonly string[] } {
  const flags: Flags = {};
  let i = 0;
  for (; i < args.length && args[i] !== '--'; i++) {
    const word = args[i] ?? '';
    if (!word.startsWith('--')) {
      throw usage(name, `Unexpected '${word}' before '--'.`);
    }
    const [flag = '', joined] = split(word);
    if (name === 'cuff' && joined === undefined && setSwitch(flags, flag)) continue;
    const value = joined ?? args[i + 1];
    if (!known(name, flag)) throw usage(name, `Unknown flag '${flag}'.`);
    if (value === undefined || (joined === undefined && value === '--')) {
      throw usage(name, `Flag '${flag}' needs a value.`);
    }
    setValue(name, flags, flag, value);
    if (joined === undefined) i++;
  }
  if (i === args.length) throw usage(name, "The command must follow '--'.");
  const argv = args.slice(i + 1);
  if (argv[0] === undefined || argv[0] === '') throw usage(name, "There is no command after '--'.");
  return { flags, argv };
}

function split(word: string): [string, string | undefined] {
  const at = word.indexOf('=');
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}

function known(name: 'cuff' | 'derun', flag: string): boolean {
  const common = ['--session-id', '--retention'];
  return (name === 'cuff' ? [...common, '--kill-after', '--cwd', '--env'] : common).includes(flag);
}

function setSwitch(flags: Flags, flag: string): boolean {
  if (flag === '--tty') flags.tty = true;
  else if (flag === '--no-tty') flags.tty = false;
  else if (flag === '--trace') flags.trace = true;
  else if (flag === '--no-trace') flags.trace = false;
  else if (flag === '--strict') flags.strict = true;
  else return false;
  return true;
}

function setValue(name: 'cuff' | 'derun', flags: Flags, flag: string, value: string): void {
  if (flag === '--session-id') flags.id = value;
  if (flag === '--retention') flags.retentionSeconds = seconds(name, value);
  if (flag === '--kill-after') flags.killAfterMs = positive(name, flag, value);
  if (flag === '--cwd') flags.cwd = value;
  if (flag === '--env') {
    const [variable = '', content] = split(value);
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
