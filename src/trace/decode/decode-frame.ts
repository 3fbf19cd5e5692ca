// The contents of one frame whose check holds. A frame that is inconsistent all the same, or of an
// unknown type, is undefined: a process of the same user can forge a check, too.

import { redactWords } from '../../text/secret-words.ts';
import {
  FRAME_HEAD_BYTES,
  type Frame,
  type Source,
  type UsageReport,
  type Who,
  type WriteRecord,
} from './format.ts';

const SOURCES: readonly Source[] = ['shim', 'runner', 'proc', 'ptrace'];
const FROM_MASK = 3;
const CUT = 4;
const REDACTED = 8;
const STATIC = 16;
const SILENT = 32;
const LEFT = 64;

const STREAMS = { 1: 'stdout', 2: 'stderr', 3: 'pty' } as const;
const UNHASHED = 0x80000000;
const WRITE_BYTES = 32;
const USAGE_BYTES = 24;
const KIB = 1024;

type Head = Pick<Frame, 'source' | 'atNs' | 'who'>;
type Decoder = (body: Body, head: Head, flags: number) => Frame | undefined;

const WRITE = 7;
const DECODERS: Readonly<Record<number, Decoder>> = {
  1: start,
  2: exec,
  3: execFail,
  4: fork,
  5: (body, head) =>
    body.fixed(8) && { type: 'exit', ...head, code: body.int32(0), ...usageAt(body, 8) },
  6: reap,
  [WRITE]: write,
  8: (body, head) =>
    body.fixed(8) && { type: 'drop', ...head, frames: body.uint32(0), errno: body.int32(4) },
};

/** `processes`: that a process wrote is told, but not what. Most of a trace may be writes. */
export type Wanted = 'everything' | 'processes';

/** `offsetNs` makes epoch nanoseconds of the times in it. */
export function decodeFrame(frame: Buffer, offsetNs: bigint, wanted: Wanted): Frame | undefined {
  const type = frame.readUInt16LE(4);
  const flags = frame.readUInt16LE(6);
  const head: Head = {
    source: SOURCES[flags & FROM_MASK] ?? 'shim',
    atNs: frame.readBigUInt64LE(16) + offsetNs,
    who: { pid: frame.readUInt32LE(24), space: frame.readUInt32LE(28) },
  };
  if (type === WRITE && wanted === 'processes') return { type: 'write', ...head, writes: [] };
  const body = new Body(frame.subarray(FRAME_HEAD_BYTES), offsetNs);
  return DECODERS[type]?.(body, head, flags);
}

/** What follows the head: numbers at fixed places, then strings. */
class Body {
  readonly #bytes: Buffer;
  readonly offsetNs: bigint;

  constructor(bytes: Buffer, offsetNs: bigint) {
    this.#bytes = bytes;
    this.offsetNs = offsetNs;
  }

  get length(): number {
    return this.#bytes.length;
  }

  /** True when the numbers are all there; undefined makes `&&` chains of decoders short. */
  fixed(bytes: number): true | undefined {
    return this.#bytes.length >= bytes ? true : undefined;
  }

  uint32(at: number): number {
    return this.#bytes.readUInt32LE(at);
  }

  int32(at: number): number {
    return this.#bytes.readInt32LE(at);
  }

  uint64(at: number): bigint {
    return this.#bytes.readBigUInt64LE(at);
  }

  /** Another name for the process, where it has one. */
  inner(at: number): Who | undefined {
    const pid = this.uint32(at);
    return pid === 0 ? undefined : { pid, space: this.uint32(at + 4) };
  }

