// Traced runs through the real runner. The shim is a library that does nothing, so that only what
// the runner itself says is there; `asker` stands in for it where the runner has to be asked.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import { findRunner } from '../../src/run/binary.ts';
import { servedBackend } from '../../src/run/served.ts';
import type { Handle, RunMessage, RunSpec } from '../../src/run/spec.ts';
import { decodeTrace } from '../../src/trace/decode/decode.ts';
import type { Frame, TraceHeader } from '../../src/trace/decode/format.ts';

const runner = findRunner();
export const runnerPath = runner.kind === 'native' ? runner.path : '';
export const root = mkdtempSync(join(tmpdir(), 'cuff-traced-'));
const backend = servedBackend(runnerPath);
let count = 0;
const PROGRAMS = join(import.meta.dirname, 'programs', 'runner');

afterAll(() => {
  backend.close();
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
});

/** Undefined when it cannot be built here. */
function build(source: string, name: string, ...flags: readonly string[]): string | undefined {
  const out = join(root, name);
  const made = spawnSync('cc', ['-O1', ...flags, '-o', out, source], { encoding: 'utf8' });
  return made.status === 0 ? out : undefined;
}

/** Where glibc looks for `$LIB`, and the directory of that very name, which is looked for first. */
function buildStub(): string | undefined {
  const source = join(root, 'stub.c');
  writeFileSync(source, 'int cuff_stub;\n');
  const dirs = ['$LIB', 'lib', 'lib64', 'lib/x86_64-linux-gnu', 'lib/aarch64-linux-gnu'];
  const made = dirs.map((dir) => {
    mkdirSync(join(root, 'shim', dir), { recursive: true });
    const name = join('shim', dir, 'libcuff-shim.so');
    return build(source, name, '-shared', '-fPIC', '-nostdlib');
  });
  return made.includes(undefined) ? undefined : join(root, 'shim');
}

export const shimDir = (runner.kind === 'native' && buildStub()) || '';
export const traces = shimDir !== '';

export const asker = build(join(PROGRAMS, 'asker.c'), 'asker') ?? '';
export const plain = build(join(PROGRAMS, 'plain.c'), 'plain', '-static', '-pthread') ?? '';
export const odd = build(join(PROGRAMS, 'odd.c'), 'odd', '-static') ?? '';
export const debugging = build(join(PROGRAMS, 'odd.c'), 'debug', '-static', '-DDEBUGGER') ?? '';
export const follows = traces && plain !== '' && canFollow();

/** What the runner itself says about it. */
function canFollow(): boolean {
  const dir = newDir('probe');
  const words = ['run', 'probe', '--dir', dir, '--trace', shimDir, '--', 'true'];
  spawnSync(runnerPath, words, { stdio: 'ignore' });
  return traceOf(dir).header?.follows === true;
}

type ChunkLine = {
  readonly offset: number;
  readonly length: number;
  readonly channel: string;
  readonly pid?: number;
};

/** What a run has left so far. */
export type Left = {
  readonly header: TraceHeader | undefined;
  readonly frames: readonly Frame[];
  readonly damagedBytes: number;
  readonly output: Buffer;
  readonly text: string;
  readonly chunks: readonly ChunkLine[];
  readonly events: readonly Record<string, unknown>[];
};

export type Live = {
  readonly dir: string;
  readonly handle: Handle;
  readonly done: Promise<RunMessage>;
  readonly over: Promise<void>;
  left(): Left;
  /** What the run has printed, once it matches. */
  shows(pattern: RegExp): Promise<RegExpExecArray>;
};

export function newDir(name = 'run'): string {
  count += 1;
  const dir = join(root, `${name}-${count}`);
  mkdirSync(dir, { mode: 0o700 });
  writeFileSync(join(dir, 'meta.json'), '{"schema_version":"v1alpha1"}\n', { mode: 0o600 });
  return dir;
}

type Options = Partial<RunSpec> & { readonly traced?: boolean };

