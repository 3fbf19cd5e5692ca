// The trace of a capture: frames, index and bytes, put together. For a live run it holds what is
// known so far.

import type { ByteSource } from '../capture/byte-source.ts';
import { findSource } from '../capture/open-source.ts';
import { type Snapshot, spans, withSnapshot } from '../capture/snapshot.ts';
import { type Capture, readEvents } from '../capture/store.ts';
import { AppError, errnoOf, messageOf } from '../errors.ts';
import { chromeTrace } from '../trace/chrome.ts';
import { type DecodedTrace, decodeTrace } from '../trace/decode/decode.ts';
import { disabledJson, type TraceCapabilities, traceJson } from '../trace/json.ts';
import { otlpTrace } from '../trace/otlp.ts';
import { renderTimeline } from '../trace/timeline.ts';
import {
  buildTrace,
  lastMoment,
  processOutput,
  type Trace,
  type TracedProcess,
} from '../trace/trace.ts';
import { renderTree } from '../trace/tree.ts';
import { isChoice, matching, type ProcessChoice, withAncestors } from '../trace/views/choice.ts';
import { criticalPath, renderCritical } from '../trace/views/critical.ts';
import { differenceOf, differenceRows, renderDifference } from '../trace/views/difference.ts';
import type { Drawing } from '../trace/views/process-table.ts';
import { rank, renderTop, type TopKey } from '../trace/views/top.ts';
import type { Channel, Chunk, ProcessId } from '../types.ts';

export type { Drawing, ProcessChoice, TopKey, Trace, TracedProcess };
export {
  chromeTrace,
  criticalPath,
  differenceOf,
  differenceRows,
  isChoice,
  lastMoment,
  matching,
  otlpTrace,
  rank,
  renderCritical,
  renderDifference,
  renderTimeline,
  renderTop,
  renderTree,
  withAncestors,
};

export type CapturedTrace =
  | {
      readonly kind: 'traced';
      readonly trace: Trace;
      readonly capabilities: TraceCapabilities;
    }
  | { readonly kind: 'untraced'; readonly reason: string };

/** The reason of a run that was started without `--trace`. */
export const NOT_REQUESTED = 'tracing was not requested';

/** `alive`: the processes of a run that goes on, looked up before this. */
export function readTrace(capture: Capture, alive: readonly ProcessId[] = []): CapturedTrace {
  const reason = whyUntraced(capture);
  if (reason !== undefined) return { kind: 'untraced', reason };
  // Frames before the output: the writer of any byte read afterwards has then reported its start.
  const decoded = decodedTrace(capture);
  if (typeof decoded === 'string') return { kind: 'untraced', reason: decoded };
  if (decoded.header === undefined) {
    return { kind: 'untraced', reason: 'its trace.bin is no trace that this version can read' };
  }
  const trace = withSnapshot(capture, (snapshot) => built(capture, decoded, snapshot, alive));
  return { kind: 'traced', trace, capabilities: capabilitiesOf(trace, decoded) };
}

function whyUntraced({ meta }: Capture): string | undefined {
  if (meta === undefined) return 'its meta.json is missing or damaged';
  if (meta.trace === undefined) return NOT_REQUESTED;
  return meta.trace.enabled ? undefined : meta.trace.reason;
}

/** The reason that the runner gave, if any. */
function whyMissing(capture: Capture): string {
  const said = readEvents(capture).find(({ type }) => type === 'trace');
  if (said?.type === 'trace') return said.reason;
  const starting = capture.state === 'starting';
  return starting ? 'it has not begun yet' : 'its trace.bin is gone, or could not be made';
}

// Writers stop at 64 MiB of frames; anything beyond this limit is damage.
const TRACE_BYTES_MAX = 128 * 1024 * 1024;

/** Or why it cannot be read: another file may be in its place. */
function decodedTrace(capture: Capture): DecodedTrace | string {
  let source: ByteSource | undefined;
  try {
    source = findSource(capture.dir, 'trace.bin', capture.decrypt);
    if (source === undefined) return whyMissing(capture);
    const bytes = source.read(0, TRACE_BYTES_MAX);
    const decoded = decodeTrace(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
    return { ...decoded, damagedBytes: decoded.damagedBytes + source.size - bytes.length };
  } catch (error) {
    const code = errnoOf(error);
    if (code === undefined || code === 'decryption_failed') throw error;
    if (code === 'capture_damaged') return messageOf(error).replace(/\.$/, '');
    if (error instanceof AppError) return 'in the place of its trace.bin is something else';
    return `its trace.bin cannot be read (${code})`;
  } finally {
    source?.close();
  }
}

function built(
  { id, meta, final }: Capture,
  decoded: DecodedTrace,
  snapshot: Snapshot,
  alive: readonly ProcessId[],
): Trace {
  const { end } = snapshot;
  const chunks = Array.from(spans(snapshot, 0, end), ({ lines = 0, ...span }): Chunk => {
    return { ...span, lines };
  });
  return buildTrace({
    captureId: id,
    decoded,
    chunks,
    read: (offset, length) => bytesNear(snapshot, offset, Math.min(length, end - offset)),
    runEnd: { root: meta?.child, outcome: final?.outcome, endedAt: final?.at, alive },
  });
}

/** Which mechanisms this trace could use. */
function capabilitiesOf(trace: Trace, { header }: DecodedTrace): TraceCapabilities {
  return {
    shim: trace.processes.some(({ sources }) => sources.includes('shim')),
    socket: header?.mode === 'socket',
    ptrace: header?.follows === true,
  };
}

const NO_CAPABILITIES: TraceCapabilities = { shim: false, socket: false, ptrace: false };

/** `{capture_id, enabled, reason?, capabilities, processes, unattributed_bytes, untraced}` */
export function capturedTraceJson(
  { id }: Capture,
  found: CapturedTrace,
  chosen?: readonly TracedProcess[],
): Readonly<Record<string, unknown>> {
  if (found.kind === 'untraced') return disabledJson(id, found.reason, NO_CAPABILITIES);
  return traceJson(found.trace, found.capabilities, chosen);
}

const PIECE_BYTES = 64 * 1024;

/** The bytes one process wrote, in order of arrival, of one stream or of all. */
export function* outputOf(
  capture: Capture,
  trace: Trace,
  pid: number,
  wanted: (channel: Channel) => boolean = () => true,
): Generator<Uint8Array> {
  for (const { offset, length, channel } of processOutput(trace, pid)) {
    for (let at = offset; wanted(channel) && at < offset + length; at += PIECE_BYTES) {
      const piece = Math.min(PIECE_BYTES, offset + length - at);
      yield withSnapshot(capture, (snapshot) => bytesAt(snapshot, at, piece));
    }
  }
}

/** For comparisons: bytes of the hole equal nothing that a process wrote. */
function bytesNear({ output, hole }: Snapshot, offset: number, length: number): Uint8Array {
  const kept = hole === undefined || offset >= hole.to || offset + length <= hole.from;
  return kept ? output.read(offset, length) : new Uint8Array(Math.max(0, length));
}

/** The kept bytes of `[offset, offset + length)` of output.bin. */
function bytesAt(snapshot: Snapshot, offset: number, length: number): Uint8Array {
  const kept = [...spans(snapshot, offset, offset + length)];
  return Buffer.concat(kept.map((span) => snapshot.output.read(span.offset, span.length)));
}
