// A trace as a whole: the processes of a run, the bytes of each, and the gaps. A writer that only
// the kernel knows is a process, too.

import type { Channel, Chunk } from '../types.ts';
import { attribute, type Segment } from './attribution/attribution.ts';
import type { DecodedTrace } from './decode/decode.ts';
import type { Frame, TraceMode } from './decode/format.ts';
import { lastImage, type Process } from './processes/process.ts';
import { buildProcesses, type ProcessTable, type RunEnd } from './processes/processes.ts';

export type TraceInput = {
  readonly captureId: string;
  readonly decoded: DecodedTrace;
  readonly chunks: readonly Chunk[];
  /** Bytes of output.bin; fewer at its end. */
  read(offset: number, length: number): Uint8Array;
  readonly runEnd: RunEnd;
};

export type StreamBytes = Readonly<Record<Exclude<Channel, 'unknown'>, number>>;

export type TracedProcess = Process & { readonly bytes: StreamBytes };

/** Something that is not in the list of processes, or not whole. */
export type TraceLoss =
  /** It wrote, and nothing else is known about it. */
  | { readonly kind: 'writer'; readonly pid: number; readonly bytes: number }
  /** A static program that was not followed: only those of its children are known that report. */
  | { readonly kind: 'static'; readonly pid: number; readonly exe: string }
  /** It reported its start and nothing else: its program installs a seccomp filter by itself. */
  | { readonly kind: 'silent'; readonly pid: number; readonly exe: string }
  | { readonly kind: 'dropped'; readonly pid: number; readonly frames: number }
  | { readonly kind: 'damaged'; readonly bytes: number }
  | { readonly kind: 'output'; readonly bytes: number };

export type Trace = {
  readonly captureId: string;
  readonly mode: TraceMode | undefined;
  /** Epoch nanoseconds; the first thing that is known of when the header is lost. */
  readonly startedNs: bigint;
  /** Parents before their children, in order of their start. */
  readonly processes: readonly TracedProcess[];
  /** Every byte of the output once, in order. */
  readonly segments: readonly Segment[];
  readonly unattributedBytes: number;
  readonly untraced: readonly TraceLoss[];
};

const MS_NS = 1_000_000n;

export function buildTrace({ captureId, decoded, chunks, read, runEnd }: TraceInput): Trace {
  const { header, frames } = decoded;
  const table = buildProcesses(frames, header, runEnd);
  const strangers = strangersOf(table, chunks);
  const found = attribute({
    chunks,
    writes: table.writes,
    read,
    writerOf: (pid, at) => writerOf(table, pid, at)?.id ?? strangers.get(pid)?.id,
  });
  const only = onlyWriter(table.processes, decoded);
  const segments = found.map((one) => ({ ...one, process: one.process ?? only }));
  const bytes = bytesOf(segments);
  const known = [...table.processes, ...strangers.values()];
  const processes = known.map((one) => ({ ...one, bytes: bytes.get(one.id) ?? NO_BYTES }));
  const unattributedBytes = sumOf(bytes.get(undefined) ?? NO_BYTES);
  return {
    captureId,
    mode: header?.mode,
    startedNs: header?.startedNs ?? processes[0]?.startNs ?? 0n,
    processes,
    segments,
    unattributedBytes,
    untraced: untracedOf(processes, decoded, unattributedBytes),
  };
}

/** Where one process wrote. A pid that was given twice in a run means both. */
export function processOutput(trace: Trace, pid: number): readonly Omit<Segment, 'process'>[] {
  const ids = new Set(trace.processes.filter((one) => one.pid === pid).map(({ id }) => id));
  return trace.segments
    .filter(({ process }) => process !== undefined && ids.has(process))
    .map(({ offset, length, channel }) => ({ offset, length, channel }));
}

