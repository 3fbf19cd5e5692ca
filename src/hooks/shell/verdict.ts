// The policy's word on a command that an agent's shell is about to run. The command is judged, not
// the wrapper around it. A hook may have judged it a moment ago: if nothing that it looked at has
// changed since, its word counts. No person can be asked here, so a question that no person has
// answered is a refusal with the id for `cuff policy approve`.

import { messageOf } from '../../errors.ts';
import { isThere } from '../../places.ts';
import { policyPlaces } from '../../policies/places.ts';
import type { Question, Verdict } from './judge.ts';

const FREE: Verdict = {
  run: true,
  decision: null,
  hold: () => ({ words: [], sandboxed: false }),
};

/** Never rejects: what cannot be judged does not run where there is a policy. */
export async function judge(question: Question): Promise<Verdict> {
  const { project, env } = question;
  const places = policyPlaces({ project, env });
  if (!places.some(({ path, named }) => named || isThere(path))) return FREE;
  try {
    return await (await import('./judge.ts')).judgeBy(question);
  } catch (error) {
    const decision = { verdict: 'deny', code: 'policy.unreadable', mode: 'enforce' } as const;
    const text = `cuff policy: denied (policy.unreadable).\n${messageOf(error)}`;
    return { run: false, decision: { ...decision, rule: null, approved: null }, text };
  }
}
