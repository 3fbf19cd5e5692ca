// A run that is judged while it goes on: its programs ask a gate before they begin. That needs what
// tracing needs. Where nothing may be written down about the run, because nobody asked for it or
// there is a secret in it, its programs ask all the same and say nothing else.

import { AppError } from '../errors.ts';
import type { GateSpec, RunSpec } from '../run/spec.ts';
import type { Env } from '../types.ts';
import { type TraceCheck, type TracePlan, traceCheck } from './trace-check.ts';

type At = {
  readonly env: Env;
  readonly native: boolean;
};

/** `needed`: it must not run without, even if a program may when nobody answers. */
export type AskedGate = GateSpec & { readonly needed?: boolean };

/** Whether programs can ask here. */
export function gateCheck({ env, native }: At): TraceCheck {
  return native ? traceCheck(env) : { ok: false, reason: NO_RUNNER };
}

/** The plan with the gate in it. Without a way to ask, a strict one is refused. */
export function withGate(plan: TracePlan, asked: AskedGate | undefined, at: At): TracePlan {
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

/** What a run in a sandbox must be able to reach there, so that it can be traced and judged. */
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
