// A run whose programs ask a gate before they begin. That needs the shim, as tracing does. If the
// run must not be traced (no trace was requested, or its text holds a secret), the programs ask and
// report nothing else.

import { AppError } from '../errors.ts';
import type { GateSpec, RunSpec } from '../run/spec.ts';
import type { Env } from '../types.ts';
import { type TraceCheck, type TracePlan, traceCheck } from './trace-check.ts';

type At = {
  readonly env: Env;
  readonly native: boolean;
};

/** `needed`: the run must not start without a gate, even if its programs may begin unanswered. */
export type GateRequest = GateSpec & { readonly needed?: boolean };

/** Whether programs can ask here. */
export function gateCheck({ env, native }: At): TraceCheck {
  return native ? traceCheck(env) : { ok: false, reason: NO_RUNNER };
}

/** The plan with the gate in it. A strict gate is refused where programs cannot ask. */
export function withGate(plan: TracePlan, asked: GateRequest | undefined, at: At): TracePlan {
  if (asked === undefined) return plan;
  const gate = { path: asked.path, strict: asked.strict };
  if (plan.spec !== undefined) return { ...plan, spec: { ...plan.spec, gate } };
  const check = gateCheck(at);
  if (check.ok) {
    const spec = { shimDir: check.shimDir, envNames: [], frames: false, stamps: false, gate };
    return { ...plan, spec };
  }
  if (!gate.strict && asked.needed !== true) return plan;
  throw new AppError('start_failed', `Processes cannot be judged here: ${check.reason}.`, {
    hint: 'Say `gate: on` in the policy to run commands unjudged where they cannot be judged.',
  });
}

const NO_RUNNER = 'it is run without the native runner';

/** Files that must be reachable inside a sandbox for the run to be traced and judged. */
export function reachedBy(
  dir: string,
  trace: RunSpec['trace'],
): { readonly read: readonly string[]; readonly write: readonly string[] } {
  if (trace === undefined) return { read: [], write: [] };
  const { shimDir, gate } = trace;
  return {
    read: [shimDir, ...(gate === undefined ? [] : [gate.path])],
    write: [`${dir}/trace.bin`, `${dir}/control`],
  };
}
