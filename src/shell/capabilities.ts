// What this machine can do for a run, found out by trying it rather than by asking for versions.
// Nothing is left behind: a state root that does not exist is not made.

import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { stateRoot } from '../capture/paths.ts';
import { existingAbove } from '../directories.ts';
import { errnoOf } from '../errors.ts';
import { OUTPUT_BYTES_MAX } from '../limits.ts';
import { findRunner, type Runner } from '../run/binary.ts';
import { PORTABLE_LIMITS, portablePty } from '../run/portable.ts';
import { formatSize } from '../text/size.ts';

export type Check = {
  readonly name: string;
  /** `warn`: less than there could be. `bad`: something needed is missing. */
  readonly status: 'ok' | 'warn' | 'bad';
  readonly value: string;
  /** What to do about it. */
  readonly hint?: string;
};

export type Capabilities = {
  readonly checks: readonly Check[];
  /** What the portable way of running does not promise; empty with a native runner. */
  readonly limits: readonly string[];
};

const NODE_MAJOR_MIN = 20;
const TRY_MS = 10_000; // a runner that hangs is unusable

export async function capabilities(env: NodeJS.ProcessEnv): Promise<Capabilities> {
  const runner = findRunner(env);
  const root = stateRoot(env);
  const native = runner.kind === 'native' && works(runner.path);
  const checks = [
    node(),
    platform(),
    compiler(runner),
    runnerCheck(runner, env, native),
    await pty(runner, native),
    descendants(),
    ptrace(),
    stateRootCheck(root),
    disk(root),
    watching(root),
  ];
  return { checks, limits: runner.kind === 'native' ? [] : PORTABLE_LIMITS };
}

function node(): Check {
  const major = Number(process.versions.node.split('.')[0]);
  const check = { name: 'node', value: `${process.version} (${process.execPath})` };
  if (major >= NODE_MAJOR_MIN) return { ...check, status: 'ok' };
  return { ...check, status: 'bad', hint: `Install Node ${NODE_MAJOR_MIN} or newer.` };
}

function platform(): Check {
  const check = { name: 'platform', value: `${process.platform} ${process.arch}` };
  if (process.platform === 'linux') return { ...check, status: 'ok' };
  return { ...check, status: 'warn', hint: 'The native runner needs Linux.' };
}

function compiler(runner: Runner): Check {
  const made = spawnSync('cc', ['--version'], { encoding: 'utf8', timeout: TRY_MS });
  const name = 'compiler';
  if (made.status === 0) return { name, status: 'ok', value: made.stdout.split('\n')[0] ?? 'cc' };
  if (runner.kind === 'native' || process.platform !== 'linux') {
    return { name, status: 'ok', value: 'none, and none is needed' };
  }
  const hint = 'Install one, for example with `apt install gcc`; the runner is then built once.';
  return { name, status: 'warn', value: 'no cc', hint };
}

function runnerCheck(runner: Runner, env: NodeJS.ProcessEnv, native: boolean): Check {
  const name = 'runner';
  if (runner.kind === 'none') {
    const hint =
      env.CUFF_RUNNER === 'off'
        ? 'Unset CUFF_RUNNER to use the native runner.'
        : 'Runs work without it, with the limits below; see the row above.';
    return { name, status: 'warn', value: `none: ${runner.why}`, hint };
  }
  const named = env.CUFF_RUNNER !== undefined && env.CUFF_RUNNER !== '';
  const kind = named ? 'CUFF_RUNNER' : runner.path.includes('prebuilt') ? 'prebuilt' : 'cache';
  if (native) {
    return { name, status: 'ok', value: `${version(runner.path)}, ${kind}: ${runner.path}` };
  }
  const hint = named
    ? 'CUFF_RUNNER must name a runner, or be `off` or unset.'
    : 'Remove that file to have it built again, or set CUFF_RUNNER=off.';
  return { name, status: 'bad', value: `${kind}: ${runner.path} does not run`, hint };
}

function version(path: string): string {
  const said = spawnSync(path, ['version'], { encoding: 'utf8', timeout: TRY_MS });
  return said.stdout?.trim() || 'unknown version';
}

/** Whether it really runs a command. */
function works(path: string, transport = 'pipe'): boolean {
  // The command is the runner itself: nothing need be on the PATH.
  const command = [path, 'version'];
  const words = ['run', 'doctor', '--transport', transport, '--stdin', 'null', '--', ...command];
  return spawnSync(path, words, { stdio: 'ignore', timeout: TRY_MS }).status === 0;
}

