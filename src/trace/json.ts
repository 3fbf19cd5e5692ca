// A trace as JSON for programs. Times are whole nanoseconds since the start of the capture, which
// is told as a date: since 1970 they would not fit into a number of JSON readers.

import type { JsonObject } from '../text/json.ts';
import { type Image, lastImage } from './processes/process.ts';
import { usageFields } from './shown.ts';
import { lastMoment, type Trace, type TracedProcess, type TraceLoss } from './trace.ts';
import { criticalPath } from './views/critical.ts';

/** The abilities of the machine that tracing depends on, each with whether it has it. */
export type TraceCapabilities = Readonly<Record<string, boolean>>;

/** `chosen` are the processes to tell, if not all. */
export function traceJson(
  trace: Trace,
  capabilities: TraceCapabilities,
  chosen: readonly TracedProcess[] = trace.processes,
): JsonObject {
  const { captureId, mode, startedNs, processes, unattributedBytes, untraced } = trace;
  return {
    capture_id: captureId,
    enabled: true,
    mode: mode ?? null,
    started_at: timeOf(startedNs),
    capabilities,
    processes: chosen.map((one) => processJson(one, startedNs)),
    critical_path: criticalPath(processes, lastMoment(trace)).map(({ process, fromNs, toNs }) => ({
      pid: process.pid,
      start_ns: Number(fromNs - startedNs),
      end_ns: Number(toNs - startedNs),
    })),
    unattributed_bytes: unattributedBytes,
    untraced: untraced.map(untracedJson),
  };
}

/** The same for a capture without a trace. */
export function disabledJson(
  captureId: string,
  reason: string,
  capabilities: TraceCapabilities,
): JsonObject {
  return {
    capture_id: captureId,
    enabled: false,
    reason,
    capabilities,
    processes: [],
    unattributed_bytes: 0,
    untraced: [],
  };
}

/** `2026-01-18T14:30:52.123456789Z` */
export function timeOf(ns: bigint): string {
  const seconds = new Date(Number(ns / 1_000_000_000n) * 1000).toISOString().slice(0, 19);
  return `${seconds}.${String(ns % 1_000_000_000n).padStart(9, '0')}Z`;
}

function processJson(process: TracedProcess, startedNs: bigint): JsonObject {
  const { pid, ppid, startNs, endNs, images, exit, bytes, sources, failedExecs } = process;
  return {
    pid,
    ppid,
    start_ns: Number(startNs - startedNs),
    end_ns: endNs === undefined ? null : Number(endNs - startedNs),
    images: images.map((image) => imageJson(image, startedNs)),
    end: exit.kind === 'unknown' ? 'not_seen' : exit.kind,
    exit_code: exit.kind === 'exited' ? exit.code : null,
    signal: exit.kind === 'signaled' ? exit.signal : null,
    cpu_ns: null,
    peak_rss_bytes: null,
    ...usageFields(process),
    bytes,
    sources,
    ...(process.space !== 0 && { pid_namespace: process.space }),
    ...(process.forkedFrom !== undefined && { forked: true }),
    ...(lastImage(process)?.isStatic === true && { static: true }),
    ...(failedExecs.length > 0 && {
      failed_execs: failedExecs.map(({ file, errno }) => ({ file, errno })),
    }),
  };
}

function imageJson(image: Image, startedNs: bigint): JsonObject {
  const { exe, argv, cwd, startNs, args, cut, redacted, env } = image;
  return {
    exe,
    argv,
    cwd,
    start_ns: Number(startNs - startedNs),
    ...(cut && { argv_length: args }),
    ...(redacted && { redacted }),
    ...(Object.keys(env).length > 0 && { env }),
  };
}

const UNTRACED: Readonly<Record<TraceLoss['kind'], string>> = {
  writer: 'unknown_writer',
  static: 'static_program',
  silent: 'installs_seccomp_filter',
  dropped: 'dropped_frames',
  damaged: 'damaged_bytes',
  output: 'unattributed_bytes',
};

function untracedJson({ kind, ...details }: TraceLoss): JsonObject {
  return { reason: UNTRACED[kind], ...details };
}
