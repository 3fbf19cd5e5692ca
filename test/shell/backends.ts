// What the contract suite stands on: a shell on either backend with a state root of its own, and
// the table of what a backend does not promise. Nothing that a test started is left behind.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, onTestFinished } from 'vitest';
import { findRunner } from '../../src/run/binary.ts';
import { PORTABLE_LIMITS } from '../../src/run/portable.ts';
import { processAlive } from '../../src/run/processes.ts';
import type { Run } from '../../src/shell/run.ts';
import {
  createShell,
  type Shell,
  type ShellOptions,
  type StartOptions,
} from '../../src/shell/shell.ts';
import type { Channel, Chunk, Command } from '../../src/types.ts';
import { lacking } from '../requirements.ts';

export type BackendName = 'native' | 'portable';

const runner = findRunner();
const noPosix = lacking(process.platform === 'win32', 'the contract suite speaks bash and signals');
const noRunner = lacking(runner.kind === 'none', 'there is no native runner here');

/** The suite once for each backend there is. */
export function describeBackends(what: string, cases: (backend: BackendName) => void): void {
  describe.skipIf(noRunner)(`native: ${what}`, () => cases('native'));
  describe.skipIf(noPosix)(`portable: ${what}`, () => cases('portable'));
}

/** What the portable backend lacks, case by case, in the words it uses about itself. */
const LACKS = {
  'a run outlives its starter': limit('A run does not outlive its starter'),
  'a kill finds setsid orphans': limit('A kill misses processes that called setsid'),
  'a survivor is seen wherever it went': limit('A survivor is seen only while'),
  '/dev/stdout can be opened': limit('stdout and stderr are sockets'),
  'merged output is in true order': limit('There is no true order'),
  'the socket transport names writers': limit('The socket transport does not say'),
  'real-time signals are told': limit('Death by a real-time signal'),
  'another process can give orders': limit('No other process can give orders'),
  'the end of too much output is kept': limit('Of more output than a capture'),
} as const;

function limit(start: string): string {
  const found = PORTABLE_LIMITS.find((sentence) => sentence.startsWith(start));
  if (found === undefined) throw new Error(`PORTABLE_LIMITS does not say: ${start}`);
  return found;
}

const told = new Set<string>();

/** True for a backend without that promise; then says so, once, and the case tests what is. */
export function lacks(backend: BackendName, promise: keyof typeof LACKS): boolean {
  if (backend === 'native') return false;
  if (!told.has(promise)) process.stderr.write(`portable: not "${promise}". ${LACKS[promise]}\n`);
  told.add(promise);
  return true;
}

export type World = {
  readonly shell: Shell;
  /** The state root. */
  readonly root: string;
  /** A directory for the test's own files. */
  readonly dir: string;
  start(command: string | Command, options?: StartOptions): Run;
};

export function world(backend: BackendName, options: ShellOptions = {}): World {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'cuff-contract-')));
  const root = join(dir, 'state');
  const shell = createShell({ stateRoot: root, runner: backend, cwd: dir, ...options });
  const runs: Run[] = [];
  onTestFinished(async () => {
    await Promise.all(runs.map((run) => run.kill({ signal: 'KILL' })));
    shell.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return {
    shell,
    root,
    dir,
    start(command, start) {
      const run = shell.start(command, start);
      runs.push(run);
      return run;
    },
  };
}

export const argv = (...words: string[]): Command => ({ kind: 'argv', argv: words });

/** Every chunk with its bytes, read by cursor in steps of `step`. */
export function chunksOf(
  { shell }: World,
  id: string,
  step = 1_000_000,
): { chunk: Chunk; bytes: Uint8Array }[] {
  const all: { chunk: Chunk; bytes: Uint8Array }[] = [];
  let cursor = 0;
  while (true) {
    const read = shell.read(id, cursor, step);
    all.push(...read.chunks);
    cursor = read.nextCursor;
    if (read.eof) return all;
  }
}

export function bytesOf(world: World, id: string, channel?: Channel): Buffer {
  const chunks = chunksOf(world, id);
  const wanted = chunks.filter(({ chunk }) => (channel ?? chunk.channel) === chunk.channel);
  return Buffer.concat(wanted.map(({ bytes }) => bytes));
}

export function textOf(world: World, id: string, channel?: Channel): string {
  return bytesOf(world, id, channel).toString();
}

/** What the run has printed, once it matches. Fails when nothing more can come. */
export async function shows(world: World, id: string, pattern: RegExp): Promise<RegExpExecArray> {
  let text = '';
  let cursor = 0;
  while (true) {
    const read = await world.shell.waitOutput(id, cursor, 10_000);
    text += Buffer.concat(read.chunks.map(({ bytes }) => bytes)).toString();
    cursor = read.nextCursor;
    const found = pattern.exec(text);
    if (found !== null) return found;
    if (read.final) throw new Error(`${JSON.stringify(text)} never matches ${pattern}`);
  }
}

export const alive = (pid: number): boolean => processAlive({ pid, startTime: 0 });

/** Until a process that is no child of ours is gone. */
export async function gone(pid: number): Promise<void> {
  while (alive(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** The runner the suite runs with, for processes the tests start. */
export const runnerPath = runner.kind === 'native' ? runner.path : 'off';
