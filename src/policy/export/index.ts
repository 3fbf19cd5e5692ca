// Writes the rules of a policy in the format of another agent, as far as that can express them, and
// lists what it cannot. `plan.ts` chooses the rules and finds the losses by the abilities of the
// target; one file for each target (`claude.ts`, `codex.ts`, `gemini.ts`, `opencode.ts`) has its
// abilities and its syntax; `text.ts` has the lines for people. Pure: returns text and losses, and
// writes no file.

import { forAgent } from '../agents.ts';
import { type Policy, unsaved } from '../policy.ts';
import { CLAUDE, claudeText } from './claude.ts';
import { CODEX, codexText } from './codex.ts';
import { GEMINI, geminiText } from './gemini.ts';
import { OPENCODE, opencodeText } from './opencode.ts';
import { type Ability, CLAUSES, type Loss, type Plan, planOf } from './plan.ts';
import { lossLine } from './text.ts';

export { lossLine };

export const TARGETS = ['claude', 'codex', 'opencode', 'gemini'] as const;
export type Target = (typeof TARGETS)[number];

export type PolicyExport = {
  readonly text: string;
  readonly losses: readonly Loss[];
  /** How many rules of the other tool there are, and how many variants of ours they are from. */
  readonly rules: number;
};

const TOOLS: Readonly<
  Record<Target, { readonly ability: Ability; readonly write: (plan: Plan) => string }>
> = {
  claude: { ability: CLAUDE, write: claudeText },
  codex: { ability: CODEX, write: codexText },
  opencode: { ability: OPENCODE, write: opencodeText },
  gemini: { ability: GEMINI, write: geminiText },
};

/** `loose`: also rules that allow more there than here. */
export function exportPolicy(
  policy: Policy,
  to: Target,
  { loose }: { readonly loose: boolean },
): PolicyExport {
  const { ability, write } = TOOLS[to];
  // The other tool is an agent, and its name needs no proof in its own file.
  const [{ policy: own } = { policy }] = forAgent([unsaved(policy)], to);
  const plan = planOf(own, ability, loose);
  const losses = [...othersLoss(policy, own), ...plan.losses];
  return { text: write(plan), losses, rules: plan.items.length };
}

function othersLoss(policy: Policy, own: Policy): readonly Loss[] {
  const kept = new Set(own.policies.flatMap(({ commands }) => commands));
  const others = policy.policies.flatMap(({ commands }) =>
    commands.filter((one) => !kept.has(one)),
  );
  if (others.length === 0) return [];
  const items = [...new Set(others.map(({ pattern }) => pattern))];
  return [{ kind: 'agents', loosens: false, leftOut: true, message: CLAUSES.agents, items }];
}
