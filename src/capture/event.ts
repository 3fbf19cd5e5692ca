// Lines of events.jsonl, the events of a run. The head of `format.ts` describes them.
import {
  asCount,
  asCounts,
  asString,
  asTime,
  defined,
  type JsonObject,
  parseObject,
  whole,
} from '../text/json.ts';
import type { Hole, Outcome, Survivor } from '../types.ts';
import { holeIn, line, outcomeIn, survivorOut, survivorsIn, time } from './format.ts';

export type CaptureEvent = {
  readonly at: number;
  /** The byte of output.bin before which it happened; older captures do not say. */
  readonly offset?: number;
} & (
  | { readonly type: 'resize'; readonly cols: number; readonly rows: number }
  | { readonly type: 'signal'; readonly signal: string; readonly from: string }
  | Gap
  | { readonly type: 'shell_exited'; readonly end: Exclude<Outcome, { kind: 'failed' }> }
  | { readonly type: 'survivors'; readonly processes: readonly Survivor[] }
  | { readonly type: 'trace'; readonly reason: string }
  | {
      readonly type: 'kill';
      readonly signal: string;
      readonly by: string;
      readonly died: readonly number[];
      readonly alive: readonly number[];
    }
);

/** Bytes that were shown but could not be kept. */
export type Gap = {
  readonly type: 'gap';
  readonly offset: number;
  readonly lostBytes: number;
  readonly reason: string;
  /** They were kept for a while: all of output.bin that was given back so far. */
  readonly hole?: Hole;
  /** The same of index.jsonl. */
  readonly indexHole?: Hole;
};

export function encodeEvent(event: CaptureEvent): string {
  const { type, at, offset } = event;
  const place = offset === undefined ? {} : { offset };
  return line({ type, timestamp: time(at), ...place, ...eventOut(event) });
}

function eventOut(event: CaptureEvent): JsonObject {
  switch (event.type) {
    case 'resize':
      return { cols: event.cols, rows: event.rows };
    case 'signal':
      return { signal: event.signal, from: event.from };
    case 'gap':
      return {
        lost_bytes: event.lostBytes,
        reason: event.reason,
        ...(event.hole && { hole: [event.hole.from, event.hole.to] }),
        ...(event.indexHole && { index_hole: [event.indexHole.from, event.indexHole.to] }),
      };
    case 'shell_exited':
      return event.end.kind === 'exited'
        ? { exit_code: event.end.code }
        : { signal: event.end.signal };
    case 'survivors':
      return { processes: event.processes.map(survivorOut) };
    case 'trace':
      return { enabled: false, reason: event.reason };
    case 'kill':
      return { signal: event.signal, by: event.by, died: event.died, alive: event.alive };
  }
}

export function decodeEvent(from: string | JsonObject): CaptureEvent | undefined {
  const json = typeof from === 'string' ? parseObject(from) : from;
  const at = asTime(json?.timestamp);
  if (json === undefined || at === undefined) return undefined;
  const event = eventIn(json, at);
  const offset = asCount(json.offset);
  return event && offset !== undefined ? { ...event, offset } : event;
}

function eventIn(json: JsonObject, at: number): CaptureEvent | undefined {
  switch (json.type) {
    case 'resize': {
      const size = whole({ cols: asCount(json.cols), rows: asCount(json.rows) });
      return size && { type: 'resize', at, ...size };
    }
    case 'signal': {
      const signal = asString(json.signal);
      const from = asString(json.from) ?? '';
      return signal === undefined ? undefined : { type: 'signal', at, signal, from };
    }
    case 'gap': {
      const gap = whole({
        offset: asCount(json.offset),
        lostBytes: asCount(json.lost_bytes),
        reason: asString(json.reason),
      });
      const holes = { hole: holeIn(json.hole), indexHole: holeIn(json.index_hole) };
      return gap && { type: 'gap', at, ...gap, ...defined(holes) };
    }
    case 'shell_exited': {
      const state = typeof json.signal === 'string' ? 'signaled' : 'exited';
      const end = outcomeIn({ ...json, state });
      return end === undefined || end.kind === 'failed' ? undefined : { type: json.type, at, end };
    }
    case 'survivors': {
      const processes = survivorsIn(json.processes);
      return processes && { type: 'survivors', at, processes };
    }
    case 'trace': {
      const reason = json.enabled === false ? asString(json.reason) : undefined;
      return reason === undefined ? undefined : { type: 'trace', at, reason };
    }
    case 'kill': {
      const kill = whole({
        signal: asString(json.signal),
        by: asString(json.by),
        died: asCounts(json.died),
        alive: asCounts(json.alive),
      });
      return kill && { type: 'kill', at, ...kill };
    }
    default:
      return undefined; // a later version's event
  }
}
