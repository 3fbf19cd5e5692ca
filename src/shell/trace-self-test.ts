// Traces a small real command and compares it with the same command run without cuff: same bytes,
// same exit code, and a complete trace.

import {
  type SpawnSyncOptionsWithBufferEncoding,
  type SpawnSyncReturns,
  spawnSync,
} from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeIndex } from '../capture/format.ts';
import { createCapture } from '../capture/store.ts';
import { childEnvironment, shellEnvironment } from '../run/env.ts';
import { runnerWords } from '../run/messages.ts';
import type { RunSpec } from '../run/spec.ts';
import { decodeTrace } from '../trace/decode/decode.ts';
import type { Frame } from '../trace/decode/format.ts';
import type { Env } from '../types.ts';
import { newMeta, newSpec } from './new-run.ts';
import { openStore } from './store.ts';

export type Tested =
  | { readonly passed: true; readonly follows: boolean }
  | { readonly passed: false; readonly why: string };

// A thousand times what each takes: a machine that stalled for seconds must not be remembered as
// one that cannot trace.
const TEST_MS = 30_000;

// Covers what a preloaded library could spoil (the environment, a program that succeeds, one that
// fails) and what a socket could spoil: Node's own pipes are sockets, and this command tests that.
const INNER = 'exit 7';
const BARE = `env; sh -c '${INNER}'; exit 3`;
const ARGV = ['sh', '-c', `echo out; echo err >&2; echo dev >/dev/stdout; ${BARE}`];
const [MORE_OUT, MORE_ERR] = ['out\ndev\n', 'err\n'];
const EXIT_CODE = 3;
const INNER_EXIT_CODE = 7;

// The transports a command may get without a terminal. On pipes the shim also hooks stdio.
const TRANSPORTS = ['socket', 'pipe'] as const;
type Tried = (typeof TRANSPORTS)[number];

/** Throws if there is no directory for it. */
export function selfTest(
  parts: { readonly runner: string; readonly shimDir: string },
  given: Env,
): Tested {
  const env = shellEnvironment(childEnvironment(given));
  const root = mkdtempSync(join(tmpdir(), 'cuff-trace-check-'));
  try {
    const bare = spawnSync('sh', ['-c', BARE], { env, cwd: root, ...QUIET });
    let follows = false;
    for (const transport of TRANSPORTS) {
      const spec = specOf(root, env, parts.shimDir, transport);
      const { dir = '' } = spec;
      const traced = spawnSync(parts.runner, ['run', ...runnerWords(spec)], { env, ...QUIET });
      const why = difference(bare, traced) ?? missing(dir, transport, traced.stdout.length);
      if (why !== undefined) return { passed: false, why: `${why} (${transport})` };
      follows = decodeTrace(bytesOf(dir)).header?.follows === true;
    }
    return { passed: true, follows };
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  }
}

const QUIET: SpawnSyncOptionsWithBufferEncoding = {
  stdio: ['ignore', 'pipe', 'pipe'],
  timeout: TEST_MS,
};

function specOf(root: string, env: RunSpec['env'], shimDir: string, transport: Tried): RunSpec {
  const meta = newMeta({
    id: `trace-check-${transport}`,
    command: { kind: 'argv', argv: ARGV },
    cwd: root,
    retentionSeconds: 0,
    transport,
    killAfterMs: TEST_MS / 2,
    outputBytesMax: 1024 * 1024,
    trace: { enabled: true, mode: transport },
  });
  const dir = createCapture(openStore(root), meta, ARGV);
  const trace = { shimDir, envNames: [] };
  return newSpec(meta, { argv: ARGV, env, dir, forward: true, graceMs: 0, sync: 'late', trace });
}

/** What differs from the run without cuff. */
function difference(
  bare: SpawnSyncReturns<Buffer>,
  traced: SpawnSyncReturns<Buffer>,
): string | undefined {
  if (bare.error !== undefined) return `sh could not be started: ${bare.error.message}`;
  if (traced.error !== undefined) return `the runner: ${traced.error.message}`;
  if (bare.status !== EXIT_CODE) return `sh ended with ${bare.status ?? bare.signal}`;
  if (traced.status !== bare.status) return `it ended with ${traced.status ?? traced.signal}`;
  const [out, err] = [traced.stdout.toString('latin1'), traced.stderr.toString('latin1')];
  if (out !== MORE_OUT + bare.stdout.toString('latin1')) return 'its stdout is another';
  // The loader may print warnings about the user's own preloads, once per program.
  const same = err.replace(MORE_ERR, '') === bare.stderr.toString('latin1');
  return same && err.includes(MORE_ERR) ? undefined : 'its stderr is another';
}

function bytesOf(dir: string): Uint8Array {
  return readFileSync(join(dir, 'trace.bin'));
}

/** What the trace lacks. */
function missing(dir: string, transport: Tried, outBytes: number): string | undefined {
  const { header, frames } = decodeTrace(bytesOf(dir));
  if (header === undefined) return 'trace.bin has no header';
  for (const argv of [ARGV, ['env'], ['sh', '-c', INNER]]) {
    const start = frames.find((one) => one.type === 'start' && sameWords(one.argv, argv));
    const [name = ''] = argv;
    if (start === undefined) return `${name} did not tell of its start`;
    const code = argv === ARGV ? EXIT_CODE : name === 'env' ? 0 : INNER_EXIT_CODE;
    if (!ended(frames, start.who.pid, code)) return `no frame reports how ${name} ended`;
  }
  // A sandbox may forbid sockets that name their writers: then the runner makes a pipe.
  if (transport === 'socket' && header.mode === 'socket') {
    return unstamped(dir) ? 'the kernel did not say who wrote what' : undefined;
  }
  return told(frames) === outBytes ? undefined : 'not all that was written was told';
}

function sameWords(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((word, i) => word === b[i]);
}

function ended(frames: readonly Frame[], pid: number, code: number): boolean {
  return frames.some(
    (one) =>
      (one.type === 'exit' && one.who.pid === pid && one.code === code) ||
      (one.type === 'reap' && one.child === pid && one.status === code << 8),
  );
}

/**
 * How much the processes report to have written to stdout. On stderr the loader may add warnings.
 */
function told(frames: readonly Frame[]): number {
  return frames
    .flatMap((one) => (one.type === 'write' ? one.writes : []))
    .filter(({ stream }) => stream === 'stdout')
    .reduce((sum, { length }) => sum + length, 0);
}

function unstamped(dir: string): boolean {
  const lines = readFileSync(join(dir, 'index.jsonl'), 'utf8').split('\n').filter(Boolean);
  return lines.length === 0 || lines.some((line) => decodeIndex(line)?.pid === undefined);
}