export function start(argv: readonly string[], options: Options = {}): Live {
  const { traced = true, ...changes } = options;
  const dir = changes.dir ?? newDir();
  const spec: RunSpec = {
    id: `t-${count}`,
    argv,
    env: { PATH: '/usr/bin:/bin' },
    cwd: root,
    dir,
    transport: 'socket',
    stdin: 'null',
    forward: false,
    session: 'own',
    killAfterMs: undefined,
    graceMs: 100,
    outputBytesMax: 1 << 30,
    strict: false,
    sync: 'late',
    size: { cols: 80, rows: 24 },
    ...(traced && { trace: { shimDir, envNames: [] } }),
    ...changes,
  };
  let over = false;
  const done = later<RunMessage>();
  const ended = later<void>();
  const handle = backend.start(spec, (message) => {
    if (message.kind === 'done' || message.kind === 'failed') done.resolve(message);
    over ||= ['ended', 'failed', 'gone'].includes(message.kind);
    if (over) ended.resolve();
  });
  onTestFinished(async () => {
    if (!over) handle.kill({ signal: 'KILL', graceMs: 0, cause: 'kill' });
    await ended.promise;
  });
  const left = (): Left => leftIn(dir);
  const shows = (pattern: RegExp): Promise<RegExpExecArray> => shown(left, () => over, pattern);
  return { dir, handle, done: done.promise, over: ended.promise, left, shows };
}

function later<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((tell) => {
    resolve = tell;
  });
  return { promise, resolve };
}

/** A whole run. */
export async function run(argv: readonly string[], options: Options = {}): Promise<Left> {
  const live = start(argv, options);
  await live.over;
  return live.left();
}

export const bash = (text: string): string[] => ['bash', '--noprofile', '--norc', '-c', text];

async function shown(
  left: () => Left,
  over: () => boolean,
  pattern: RegExp,
): Promise<RegExpExecArray> {
  for (;;) {
    const last = over();
    const { text } = left();
    const found = pattern.exec(text);
    if (found !== null) return found;
    if (last) throw new Error(`${JSON.stringify(text)} never matches ${pattern}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function fileOf(dir: string, name: string): Buffer {
  const path = join(dir, name);
  return existsSync(path) && statSync(path).isFile() ? readFileSync(path) : Buffer.alloc(0);
}

function linesOf<T>(dir: string, name: string): T[] {
  const lines = fileOf(dir, name).toString().split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line));
}

function traceOf(dir: string): ReturnType<typeof decodeTrace> {
  return decodeTrace(fileOf(dir, 'trace.bin'));
}

export function leftIn(dir: string): Left {
  const output = fileOf(dir, 'output.bin');
  return {
    ...traceOf(dir),
    output,
    text: output.toString(),
    chunks: linesOf(dir, 'index.jsonl'),
    events: linesOf(dir, 'events.jsonl'),
  };
}

type Of<T extends Frame['type']> = Extract<Frame, { type: T }>;

/** The frames of one kind, about one process where it is named. */
export function framesOf<T extends Frame['type']>(left: Left, type: T, pid?: number): Of<T>[] {
  return left.frames.filter(
    (frame): frame is Of<T> => frame.type === type && (pid === undefined || frame.who.pid === pid),
  );
}

/** How everybody ended that somebody told about, by pid: the wait status, and who said so. */
export function endsIn(left: Left): Map<number, { status: number; source: string }> {
  const reaps = framesOf(left, 'reap');
  return new Map(reaps.map(({ child, status, source }) => [child, { status, source }]));
}

/**
 * Where every line begins with the pid of its writer: lines among the bytes of one process that do
 * not. A line may lie in two chunks, but then both are its writer's.
 */
export function misjudged({ chunks, output }: Left): string[] {
  const bytes = new Map<string, Buffer[]>();
  for (const { offset, length, channel, pid } of chunks) {
    const own = bytes.get(`${pid} ${channel}`) ?? [];
    own.push(output.subarray(offset, offset + length));
    bytes.set(`${pid} ${channel}`, own);
  }
  return [...bytes].flatMap(([writer, pieces]) => {
    const [pid = ''] = writer.split(' ');
    const lines = Buffer.concat(pieces).toString().trimEnd().split('\n');
    return lines.filter((line) => line.split(' ')[0] !== pid).map((line) => `${pid}: ${line}`);
  });
}

/** The programs that were said by ptrace to have begun. */
export function startsByPtrace(left: Left): string[][] {
  return framesOf(left, 'start')
    .filter(({ source }) => source === 'ptrace')
    .map(({ argv }) => [...argv]);
}

/** What /proc/PID/status says under this name. */
export function statusOf(pid: number, name: string): string {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  return new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(text)?.[1] ?? '';
}
