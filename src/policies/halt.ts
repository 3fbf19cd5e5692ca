// A server whose policy or settings cannot be read runs nothing until they can. That is a policy of
// its own: it denies every command and says which file is wrong, so that whatever asks a policy
// needs no second question. Calls that only read ask no policy.

import type { Decision, Reason } from '../policy/decision.ts';
import type { InForce } from './decide.ts';

export type HaltCause = 'policy' | 'settings';

const WHAT_TO_DO: Readonly<Record<HaltCause, string>> = {
  policy: 'Correct the policy, or set `mode: off` in it.',
  settings: 'Correct the settings file.',
};

/** `problems`: `file:line:column: message`, one line each. */
export type Halts = ReadonlyMap<HaltCause, string>;

/** `under`: the policy for processes of commands that run already. */
export function haltedBy(halts: Halts, under: InForce | undefined): InForce {
  const decision: Decision = {
    verdict: 'deny',
    code: 'halted',
    reasons: [...halts].map(([cause, problems]) => reasonOf(cause, problems)),
  };
  return {
    mode: 'enforce',
    judgement: {
      mode: 'enforce',
      gate: under?.judgement.gate ?? 'off',
      sandbox: under?.judgement.sandbox ?? 'off',
      decide: () => decision,
      decideProcess: () => decision,
      decideWrite: () => decision,
    },
    policies: under?.policies ?? [],
    decide: () => ({ decision, relies: false, diverges: false }),
    decideWrite: () => decision,
    denies: under?.denies ?? (() => undefined),
    explain: () => haltText(halts),
  };
}

function haltText(halts: Halts): string {
  const causes = [...halts.keys()];
  return [
    `cuff ${causes.join(' and ')}: not run. Nothing runs until ${filesOf(causes)} can be read.`,
    ...[...halts].map(([cause, problems]) => `${problems}\n${WHAT_TO_DO[cause]}`),
    'The server then goes on without a restart. Tools that only read work meanwhile.',
  ].join('\n');
}

function filesOf(causes: readonly HaltCause[]): string {
  return causes.map((cause) => (cause === 'policy' ? 'the policy' : 'the settings')).join(' and ');
}

function reasonOf(cause: HaltCause, problems: string): Reason {
  return {
    verdict: 'deny',
    code: 'halted',
    detail: cause,
    span: undefined,
    unit: '',
    message: problems,
    rule: undefined,
    nearest: undefined,
    hint: WHAT_TO_DO[cause],
  };
}
