// A command with a bit of everything, run by itself or with the shim, while something is broken. At
// one point it waits at a FIFO: whoever opens that knows where it is, and may break what it likes.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { constants, cpSync, mkdirSync, readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { type Place, placeFor, signalName, type World } from './runs.ts';

const TIMEOUT_MS = 150_000; // only what hangs takes this long
export const SHIM_TAIL = '/$LIB/libcuff-shim.so';

/** Dynamic, static and interpreted programs, pipelines, forks; both streams; ends with 7. */
export const WORKLOAD = `$B/say o one e two x 3; echo "first $?"
read -r x < $W/go
$B/say o three | cat; $B/start spawn $B/say-static o four e five x 4; echo "second $?" >&2
$B/start vfork $B/say o six x 5; (echo sub; exit 2); echo "third $?"
x=$($B/say o inner); echo "$x"; $B/waits wait4; $B/threads small $B/say > /dev/null
env -i $B/say o empty e nothing x 6; echo "fourth $?"; exit 7`;

export type Ran = { readonly end: string; readonly stdout: string; readonly stderr: string };

/** What stands still at the FIFO. `dir` is the capture, for a traced one. */
export type Live = { readonly child: ChildProcess; readonly place: Place; readonly dir: string };

export type Setting = {
  readonly text?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Words in front of the command, such as `setpriv`. */
  readonly before?: readonly string[];
  readonly meanwhile?: (live: Live) => void | Promise<void>;
};

/** The command alone. Variables come by `env`, so that `bare` itself does not see them. */
export async function alone(world: World, setting: Setting = {}): Promise<Ran> {
  const { text = WORKLOAD, env = {}, before = [] } = setting;
  const place = placeWithFifo(world, setting);
  const [out = '', err = '', end = ''] = ['out', 'err', 'end'].map(
    (name) => `${place.work}.${name}`,
  );
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const words = ['pipe', out, err, end, String(TIMEOUT_MS), '--', ...before, 'env', ...variables];
  const child = spawn(join(world.programs, 'bare'), [...words, 'bash', '-c', text], {
    cwd: place.work,
    env: place.env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const closed = whenClosed(child);
  await meet(place, closed, () => setting.meanwhile?.({ child, place, dir: '' }));
  await closed;
  const [kind = '', number = ''] = readFileSync(end, 'latin1').split(' ');
  const ended = kind === 'signal' ? signalName(Number(number)) : number;
  return {
    end: `${kind} ${ended}`,
    stdout: shown(readFileSync(out, 'latin1'), place),
    stderr: shown(readFileSync(err, 'latin1'), place),
  };
}

export type TracedRun = Ran & { readonly dir: string; readonly place: Place };

/** By a runner that hands the output on, so that nothing hangs on the files of its capture. */
export async function traced(
  world: World,
  setting: Setting & { readonly prepare?: (dir: string) => void; readonly trace?: boolean } = {},
): Promise<TracedRun> {
  const { text = WORKLOAD, env = {}, before = [], trace = true } = setting;
  const place = placeWithFifo(world, setting);
  const dir = `${place.work}.capture`;
  mkdirSync(dir, { mode: 0o700 });
  setting.prepare?.(dir);
  const words = ['run', 'fault', '--dir', dir, '--transport', trace ? 'socket' : 'pipe'];
  words.push('--stdin', 'null', '--session', 'own', '--sync', 'late', '--cwd', place.work);
  words.push('--forward', '--kill-after', String(TIMEOUT_MS));
  if (trace) words.push('--trace', world.shim);
  const child = spawn(world.runner, [...words, '--', ...before, 'bash', '-c', text], {
    cwd: place.work,
    env: { ...place.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err] = [piecesOf(child.stdout), piecesOf(child.stderr)];
  const closed = whenClosed(child);
  await meet(place, closed, () => setting.meanwhile?.({ child, place, dir }));
  const { code, signal } = await closed;
  const whole = (pieces: readonly Buffer[]): string =>
    shown(Buffer.concat(pieces).toString('latin1'), place);
  const end = signal === null ? `exit ${code}` : `signal ${signal}`;
  return { end, stdout: whole(out), stderr: whole(err), dir, place };
}

/** With a copy of the shim that may be broken. */
export function withOwnShim(world: World): World {
  const shim = join(world.root, `shim-${Math.random().toString(16).slice(2)}`);
  cpSync(world.shim, shim, { recursive: true });
  return { ...world, shim };
}

function placeWithFifo(world: World, { files = {} }: Setting): Place {
  const place = placeFor(world, { name: '', command: '', processes: [], files });
  execFileSync('mkfifo', ['-m', '666', join(place.work, 'go')]);
  return place;
}

function shown(text: string, { work }: Place): string {
  return text.replaceAll(work, '$W');
}

function piecesOf(stream: NodeJS.ReadableStream): readonly Buffer[] {
  const pieces: Buffer[] = [];
  stream.on('data', (piece: Buffer) => pieces.push(piece));
  return pieces;
}

type Closed = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

function whenClosed(child: ChildProcess): Promise<Closed> {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
}

/** Opening the FIFO waits for the command to be there; closing it lets the command go on. */
async function meet(
  { work }: Place,
  closed: Promise<unknown>,
  meanwhile: () => void | Promise<void> | undefined,
): Promise<void> {
  const fifo = join(work, 'go');
  const opened = open(fifo, 'w');
  const over = closed.then(() => undefined);
  if ((await Promise.race([opened, over])) === undefined) {
    // It ended without having been there, and our own open still waits for a reader: be one.
    const reader = await open(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
    await (await opened).close();
    await reader.close();
    return;
  }
  try {
    await meanwhile();
  } finally {
    await (await opened).close();
  }
}