async function pty(runner: Runner, native: boolean): Promise<Check> {
  const name = 'pty';
  if (runner.kind === 'native') {
    if (!native) return { name, status: 'warn', value: 'unknown without a runner that runs' };
    if (works(runner.path, 'pty')) return { name, status: 'ok', value: '/dev/ptmx' };
    const hint = 'Mount devpts, or run with --no-tty.';
    return { name, status: 'warn', value: 'no terminal could be made', hint };
  }
  if (await portablePty()) return { name, status: 'ok', value: '@lydell/node-pty' };
  const hint = 'Install the optional package @lydell/node-pty; until then runs use pipes.';
  return { name, status: 'warn', value: 'none', hint };
}

function descendants(): Check {
  const name = 'descendants';
  if (process.platform !== 'linux') {
    const hint = 'A kill reaches the process group of the command and no further.';
    return { name, status: 'warn', value: 'process group only', hint };
  }
  const listed = fs.existsSync(`/proc/self/task/${process.pid}/children`);
  if (listed) return { name, status: 'ok', value: 'subreaper, /proc children' };
  if (fs.existsSync('/proc/self/stat')) {
    return { name, status: 'ok', value: 'subreaper, /proc without children (a slower search)' };
  }
  return { name, status: 'bad', value: 'no /proc', hint: 'Mount /proc.' };
}

function ptrace(): Check {
  const name = 'ptrace scope';
  const words: Readonly<Record<string, string>> = {
    '0': '0 (every process of the same user)',
    '1': '1 (own descendants)',
    '2': '2 (administrators only)',
    '3': '3 (no process)',
  };
  try {
    const scope = fs.readFileSync('/proc/sys/kernel/yama/ptrace_scope', 'utf8').trim();
    return { name, status: 'ok', value: words[scope] ?? scope };
  } catch {
    return { name, status: 'ok', value: 'not restricted by Yama' };
  }
}

function stateRootCheck(root: string): Check {
  const name = 'state root';
  const hint = 'Set CUFF_STATE_ROOT to a directory of yours.';
  const at = existingAbove(root);
  const stat = fs.statSync(at, { throwIfNoEntry: false });
  if (stat?.isDirectory() !== true) {
    return { name, status: 'bad', value: `${at} is not a directory`, hint };
  }
  try {
    // Rights alone do not tell: /proc lets root write and has no room for anything.
    fs.rmdirSync(fs.mkdtempSync(join(at, '.cuff-doctor-')));
  } catch (error) {
    const value = `${at} cannot be written (${errnoOf(error)})`;
    return { name, status: 'bad', value, hint };
  }
  if (at !== root) return { name, status: 'ok', value: `${root}, made by the first run` };
  const mode = (stat.mode & 0o777).toString(8).padStart(4, '0');
  const value = `${root}, mode ${mode}`;
  const uid = process.getuid?.();
  if (uid !== undefined && uid !== 0 && stat.uid !== uid) {
    return { name, status: 'bad', value: `${value}, of another user`, hint };
  }
  if (process.platform === 'win32' || mode === '0700') return { name, status: 'ok', value };
  return { name, status: 'warn', value, hint: `The next run makes it 0700; or do it: chmod 700.` };
}

function disk(root: string): Check {
  const name = 'free disk';
  try {
    const { bavail, bsize } = fs.statfsSync(existingAbove(root));
    const free = bavail * bsize;
    const value = formatSize(free);
    if (free >= OUTPUT_BYTES_MAX) return { name, status: 'ok', value };
    const hint = 'Make room: `cuff sweep`, or a state root on another disk.';
    return { name, status: free === 0 ? 'bad' : 'warn', value, hint };
  } catch (error) {
    return { name, status: 'warn', value: `unknown (${errnoOf(error)})`, hint: 'Try `df`.' };
  }
}

function watching(root: string): Check {
  const name = 'file watching';
  try {
    fs.watch(existingAbove(root)).close();
    return { name, status: 'ok', value: 'followers see output at once' };
  } catch (error) {
    const hint =
      'Raise fs.inotify.max_user_instances; until then followers look 10 times a second.';
    return { name, status: 'warn', value: `none (${errnoOf(error)})`, hint };
  }
}
