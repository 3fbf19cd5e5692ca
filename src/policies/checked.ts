// One command decided by the policies that apply where it would run, without a server: what
// `cuff policy check` shows. How the policies are read is the caller's matter.

import { homeOf, settingsCandidates } from '../places.ts';
import { type Judgement, judge } from '../policy/decide.ts';
import type { Decision, Reason } from '../policy/decision.ts';
import type { LoadedPolicy } from '../policy/policy.ts';
import type { JsonObject } from '../text/json.ts';
import type { Env } from '../types.ts';
import { isBare, literalGlob } from './real-path.ts';

export type CheckResult = {
  readonly command: string;
  readonly cwd: string;
  readonly project: string;
  readonly mode: Judgement['mode'];
  readonly decision: Decision;
  readonly files: readonly string[];
};

export type CheckGround = {
  readonly env: Env;
  /** Absolute. */
  readonly project: string;
  readonly real: (path: string) => string;
};

/** Compiled once, for any number of commands. */
export function checkBy(
  policies: readonly LoadedPolicy[],
  { env, project, real }: CheckGround,
): (command: string, cwd: string) => CheckResult {
  const files = policies.flatMap(({ file }) => (file === undefined ? [] : [file]));
  // As for a server: what they say is what it does.
  const settings = settingsCandidates(project, env).map(({ path }) => path);
  const kept = [...settings, ...files].map(literalGlob);
  const judgement = judge({ policies, project, home: homeOf(env), real, bare: isBare, kept });
  const { mode } = judgement;
  return (command, cwd) => {
    const decision = judgement.decide(command, real(cwd));
    return { command, cwd, project, mode, decision, files };
  };
}

/** As `cuff policy check --json` prints it. */
export function checkedJson({
  command,
  cwd,
  project,
  mode,
  decision,
  files,
}: CheckResult): JsonObject {
  return {
    command,
    cwd,
    project,
    decision: decision.verdict,
    code: decision.code,
    mode,
    reasons: decision.reasons.map(reasonJson),
    policies: files,
  };
}

export function reasonJson(reason: Reason): JsonObject {
  const { verdict, code, detail, span, unit, message, rule, nearest, hint } = reason;
  return {
    decision: verdict,
    code,
    detail: detail ?? null,
    span: span === undefined ? null : { from: span.from, to: span.to },
    unit,
    message,
    rule: rule === undefined ? null : { ...rule, file: rule.file ?? null },
    nearest: nearest ?? null,
    hint: hint ?? null,
  };
}
