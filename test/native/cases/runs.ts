// One case, run: by itself on pipes or a terminal (`bare`), or traced by the runner. Either way the
// same environment, an own working directory, and an end within a time.
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { decodeIndex } from '../../../src/capture/format.ts';
import { findRunner } from '../../../src/run/binary.ts';
import { findShim } from '../../../src/run/shim.ts';
import type { Chunk } from '../../../src/types.ts';
import { argvOf, type Case } from './case.ts';

export const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const TIMEOUT_MS = 150_000; // only what hangs takes this long

export type Mode = 'pipe' | 'pty' | 'socket' | 'merged';

export type Result = {
  /** `exit N`, `signal NAME` or `timeout`. */
  readonly end: string;
  readonly stdout: string;
  readonly stderr: string;
};

export type Capture = {
  readonly dir: string;
  readonly output: Buffer;
  readonly chunks: readonly Chunk[];
};

export type World = {
  readonly root: string;
  readonly programs: string;
  readonly runner: string;
  readonly shim: string;
};

let turn = 0;

export type Place = { readonly work: string; readonly env: Record<string, string> };

/** A new working directory with the files of the case, and the environment. */
export function placeFor(world: World, one: Case): Place {
  const work = join(world.root, `w${String(turn++).padStart(5, '0')}`); // as long as any other
  mkdirSync(work, { recursive: true });
  chmodSync(work, 0o777);
  for (const [name, text] of Object.entries(one.files ?? {})) {
    mkdirSync(dirname(join(work, name)), { recursive: true });
    writeFileSync(join(work, name), filled(text, world, work), { mode: 0o755 });
  }
  const own = Object.entries(one.env ?? {}).map(([k, v]) => [k, filled(v, world, work)]);
  const fixed = { PATH, HOME: work, LANG: 'C', TERM: 'dumb', SHLVL: '1', PWD: work };
  return { work, env: { ...fixed, B: world.programs, W: work, ...Object.fromEntries(own) } };
}

export function filled(text: string, { programs }: World, work: string): string {
  return text.replaceAll('$B', programs).replaceAll('$W', work);
}

function commandOf(world: World, one: Case, { work }: Place): string[] {
  const words = argvOf(one);
  return typeof one.command === 'string'
    ? [...words]
    : words.map((word) => filled(word, world, work));
}

/** Two runs of one case differ by their working directory, and by what the case masks. */
function masked(text: string, work: string, one: Case): string {
  let shown = text.replaceAll(work, '$W');
  for (const mask of one.masks ?? []) shown = shown.replaceAll(mask, '#');
  return one.unordered ? shown.split('\n').sort().join('\n') : shown;
}

export async function runBare(world: World, one: Case, mode: 'pipe' | 'pty'): Promise<Result> {
  const place = placeFor(world, one);
  const [out, err, end] = ['out', 'err', 'end'].map((name) => `${place.work}.${name}`);
  const facts = [mode, out ?? '', err ?? '', end ?? '', String(TIMEOUT_MS), '--'];
  const argv = [...facts, ...commandOf(world, one, place)];
  await ended(join(world.programs, 'bare'), argv, place);
  const text = (path = ''): string => readFileSync(path, 'latin1');
  const [kind = '', number = ''] = text(end).split(' ');
  const result = {
    end: endText(kind, Number(number)),
    stdout: masked(text(out), place.work, one),
    stderr: mode === 'pty' ? '' : masked(text(err), place.work, one),
  };
  rmSync(place.work, { recursive: true, force: true });
  return result;
}

function endText(kind: string, number: number): string {
  if (kind === 'timeout') return kind;
  return `${kind} ${kind === 'signal' ? signalName(number) : number}`;
}

export function signalName(number: number): string {
  const found = Object.entries(constants.signals).find(([, value]) => value === number);
  return found?.[0] ?? `SIGRTMIN+${number - 34}`;
}

export type Traced = { readonly result: Result; readonly capture: Capture; readonly place: Place };

/** The capture stays until its reader has removed `world.root`. */
export async function runTraced(
  world: World,
  one: Case,
  transport: Mode,
  { disturb, flags = [] }: { disturb?: (dir: string) => void; flags?: readonly string[] } = {},
): Promise<Traced> {
  const place = placeFor(world, one);
  const dir = `${place.work}.capture`;
  mkdirSync(dir, { mode: 0o700 });
  const words = ['run', 'case', '--dir', dir, '--transport', transport, '--stdin', 'null'];
  words.push('--session', 'own', '--sync', 'late', '--cwd', place.work);
  words.push('--trace', world.shim, '--kill-after', String(TIMEOUT_MS), ...flags);
  disturb?.(dir);
  await ended(world.runner, [...words, '--', ...commandOf(world, one, place)], place);
  const capture = readCapture(dir);
  const pick = (channel: string): string =>
    Buffer.concat(
      capture.chunks
        .filter((chunk) => chunk.channel === channel)
        .map(({ offset, length }) => capture.output.subarray(offset, offset + length)),
    ).toString('latin1');
  const stdout = masked(transport === 'pty' ? pick('pty') : pick('stdout'), place.work, one);
  const stderr = transport === 'pty' ? '' : masked(pick('stderr'), place.work, one);
  return { result: { end: endOf(dir), stdout, stderr }, capture, place };
}

function readCapture(dir: string): Capture {
  // Without output there are neither.
  const bytes = (name: string): Buffer =>
    existsSync(join(dir, name)) ? readFileSync(join(dir, name)) : Buffer.alloc(0);
  const lines = bytes('index.jsonl').toString().trimEnd().split('\n');
  const chunks = lines.flatMap((line) => decodeIndex(line) ?? []);
  return { dir, output: bytes('output.bin'), chunks };
}

function endOf(dir: string): string {
  const final = JSON.parse(readFileSync(join(dir, 'final.json'), 'utf8'));
  if (final.ended_by === 'timeout') return 'timeout';
  return final.signal === null ? `exit ${final.exit_code}` : `signal ${final.signal}`;
}

function ended(program: string, argv: readonly string[], { work, env }: Place): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...argv], {
      cwd: work,
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    child.on('error', reject);
    child.on('close', () => resolve());
  });
}

/** What is needed to trace, or why it is not there. */
export function runnerAndShim(): { readonly runner: string; readonly shim: string } | string {
  const runner = findRunner();
  if (runner.kind === 'none') return runner.why;
  const shim = findShim(process.env);
  return shim.kind === 'none' ? shim.why : { runner: runner.path, shim: shim.dir };
}
