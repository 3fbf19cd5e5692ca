// Drives the shim over real pipes, terminals and sockets without the runner: `drive` makes the
// transport and the header of trace.bin, and what it kept is held against what was told.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { decodeTrace } from '../../../src/trace/decode/decode.ts';
import type { Frame, StreamName, WriteRecord } from '../../../src/trace/decode/format.ts';
import { fnv64 } from '../../trace/encode.ts';

const SOURCES = join(import.meta.dirname, '..', 'programs', 'streams');
const NATIVE = join(import.meta.dirname, '..', '..', '..', 'native');
export const SHIM_SOURCES = join(NATIVE, 'shim');
const MACHINE = `${process.platform}-${process.arch}`;
const SHIM = join(NATIVE, 'prebuilt', MACHINE, 'shim', '$LIB', 'libcuff-shim.so');
const RUN_MS = 150_000;

export type Mode = 'pipe' | 'merged' | 'pty' | 'ptyerr' | 'socket' | 'mergedsocket' | 'pipesocket';

type Told = WriteRecord & { readonly pid: number };

export type Run = {
  /** As a shell counts: 128 + n for a signal. */
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  readonly frames: readonly Frame[];
  readonly damagedBytes: number;
  /** By the time of the call. */
  readonly told: readonly Told[];
};

export const workDir = mkdtempSync(join(tmpdir(), 'cuff-streams-'));
afterAll(() => rmSync(workDir, { recursive: true, force: true }));

export function build(command: string, ...words: readonly string[]): string | undefined {
  const [cc = 'cc', ...flags] = command.split(' ');
  const result = spawnSync(cc, [...flags, ...words], { encoding: 'utf8' });
  return result.status === 0 ? undefined : `${result.error ?? result.stderr}`;
}

/** The path of the compiled program; `command` gets the source and `-o`. */
export function program(name: string, command = 'cc -O1 -pthread', source = `${name}.c`): string {
  const path = join(workDir, name);
  const trouble = build(command, join(SOURCES, source), '-o', path);
  if (trouble !== undefined) throw new Error(`${name} cannot be built:\n${trouble}`);
  return path;
}

export function has(command: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${command}`]).status === 0;
}

let driver: string | undefined;
let runs = 0;

/** Runs a command on a transport of that kind; `bare` without the shim. */
export function drive(
  mode: Mode,
  command: readonly string[],
  options: { readonly bare?: boolean; readonly env?: NodeJS.ProcessEnv } = {},
): Run {
  driver ??= program('drive');
  const at = join(workDir, `run-${++runs}`);
  mkdirSync(at);
  const [trace, out, err] = ['trace.bin', 'out', 'err'].map((name) => join(at, name));
  const shim = options.bare ? '-' : SHIM;
  const words = [mode, trace, out, err, shim, ...command].map(String);
  const env = { ...process.env, LC_ALL: 'C.UTF-8', GIT_PAGER: 'cat', ...options.env };
  const result = spawnSync(driver, words, { env, timeout: RUN_MS, cwd: workDir });
  const shared = mode === 'pty' || mode.startsWith('merged');
  const { frames, damagedBytes } = decodeTrace(readFileSync(join(at, 'trace.bin')));
  return {
    code: result.status,
    stdout: readFileSync(join(at, 'out')),
    stderr: shared ? Buffer.alloc(0) : readFileSync(join(at, 'err')),
    frames,
    damagedBytes,
    told: frames.flatMap(toldBy).sort((a, b) => Number(a.atNs - b.atNs)),
  };
}

function toldBy(frame: Frame): Told[] {
  if (frame.type !== 'write') return [];
  return frame.writes.map((record) => ({ ...record, pid: frame.who.pid }));
}

/** Exit code and bytes, as values that show themselves when they differ. */
export function seen(run: Run): { code: number | null; stdout: string; stderr: string } {
  const { code } = run;
  return { code, stdout: run.stdout.toString('latin1'), stderr: run.stderr.toString('latin1') };
}

export const bytesTold = (run: Run, stream: StreamName): number =>
  of(run, stream).reduce((sum, { length }) => sum + length, 0);

export const of = (run: Run, stream: StreamName): Told[] =>
  run.told.filter((record) => record.stream === stream);

/** Where one writer writes, its records one after the other are the bytes. */
export function expectEveryByteTold(run: Run, stdout: 'stdout' | 'pty' = 'stdout'): void {
  expect(run.damagedBytes).toBe(0);
  expectStreamTold(of(run, stdout), run.stdout);
  expectStreamTold(of(run, 'stderr'), run.stderr);
}

export function expectStreamTold(records: readonly Told[], bytes: Buffer): void {
  let offset = 0;
  for (const { length, hash } of records) {
    const piece = bytes.subarray(offset, offset + length);
    offset += length;
    if (hash !== undefined) expect({ offset, hash }).toEqual({ offset, hash: fnv64(piece) });
  }
  expect(offset).toBe(bytes.length);
}
