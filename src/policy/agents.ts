// Rules that are about some agents alone. An agent's name is only what it says of itself, so a rule
// that allows counts for an agent whose name is proven and listed, and a rule that denies or asks
// for everybody but a known agent with a proven name that is not listed.

import { agentName, isAgentId } from '../text/agents.ts';
import type { CommandRule, LoadedPolicy } from './policy.ts';

/** Whether some rule is not about every agent. */
export function namesAgents(policies: readonly LoadedPolicy[]): boolean {
  return rulesIn(policies).some(({ agents }) => agents !== undefined);
}

/** The policies with the rules that count for this agent. Undefined: no name was proven. */
export function forAgent(
  policies: readonly LoadedPolicy[],
  agent: string | undefined,
): readonly LoadedPolicy[] {
  const name = agent === undefined ? undefined : agentName(agent);
  return withRules(policies, (rule) => counts(rule, name));
}

/** The same with the rules that allow something to any agent. */
export function forAnyAgent(policies: readonly LoadedPolicy[]): readonly LoadedPolicy[] {
  return withRules(policies, (rule) => rule.decision === 'allow' || counts(rule, undefined));
}

function counts({ agents, decision }: CommandRule, name: string | undefined): boolean {
  if (agents === undefined) return true;
  if (name !== undefined && agents.some((one) => agentName(one) === name)) return true;
  return decision !== 'allow' && !isAgentId(name);
}

function withRules(
  policies: readonly LoadedPolicy[],
  has: (rule: CommandRule) => boolean,
): readonly LoadedPolicy[] {
  return policies.map((loaded) => {
    const groups = loaded.policy.policies.map((group) => ({
      ...group,
      commands: group.commands.filter(has),
    }));
    return { ...loaded, policy: { ...loaded.policy, policies: groups } };
  });
}

function rulesIn(policies: readonly LoadedPolicy[]): readonly CommandRule[] {
  return policies.flatMap(({ policy }) => policy.policies.flatMap(({ commands }) => commands));
}
