// Frames to bytes of trace.bin, as native/trace.h has them: for tests, which want files that no
// process wrote. The golden vectors hold it to the bytes.
import type { Frame, TraceHeader, Who, WriteRecord } from '../../src/trace/decode/format.ts';

const HEAD_BYTES = 32;
const TYPES = {
  start: 1,
  exec: 2,
  execfail: 3,
  fork: 4,
  exit: 5,
  reap: 6,
  write: 7,
  drop: 8,
} as const;
const SOURCES = { shim: 0, runner: 1, proc: 2, ptrace: 3 } as const;
const MODES = { socket: 1, pipe: 2, pty: 3 } as const;
const STREAMS = { stdout: 1, stderr: 2, pty: 3 } as const;

export const HEADER: TraceHeader = {
  captureId: '20261116-080000-1a2b3c4d',
  mode: 'pipe',
  runnerPid: 4100,
  offsetNs: 1_794_816_000_000_000_000n,
  startedNs: 1_794_816_005_000_000_000n,
  follows: false,
  merged: false,
  pidNamespace: 4_026_531_836,
  envNames: ['PATH', 'HOME'],
};

export function encodeTrace(header: TraceHeader, frames: readonly Frame[]): Buffer {
  return Buffer.concat([
    encodeHeader(header),
    ...frames.map((frame) => encodeFrame(frame, header.offsetNs)),
  ]);
}

export function encodeHeader(header: TraceHeader): Buffer {
  const bytes = Buffer.alloc(4096);
  bytes.write('CUFFTRC1', 'latin1');
  bytes.writeUInt32LE(1, 8);
  bytes.writeUInt32LE(bytes.length, 12);
  bytes.writeBigUInt64LE(header.startedNs, 16);
  bytes.writeBigUInt64LE(header.startedNs - header.offsetNs, 24);
  bytes.writeUInt32LE(MODES[header.mode], 32);
  bytes.writeUInt32LE(header.runnerPid, 36);
  bytes.writeBigUInt64LE(64n << 20n, 40);
  bytes.writeUInt32LE(16 << 10, 48);
  bytes.writeUInt32LE(1024, 52);
  const streams = header.merged ? [13n, 77n, 13n, 77n] : [13n, 77n, 13n, 78n];
  for (const [i, value] of streams.entries()) bytes.writeBigUInt64LE(value, 56 + 8 * i);
  bytes.writeUInt32LE(header.follows ? 1 : 0, 88);
  bytes.writeUInt32LE(header.pidNamespace, 92);
  bytes.writeUInt32LE(header.envNames.length, 96);
  bytes.write(header.captureId, 104);
  bytes.write(header.envNames.map((name) => `${name}\0`).join(''), 232);
  return bytes;
}

export function encodeFrame(frame: Frame, offsetNs = HEADER.offsetNs): Buffer {
  const body = bodyOf(frame, offsetNs);
  const bytes = Buffer.alloc(Math.ceil((HEAD_BYTES + body.length) / 8) * 8);
  bytes.write('CFFR', 'latin1');
  bytes.writeUInt16LE(TYPES[frame.type], 4);
  bytes.writeUInt16LE(SOURCES[frame.source] | flagsOf(frame), 6);
  bytes.writeUInt32LE(bytes.length, 8);
  bytes.writeBigUInt64LE(frame.atNs - offsetNs, 16);
  bytes.writeUInt32LE(frame.who.pid, 24);
  bytes.writeUInt32LE(frame.who.space, 28);
  body.copy(bytes, HEAD_BYTES);
  bytes.writeUInt32LE(fnv32(bytes), 12);
  return bytes;
}

/** As trace.h's `trace_check`. */
function fnv32(bytes: Uint8Array): number {
  return bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193), 0x811c9dc5) >>> 0;
}

/** The hash of a WRITE record: slow and plain, to hold the quick one to it. */
export function fnv64(bytes: Uint8Array): bigint {
  const ends = [bytes.subarray(0, 128), bytes.subarray(bytes.length - 128)];
  const hashed = bytes.length <= 256 ? [bytes] : ends;
  let hash = 0xcbf29ce484222325n;
  for (const piece of hashed) {
    for (const byte of piece) {
      hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
    }
  }
  return hash;
}

function flagsOf(frame: Frame): number {
  if (frame.type !== 'start' && frame.type !== 'exec') return 0;
  const silent = frame.type === 'start' && frame.silent === true;
  const facts = (frame.cut ? 4 : 0) | (frame.redacted ? 8 : 0) | (frame.isStatic ? 16 : 0);
  const left = frame.type === 'start' && frame.left === true;
  return facts | (silent ? 32 : 0) | (left ? 64 : 0);
}

function bodyOf(frame: Frame, offsetNs: bigint): Buffer {
  switch (frame.type) {
    case 'start':
      return Buffer.concat([
        uint32s(frame.parent, frame.uid),
        uint64(BigInt(frame.startTicks)),
        innerOf(frame.inner),
        uint32s(frame.args, byteSum(frame.argv), frame.argv.length),
        uint32s(frame.envCount, Object.keys(frame.env).length, (frame.peakBefore ?? 0) / 1024),
        strings([frame.exe, frame.cwd, ...frame.argv]),
        strings(Object.entries(frame.env).map(([name, value]) => `${name}=${value}`)),
      ]);
    case 'exec':
      return Buffer.concat([
        uint32s(frame.spawned ?? 0, frame.args, byteSum(frame.argv), frame.argv.length),
        strings([frame.file, ...frame.argv]),
      ]);
    case 'execfail':
      return Buffer.concat([uint32s(frame.spawn ? 1 : 0, frame.errno), strings([frame.file])]);
    case 'fork':
      return Buffer.concat([
        uint64(BigInt(frame.startTicks)),
        uint32s(frame.parent),
        innerOf(frame.inner),
        uint32s(0),
      ]);
    case 'exit':
      return Buffer.concat([uint32s(frame.code, 0), usageOf(frame)]);
    case 'reap':
      return frame.sinceNs === undefined
        ? Buffer.concat([uint32s(frame.child, frame.status), usageOf(frame)])
        : Buffer.concat([uint32s(frame.child, frame.status), uint64(frame.sinceNs - offsetNs)]);
    case 'write':
      return Buffer.concat(frame.writes.map((record) => writeOf(record, offsetNs)));
    case 'drop':
      return uint32s(frame.frames, frame.errno);
  }
}

function usageOf({ usage }: Extract<Frame, { readonly type: 'exit' | 'reap' }>): Buffer {
  if (usage === undefined) return Buffer.alloc(0);
  return Buffer.concat([usage.cpuNs ?? 0, 0, usage.peakBytes ?? 0].map((n) => uint64(BigInt(n))));
}

function writeOf(record: WriteRecord, offsetNs: bigint): Buffer {
  const kind = STREAMS[record.stream] + (record.hash === undefined ? 2 ** 31 : 0);
  return Buffer.concat([
    uint64(record.atNs - offsetNs),
    uint32s(record.tookNs, kind, record.length, 0),
    uint64(record.hash ?? 0n),
  ]);
}

function innerOf(inner: Who | undefined): Buffer {
  return uint32s(inner?.pid ?? 0, inner?.space ?? 0);
}

function byteSum(argv: readonly string[]): number {
  return argv.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0);
}

function strings(texts: readonly string[]): Buffer {
  return Buffer.from(texts.map((text) => `${text}\0`).join(''));
}

/** Negative ones as C would store an int32_t. */
function uint32s(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [i, value] of values.entries()) bytes.writeUInt32LE(value >>> 0, 4 * i);
  return bytes;
}

function uint64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}
