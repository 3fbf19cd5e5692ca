// The key `trace` of meta.json: {"enabled":true,"mode":"socket|pipe|pty"} for a run whose processes
// report to trace.bin, {"enabled":false,"reason"} for one that could not be traced although the
// caller asked for it. Without the key no trace was requested.
import { asObject, asOneOf, asString } from '../text/json.ts';
import type { CaptureTrace, TraceMode } from '../types.ts';

const MODES: readonly TraceMode[] = ['socket', 'pipe', 'pty'];

/** Undefined for anything that says neither. */
export function decodeTraceKey(value: unknown): CaptureTrace | undefined {
  const json = asObject(value);
  const mode = asOneOf(MODES, json?.mode);
  if (json?.enabled === true) return mode && { enabled: true, mode };
  const reason = asString(json?.reason);
  return json?.enabled === false && reason !== undefined ? { enabled: false, reason } : undefined;
}
