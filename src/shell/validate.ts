// Refuses invalid calls with a `usage` error before anything is written or started. Types catch
// most of them in TypeScript; JavaScript callers and outside values have only this.

import { constants } from 'node:os';
import { AppError } from '../errors.ts';

const TRANSPORTS: readonly unknown[] = ['pipe', 'merged', 'socket', 'pty'];
const VIEWS: readonly unknown[] = ['tail', 'head', 'middle', 'raw'];

const GRACE_MS_MAX = 3_600_000; // the runner's own limit

type Given = Readonly<Record<string, unknown>>;

/** The keys of `StartOptions`. */
export const START_OPTIONS: readonly string[] = [
  ...['id', 'cwd', 'env', 'transport', 'stdin', 'killAfterMs', 'graceMs', 'retentionSeconds'],
  ...['size', 'output', 'shown', 'journal', 'owner', 'keptBytes', 'trace', 'traceEnv', 'gate'],
  ...['sandbox', 'signal'],
];

/** Throws `usage`. */
export function refuseStart(command: unknown, options: Given): void {
  const stranger = Object.keys(options).find((name) => !START_OPTIONS.includes(name));
  if (stranger !== undefined) {
    refuse(`start has no option ${JSON.stringify(stranger)}; docs/library.md lists those it has`);
  }
  const words = wordsOf(command);
  if (words === undefined) {
    refuse("A command is a text, or { kind: 'argv', argv: [program, ...] } with strings");
  }
  const { transport, killAfterMs, graceMs } = options;
  if (transport !== undefined && !TRANSPORTS.includes(transport)) {
    refuse(`transport must be one of ${TRANSPORTS.join(', ')}`, transport);
  }
  if (killAfterMs !== undefined && !isWhole(killAfterMs, 1)) {
    refuse('killAfterMs must be a whole number of milliseconds from 1', killAfterMs);
  }
  refuseGrace(graceMs);
  refuseNul([...words, ...variables(options.env)]);
}

/** Throws `usage`. */
export function refuseKill({ signal, graceMs }: Given): void {
  const name = typeof signal === 'string' ? `SIG${signal.replace(/^SIG/, '')}` : '';
  if (!(name in constants.signals) && !/^SIGRT(MIN|MAX)?/.test(name)) {
    refuse('signal must be the name of a signal, such as TERM', signal);
  }
  refuseGrace(graceMs);
}

/** Throws `usage`. */
export function refuseView(options: unknown): void {
  const kind = isObject(options) ? options.kind : undefined;
  if (!VIEWS.includes(kind)) refuse(`kind of a view must be one of ${VIEWS.join(', ')}`, kind);
}

/** Throws `usage`. `Infinity` waits for as long as it takes. */
export function refuseWait(waitMs: unknown): void {
  if (typeof waitMs === 'number' && waitMs >= 0) return;
  refuse('waitMs must be a number of milliseconds from 0', waitMs);
}

function refuseGrace(graceMs: unknown): void {
  if (graceMs === undefined || isWhole(graceMs, 0, GRACE_MS_MAX)) return;
  refuse(`graceMs must be a whole number of milliseconds up to ${GRACE_MS_MAX}`, graceMs);
}

function wordsOf(command: unknown): readonly string[] | undefined {
  if (typeof command === 'string') return [command];
  if (!isObject(command)) return undefined;
  const { kind, text, shell = '', argv } = command;
  if (kind === 'shell') return strings([text, shell]);
  if (kind !== 'argv' || !Array.isArray(argv) || argv.length === 0) return undefined;
  return strings(argv);
}

function variables(env: unknown): readonly string[] {
  if (env === undefined) return [];
  if (!isObject(env)) refuse('env must be an object of strings', env);
  return Object.entries(env).flatMap(([name, value]) => {
    if (name === '' || name.includes('=')) refuse('a name in env must be one of a variable', name);
    if (typeof value !== 'string') refuse(`env.${name} must be a string`, value);
    return [name, value];
  });
}

function strings(all: readonly unknown[]): readonly string[] | undefined {
  return all.every((one) => typeof one === 'string') ? all : undefined;
}

/** execve(2) cannot pass a NUL, and the runner's protocol ends words with it. */
function refuseNul(words: readonly string[]): void {
  if (!words.some((word) => word.includes('\0'))) return;
  throw new AppError('usage', 'A command and its environment must not contain a NUL.', {
    hint: 'Put the bytes into a file, and let the command read that.',
  });
}

function isWhole(value: unknown, least: number, most = Number.MAX_SAFE_INTEGER): boolean {
  return Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most;
}

function isObject(value: unknown): value is Given {
  return typeof value === 'object' && value !== null;
}

function refuse(rule: string, ...given: readonly unknown[]): never {
  const not = given.map((value) => `, not ${shown(value)}`).join('');
  throw new AppError('usage', `${rule}${not}.`);
}

const SHOWN_MAX = 60;

function shown(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}
