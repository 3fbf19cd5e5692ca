// One command decided by the policies that apply where it would run, without a server: what
// `cuff policy check` shows. How the policies are read is the caller's matter.

import { stateRoot } from '../capture/paths.ts';
import { homeOf, settingsCandidates } from '../places.ts';
import { type Judgement, judge } from '../policy/decide.ts';
import type { Decision, Reason } from '../policy/decision.ts';
import type { LoadedPolicy } from '../policy/policy.ts';
import type { JsonObject } from '../text/json.ts';
import type { Env } from '../types.ts';
import { activationOf } from './activation.ts';
import { type BudgetState, Budgets, budgetUses } from './budgets.ts';
import { isBare, literalGlob } from './real-path.ts';
import { scratchOf } from './scratch.ts';
import { isTracked } from './tracked.ts';

export type CheckResult = {
  readonly command: string;
  readonly cwd: string;
  readonly project: string;
  readonly mode: Judgement['mode'];
  readonly decision: Decision;
  readonly files: readonly string[];
  /** Of the rules that allow it. */
  readonly budgets: readonly BudgetState[];
};

export type CheckGround = {
  readonly env: Env;
  /** Absolute. */
  readonly project: string;
  readonly real: (path: string) => string;
  /** As if an agent with this name had asked, and had proven it. */
  readonly agent?: string | undefined;
};

/** Compiled once, for any number of commands. */
export function checkBy(
  policies: readonly LoadedPolicy[],
  { env, project, real, agent }: CheckGround,
): (command: string, cwd: string) => CheckResult {
  const files = policies.flatMap(({ file }) => (file === undefined ? [] : [file]));
  // As for a server: what they say is what it does.
  const settings = settingsCandidates(project, env).map(({ path }) => path);
  const kept = [...settings, ...files].map(literalGlob);
  const scratch = scratchOf(policies, { project, stateRoot: stateRoot(env) });
  const disk = { activation: (script: string) => activationOf(script, real), tracked: isTracked };
  const around = { real, bare: isBare, kept, scratch, disk };
  const judgement = judge({ policies, project, home: homeOf(env), ...around });
  const { mode } = judgement;
  return (command, cwd) => {
    const decided = judgement.decide(command, real(cwd), { agent });
    const uses = budgetUses(decided);
    if (uses.length === 0)
      return { command, cwd, project, mode, decision: decided, files, budgets: [] };
    const budgets = new Budgets(stateRoot(env), project);
    const decision = budgets.within(decided, policies);
    return { command, cwd, project, mode, decision, files, budgets: budgets.states(uses) };
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
  budgets,
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
    ...(budgets.length > 0 && {
      budgets: budgets.map(({ rule, max, used }) => ({ pattern: rule.pattern, max, used })),
    }),
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
