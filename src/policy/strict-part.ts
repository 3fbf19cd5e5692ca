// The part of a project's policy that is in force before it is trusted: the rules that deny and
// ask, the protected paths, and its default, mode, gate and sandbox, of which the strictest of all
// policies counts anyway. Everything that opens something waits for trust, and what answers for the
// person never counts.

import { counted } from '../text/plural.ts';
import { EMPTY_POLICY, type LoadedPolicy, type Policy } from './policy.ts';

/** The policy without everything that opens something. */
export function strictPart(policy: Policy): Policy {
  const { scopes, redirects, filters, env, network, programs, shadow } = EMPTY_POLICY;
  return {
    ...policy,
    version: 1, // the other says where commands write
    policies: policy.policies.map((group) => ({
      ...group,
      commands: group.commands.filter(({ decision }) => decision !== 'allow'),
    })),
    scopes: { ...scopes, protect: policy.scopes.protect },
    redirects,
    filters,
    env,
    network,
    programs,
    shadow,
  };
}

/**
 * The policy of a project without the keys that answer for the person. They never count there,
 * whether it is trusted or not: who may answer for a person is not for a repository to say.
 */
export function withoutAnswers(loaded: LoadedPolicy): LoadedPolicy {
  const { answerPrompts, onAsk } = loaded.policy;
  if (answerPrompts === undefined && onAsk === undefined) return loaded;
  const policy = { ...loaded.policy, answerPrompts: undefined, onAsk: undefined };
  return { ...loaded, policy };
}

/** The keys that `strictPart` leaves out, in a few words each. */
export function openingParts(policy: Policy): readonly string[] {
  const { scopes, redirects, filters, env, network, programs } = policy;
  const rules = policy.policies.flatMap(({ commands }) => commands);
  const allowing = rules.filter(({ decision }) => decision === 'allow').length;
  const lists = { 'scopes.cwd': scopes.cwd, 'scopes.read': scopes.read };
  const more = { 'scopes.write': scopes.write, redirects, env, network, programs };
  return [
    ...(allowing === 0 ? [] : [counted(allowing, 'allow rule')]),
    ...Object.entries({ ...lists, ...more }).flatMap(([key, list]) =>
      list.length === 0 ? [] : [key],
    ),
    ...(filters ? ['filters'] : []),
    ...(policy.shadow === undefined ? [] : ['shadow']),
  ];
}