  /** `count` NUL-terminated strings from `at`, or undefined when there are not so many. */
  strings(at: number, count: number): string[] | undefined {
    const found: string[] = [];
    let from = at;
    while (found.length < count) {
      const end = this.#bytes.indexOf(0, from);
      if (end < 0) return undefined;
      found.push(this.#bytes.toString('utf8', from, end));
      from = end + 1;
    }
    return found;
  }
}

function start(body: Body, head: Head, flags: number): Frame | undefined {
  if (!body.fixed(48)) return undefined;
  const [keptArgs, keptEnv] = [body.uint32(32), body.uint32(40)];
  const strings = body.strings(48, 2 + keptArgs + keptEnv);
  if (strings === undefined) return undefined;
  const [exe = '', cwd = ''] = strings;
  const argv = strings.slice(2, 2 + keptArgs);
  const safe = redactWords(argv);
  return {
    type: 'start',
    ...head,
    parent: body.uint32(0),
    uid: body.uint32(4),
    startTicks: Number(body.uint64(8)),
    inner: body.inner(16),
    args: body.uint32(24),
    argv: safe,
    cut: (flags & CUT) !== 0,
    redacted: (flags & REDACTED) !== 0 || safe !== argv,
    isStatic: (flags & STATIC) !== 0,
    exe,
    cwd,
    envCount: body.uint32(36),
    env: Object.fromEntries(strings.slice(2 + keptArgs).map(nameAndValue)),
    ...(body.uint32(44) > 0 && { peakBefore: body.uint32(44) * KIB }),
    ...((flags & LEFT) !== 0 && { left: true }),
    ...((flags & SILENT) !== 0 && { silent: true }),
  };
}

function nameAndValue(text: string): [string, string] {
  const equals = text.indexOf('=');
  return equals < 0 ? [text, ''] : [text.slice(0, equals), text.slice(equals + 1)];
}

function exec(body: Body, head: Head, flags: number): Frame | undefined {
  if (!body.fixed(16)) return undefined;
  const strings = body.strings(16, 1 + body.uint32(12));
  if (strings === undefined) return undefined;
  const spawned = body.uint32(0);
  const argv = strings.slice(1);
  const safe = redactWords(argv);
  return {
    type: 'exec',
    ...head,
    spawned: spawned === 0 ? undefined : spawned,
    args: body.uint32(4),
    file: strings[0] ?? '',
    argv: safe,
    cut: (flags & CUT) !== 0,
    redacted: (flags & REDACTED) !== 0 || safe !== argv,
    isStatic: (flags & STATIC) !== 0,
  };
}

function execFail(body: Body, head: Head): Frame | undefined {
  const strings = body.fixed(8) && body.strings(8, 1);
  if (strings === undefined) return undefined;
  const [spawn, errno] = [body.uint32(0) !== 0, body.int32(4)];
  return { type: 'execfail', ...head, spawn, errno, file: strings[0] ?? '' };
}

function fork(body: Body, head: Head): Frame | undefined {
  if (!body.fixed(24)) return undefined;
  const startTicks = Number(body.uint64(0));
  return { type: 'fork', ...head, startTicks, parent: body.uint32(8), inner: body.inner(12) };
}

function reap(body: Body, head: Head): Frame | undefined {
  if (!body.fixed(8)) return undefined;
  const child = body.uint32(0);
  const told = { type: 'reap', ...head, child, status: body.int32(4) } as const;
  if (child !== 0) return { ...told, ...usageAt(body, 8) };
  if (!body.fixed(16)) return told;
  return { ...told, sinceNs: body.uint64(8) + body.offsetNs };
}

/** Frames of older writers have none. */
function usageAt(body: Body, at: number): { readonly usage?: UsageReport } {
  if (!body.fixed(at + USAGE_BYTES)) return {};
  const [cpuNs, peakBytes] = [body.uint64(at) + body.uint64(at + 8), body.uint64(at + 16)];
  return { usage: { cpuNs: countOf(cpuNs), peakBytes: countOf(peakBytes) } };
}

/** Zero means that it is not known: no process uses nothing at all. */
function countOf(value: bigint): number | undefined {
  return value > 0n && value <= Number.MAX_SAFE_INTEGER ? Number(value) : undefined;
}

function write(body: Body, head: Head): Frame | undefined {
  const writes: WriteRecord[] = [];
  for (let at = 0; at + WRITE_BYTES <= body.length; at += WRITE_BYTES) {
    const kind = body.uint32(at + 12);
    const hashed = kind < UNHASHED;
    const stream = STREAMS[(hashed ? kind : kind - UNHASHED) as keyof typeof STREAMS];
    if (stream === undefined) return undefined;
    writes.push({
      atNs: body.uint64(at) + body.offsetNs,
      tookNs: body.uint32(at + 8),
      stream,
      length: body.uint32(at + 16),
      hash: hashed ? body.uint64(at + 24) : undefined,
    });
  }
  return body.length % WRITE_BYTES === 0 ? { type: 'write', ...head, writes } : undefined;
}
