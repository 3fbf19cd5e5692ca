// Frames for tests, with as few words as possible: times are microseconds behind the header's.
import type { ExecFrame, Frame, StartFrame, WriteRecord } from '../../src/trace/decode/format.ts';
import { fnv64, HEADER } from './encode.ts';

type Some<T> = Partial<Omit<T, 'type' | 'atNs' | 'who' | 'argv'>>;

export const at = (us: number): bigint => HEADER.startedNs + BigInt(Math.round(us * 1000));

const who = (pid: number, space = 0) => ({ pid, space });

/** `name` is what pid is called inside a namespace. */
export function start(
  us: number,
  pid: number,
  argv: readonly string[],
  more: Some<StartFrame> & { readonly space?: number } = {},
): StartFrame {
  const { space = 0, ...rest } = more;
  return {
    type: 'start',
    source: 'shim',
    atNs: at(us),
    who: who(pid, space),
    parent: 0,
    uid: 1000,
    startTicks: 0,
    inner: undefined,
    args: argv.length,
    argv,
    cut: false,
    redacted: false,
    isStatic: false,
    exe: `/bin/${argv[0]}`,
    cwd: '/project',
    envCount: 0,
    env: {},
    ...rest,
  };
}

export function exec(
  us: number,
  pid: number,
  argv: readonly string[],
  more: Some<ExecFrame> & { readonly space?: number } = {},
): ExecFrame {
  const { space = 0, ...rest } = more;
  return {
    type: 'exec',
    source: 'shim',
    atNs: at(us),
    who: who(pid, space),
    spawned: undefined,
    args: argv.length,
    file: `/bin/${argv[0]}`,
    argv,
    cut: false,
    redacted: false,
    isStatic: false,
    ...rest,
  };
}

export function execFail(us: number, pid: number, file: string, errno = 2, spawn = false): Frame {
  return { type: 'execfail', source: 'shim', atNs: at(us), who: who(pid), spawn, errno, file };
}

type ForkFrame = Extract<Frame, { readonly type: 'fork' }>;

export function fork(
  us: number,
  pid: number,
  parent: number,
  more: Partial<Pick<ForkFrame, 'startTicks' | 'inner'>> & { readonly space?: number } = {},
): Frame {
  const { space = 0, startTicks = 0, inner } = more;
  const head = { type: 'fork', source: 'shim', atNs: at(us), who: who(pid, space) } as const;
  return { ...head, parent, startTicks, inner };
}

export function exit(us: number, pid: number, code: number, space = 0): Frame {
  return { type: 'exit', source: 'shim', atNs: at(us), who: who(pid, space), code };
}

/** `by` is who waited: a pid of the run, or another source. */
export function reap(
  us: number,
  by: number | 'runner' | 'ptrace',
  child: number,
  status: number,
  space = 0,
): Frame {
  const source = by === 'runner' || by === 'ptrace' ? by : 'shim';
  const pid = by === 'runner' ? HEADER.runnerPid : by === 'ptrace' ? child : by;
  return { type: 'reap', source, atNs: at(us), who: who(pid, space), child, status };
}

export function write(us: number, pid: number, writes: readonly WriteRecord[]): Frame {
  return { type: 'write', source: 'shim', atNs: at(us), who: who(pid), writes };
}

export function wrote(
  us: number,
  text: string | Uint8Array,
  stream: WriteRecord['stream'] = 'stdout',
  tookUs = 1,
): WriteRecord {
  const bytes = Buffer.from(text);
  const [atNs, tookNs] = [at(us), Math.round(tookUs * 1000)];
  return { atNs, tookNs, stream, length: bytes.length, hash: fnv64(bytes) };
}

export const exited = (code: number): number => code << 8;
