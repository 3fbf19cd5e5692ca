// Runs programs with the shim preloaded and a trace.bin made by hand, and bare beside it: what a
// process prints and how it ends must be the same, and the frames tell what it did.
import { spawnSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { findShim } from '../../../src/run/shim.ts';
import { decodeTrace } from '../../../src/trace/decode/decode.ts';
import type { Frame } from '../../../src/trace/decode/format.ts';
import { type HeaderOptions, makeHeader } from '../../trace/header.ts';

const RUN_MS = 150_000;
const SOURCES = join(import.meta.dirname, '..', 'programs', 'shim');

export const work = mkdtempSync(join(tmpdir(), 'cuff-shim-test-'));
afterAll(() => rmSync(work, { recursive: true, force: true }));

const shim = findShim();
if (shim.kind === 'none') throw new Error(`no shim: ${shim.why}`);
export const shimDir: string = shim.dir;

/** An environment small enough to compare, the same for both runs. */
export const ENV: Readonly<Record<string, string>> = {
  PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
  HOME: '/nonexistent', // a shell whose stdin is a socket would read ~/.bashrc
  LC_ALL: 'C',
};

export type Ran = {
  readonly status: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
};

export type Traced = Ran & {
  readonly frames: readonly Frame[];
  readonly damagedBytes: number;
  readonly pid: number;
  readonly trace: string;
};

export type RunOptions = {
  readonly env?: Readonly<Record<string, string>>;
  readonly header?: HeaderOptions;
  readonly cwd?: string;
  readonly dir?: string;
  readonly input?: string;
  /** Where trace.bin is to be. */
  readonly trace?: string;
  /** What to have in the place of trace.bin; gets its path. */
  readonly prepare?: (path: string) => void;
};

/** Compiles a program of test/native/programs/shim once. */
export function program(name: string, command = 'cc -O1 -pthread', source = name): string {
  const out = join(work, `${name}-${Buffer.from(command).toString('hex').slice(0, 40)}`);
  const [cc = 'cc', ...flags] = command.split(' ');
  const built = spawnSync(cc, [...flags, '-o', out, join(SOURCES, `${source}.c`)], {
    encoding: 'utf8',
  });
  if (built.status !== 0) throw new Error(`${name}: ${built.error ?? built.stderr}`);
  return out;
}

export function bare(argv: readonly string[], options: RunOptions = {}): Ran {
  return result(spawn(argv, { ...ENV, ...options.env }, options));
}

let traces = 0;

export function traced(argv: readonly string[], options: RunOptions = {}): Traced {
  const trace = options.trace ?? join(work, `trace-${traces++}.bin`);
  if (options.prepare === undefined) writeFileSync(trace, makeHeader(options.header));
  else options.prepare(trace);
  const made = spawn(argv, preloaded(trace, options), options);
  const decoded = readTrace(trace);
  return { ...result(made), ...decoded, pid: made.pid, trace };
}

/** The variables as the runner sets them: ours first, in the place of the user's own. */
export function preloaded(trace: string, options: RunOptions = {}): Record<string, string> {
  const given = { ...ENV, ...options.env };
  const ours = `${options.dir ?? shimDir}/$LIB/libcuff-shim.so`;
  const theirs = given.LD_PRELOAD;
  const preload = theirs === undefined ? ours : `${ours}:${theirs}`;
  const asan = given.ASAN_OPTIONS;
  const option = 'verify_asan_link_order=0';
  const options_ = asan === undefined ? option : `${asan}:${option}`;
  return { ...given, LD_PRELOAD: preload, ASAN_OPTIONS: options_, CUFF_TRACE: trace };
}

export function readTrace(path: string): { frames: readonly Frame[]; damagedBytes: number } {
  // Cases without a file, or with something else in its place: a FIFO would wait for a writer.
  const isFile = lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  if (!isFile) return { frames: [], damagedBytes: 0 };
  const { frames, damagedBytes } = decodeTrace(readFileSync(path));
  return { frames, damagedBytes };
}

function spawn(argv: readonly string[], env: Record<string, string>, options: RunOptions) {
  const [file = '', ...args] = argv;
  const { cwd = work, input = '' } = options;
  return spawnSync(file, args, { env, cwd, input, encoding: 'utf8', timeout: RUN_MS });
}

function result(made: ReturnType<typeof spawn>): Ran {
  if (made.error !== undefined) throw made.error;
  const { status, signal, stdout, stderr } = made;
  return { status, signal, stdout, stderr };
}

export function framesOf<T extends Frame['type']>(
  run: { readonly frames: readonly Frame[] },
  type: T,
): Extract<Frame, { type: T }>[] {
  return run.frames.filter((frame): frame is Extract<Frame, { type: T }> => frame.type === type);
}

/** What both runs show must be equal. */
export function shown({ status, signal, stdout, stderr }: Ran): Ran {
  return { status, signal, stdout, stderr };
}