/** The last that is known: until here everything that did not end is drawn. */
export function lastMoment({
  processes,
  startedNs,
}: Pick<Trace, 'processes' | 'startedNs'>): bigint {
  return processes.reduce((last, { startNs, endNs = startNs }) => {
    return endNs > last ? endNs : last;
  }, startedNs);
}

const NO_BYTES: StreamBytes = { stdout: 0, stderr: 0, pty: 0 };

function sumOf({ stdout, stderr, pty }: StreamBytes): number {
  return stdout + stderr + pty;
}

function writerOf(table: ProcessTable, pid: number, at: number): Process | undefined {
  return table.find({ pid, space: 0 }, BigInt(at) * MS_NS);
}

/** Writers that the kernel names and that have no frame at all. */
function strangersOf(table: ProcessTable, chunks: readonly Chunk[]): Map<number, Process> {
  const strangers = new Map<number, Process>();
  for (const { pid = 0, at } of chunks) {
    if (pid === 0 || strangers.has(pid) || writerOf(table, pid, at) !== undefined) continue;
    strangers.set(pid, {
      id: table.processes.length + strangers.size,
      pid,
      space: 0,
      ppid: 0,
      parent: undefined,
      depth: 0,
      startNs: BigInt(at) * MS_NS,
      endNs: undefined,
      images: [],
      forkedFrom: undefined,
      exit: { kind: 'unknown' },
      cpuNs: undefined,
      peak: undefined,
      failedExecs: [],
      sources: ['kernel'],
    });
  }
  return strangers;
}

function bytesOf(segments: readonly Segment[]): Map<number | undefined, StreamBytes> {
  const totals = new Map<number | undefined, StreamBytes>();
  for (const { process, channel, length } of segments) {
    const sum = totals.get(process) ?? NO_BYTES;
    const stream = channel === 'unknown' ? 'stdout' : channel;
    totals.set(process, { ...sum, [stream]: sum[stream] + length });
  }
  return totals;
}

/**
 * On pipes a static program reports no writes. Where it is the only process of a run, is followed
 * (so that each child would be known), and no report is missing, every byte is its own. Beside any
 * other process it would be a guess: that one may write by system calls of its own.
 */
function onlyWriter(
  processes: readonly Process[],
  { header, frames, damagedBytes }: DecodedTrace,
): number | undefined {
  const [only, ...others] = processes;
  if (only === undefined || others.length > 0 || header?.mode !== 'pipe') return undefined;
  const lost = damagedBytes > 0 || frames.some((frame) => frame.type === 'drop' || isAlone(frame));
  const followed = header.follows && only.sources.includes('ptrace');
  return !lost && followed && only.images.every(({ isStatic }) => isStatic) ? only.id : undefined;
}

/** What such a program does and starts is not reported. */
function isAlone(frame: Frame): boolean {
  return frame.type === 'start' && (frame.silent === true || frame.left === true);
}

function untracedOf(
  processes: readonly TracedProcess[],
  { frames, damagedBytes }: DecodedTrace,
  unattributedBytes: number,
): readonly TraceLoss[] {
  const found: TraceLoss[] = [];
  for (const { pid, sources, bytes, images } of processes) {
    const image = lastImage({ images });
    const written = sumOf(bytes);
    if (image === undefined && written > 0) found.push({ kind: 'writer', pid, bytes: written });
    if (image?.isStatic === true && !image.inherited && !sources.includes('ptrace')) {
      found.push({ kind: 'static', pid, exe: image.exe });
    }
  }
  for (const frame of frames) {
    const { pid } = frame.who;
    if (frame.type === 'start' && frame.silent) found.push({ kind: 'silent', pid, exe: frame.exe });
    if (frame.type === 'drop') found.push({ kind: 'dropped', pid, frames: frame.frames });
  }
  if (damagedBytes > 0) found.push({ kind: 'damaged', bytes: damagedBytes });
  if (unattributedBytes > 0) found.push({ kind: 'output', bytes: unattributedBytes });
  return found;
}
