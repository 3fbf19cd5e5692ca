// Whether runs can be traced here. A self-test runs once, before the first traced command. Its
// result is kept on disk for all processes of the user, keyed by the two binaries and the kernel.
// The first command waits for it, about as long as starting four programs, so that it is traced,
// too. Any trouble is a reason, never an error.

import * as fs from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { makeDirectories, replaceFile } from '../directories.ts';
import { messageOf } from '../errors.ts';
import { cacheDir, findRunner } from '../run/binary.ts';
import { findShim } from '../run/shim.ts';
import type { RunSpec } from '../run/spec.ts';
import { fnv64 } from '../text/fnv.ts';
import { asCount, asString, parseObject } from '../text/json.ts';
import type { CaptureTrace, Env, TraceSetting, Transport } from '../types.ts';
import { selfTest, type Tested } from './trace-self-test.ts';

export type TraceCheck =
  | {
      readonly ok: true;
      readonly shimDir: string;
      /** The runner may ptrace programs that cannot load the shim. */
      readonly follows: boolean;
    }
  | { readonly ok: false; readonly reason: string };

const VERSION = 3; // raise it when the test changes: earlier results become invalid
const FAILED_MS = 300_000; // a busy machine or a full disk may have recovered by then

/** The shim at the path that musl opens; present on every system. */
export function shimFile(dir: string): string {
  return join(dir, '$LIB', 'libcuff-shim.so');
}

const FRESH_MS = 1_000; // the binaries are checked for changes at most this often
const fresh = new WeakMap<Env, { readonly at: number; readonly check: TraceCheck }>();

/**
 * Never throws. Costs two stats if this process knows the answer, and none within a second of the
 * last call. `again`: tests in any case.
 */
export function traceCheck(env: Env, { again = false } = {}): TraceCheck {
  const now = performance.now();
  const last = fresh.get(env);
  if (!again && last !== undefined && now - last.at < FRESH_MS) return last.check;
  const check = checkNow(env, again);
  if (check.ok) fresh.set(env, { at: now, check });
  return check;
}

function checkNow(env: Env, again: boolean): TraceCheck {
  const runner = findRunner(env);
  if (runner.kind === 'none') return off(`there is no native runner (${runner.why})`);
  try {
    const shim = findShim(env);
    if (shim.kind === 'none') return off(shim.why);
    const checkIn = (shimDir: string): TraceCheck =>
      checkOf(tested({ runner: runner.path, shimDir }, env, again), shimDir);
    const check = checkIn(shim.dir);
    if (check.ok || shim.shipped === undefined) return check;
    // Perhaps no program can be loaded from the cache.
    const second = checkIn(shim.shipped);
    return second.ok ? second : check;
  } catch (error) {
    return off(messageOf(error));
  }
}

function off(reason: string): TraceCheck {
  return { ok: false, reason };
}

function checkOf(result: Tested, shimDir: string): TraceCheck {
  if (!result.passed) return off(`the self-test failed: ${result.why}`);
  return { ok: true, shimDir, follows: result.follows };
}

type Parts = { readonly runner: string; readonly shimDir: string };

/** A result, the key it holds for, and when it was found (epoch ms). */
type Known = { readonly key: string; readonly at: number; readonly result: Tested };

const known = new Map<string, Known>();

function tested(parts: Parts, env: Env, again: boolean): Tested {
  const key = keyOf(parts);
  const pair = `${parts.runner}\0${parts.shimDir}`;
  const path = join(cacheDir(env), `trace-check-${fnv64([Buffer.from(pair)])}.json`);
  for (const find of [() => known.get(pair), () => stored(path)]) {
    const found = find();
    if (again || found?.key !== key || !holds(found)) continue;
    known.set(pair, found);
    return found.result;
  }
  const found = { key, at: Date.now(), result: selfTest(parts, env) };
  known.set(pair, found);
  store(path, found);
  return found.result;
}

function holds({ at, result }: Known): boolean {
  const age = Date.now() - at;
  return result.passed || (age >= 0 && age < FAILED_MS);
}

/** Whether a filter of system calls is in force: a sandbox has a result of its own. */
function filtered(): boolean {
  try {
    return /^Seccomp:\s*[12]/m.test(fs.readFileSync('/proc/self/status', 'latin1'));
  } catch {
    return false; // no Linux, or no /proc
  }
}

/** Throws if one of the binaries is gone. */
function keyOf({ runner, shimDir }: Parts): string {
  const files = [runner, shimFile(shimDir)].map((path) => {
    const { size, mtimeMs } = fs.statSync(path);
    return [path, size, mtimeMs];
  });
  const where = [process.arch, process.getuid?.(), release(), filtered()];
  return JSON.stringify([VERSION, ...where, ...files]);
}

function stored(path: string): Known | undefined {
  let text: string;
  try {
    text = fs.readFileSync(path, 'utf8');
  } catch {
    return undefined; // no process has tested yet, or the result is for other binaries
  }
  const json = parseObject(text);
  const [key, at, why] = [asString(json?.key), asCount(json?.at), asString(json?.why)];
  if (key === undefined || at === undefined || typeof json?.passed !== 'boolean') return undefined;
  const result: Tested = json.passed
    ? { passed: true, follows: json.follows === true }
    : { passed: false, why: why ?? 'no reason was given' };
  return { key, at, result };
}

/** If it cannot be stored, the next process tests again. */
function store(path: string, { key, at, result }: Known): void {
  try {
    makeDirectories(join(path, '..'), 0o700);
    replaceFile(path, `${JSON.stringify({ key, at, ...result })}\n`);
  } catch {
    // The state root is not writable: the next process tests again.
  }
}

export type TracePlan = {
  readonly transport: Transport;
  /** For meta.json; undefined if tracing was not requested. */
  readonly meta: CaptureTrace | undefined;
  readonly spec: RunSpec['trace'];
};

// open(2) of such a path fails on a socket (ENXIO). The shim mends that, but a static program has
// none.
const OUTPUT_BY_NAME = /\/dev\/(std(out|err)|fd\/)|\/proc\/(self|thread-self|\d+)\/fd\//;

/** Whether a run will be traced, or why not, and over which transport. */
export function planTrace(
  setting: TraceSetting,
  asked: {
    readonly transport: Transport | undefined;
    readonly argv: readonly string[];
    readonly env: Env;
    /** Names of variables whose values may be kept. */
    readonly envNames: readonly string[];
    /** Why a run like this one is never traced. */
    readonly never: string | undefined;
  },
): TracePlan {
  const { transport = 'pipe', argv, env, envNames, never } = asked;
  if (setting === 'off') return { transport, meta: undefined, spec: undefined };
  const byName = argv.some((word) => OUTPUT_BY_NAME.test(word));
  const check = never === undefined ? traceCheck(env) : off(never);
  if (!check.ok) {
    return { transport, meta: { enabled: false, reason: check.reason }, spec: undefined };
  }
  // On a socket the kernel names each writer, but a program can tell it from a pipe. Runs that did
  // not request a trace therefore keep their pipe, and the processes report their writes.
  const stamps = setting === 'on' && !byName;
  const used = asked.transport ?? (stamps ? 'socket' : 'pipe');
  const merged = stamps ? 'socket' : 'pipe';
  const mode = used === 'merged' ? merged : used;
  const spec = { shimDir: check.shimDir, envNames, ...(!stamps && { stamps }) };
  return { transport: used, meta: { enabled: true, mode }, spec };
}
