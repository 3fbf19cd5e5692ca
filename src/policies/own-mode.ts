// Whether a policy is enforced that no project brought. The shell of an agent has to know it before
// anything of ours runs: where no helper can judge a command, it goes by this and nothing else.

import { homeOf } from '../places.ts';
import type { Env } from '../types.ts';
import { readPolicyFile } from './files.ts';
import { type PolicyWhere, policyPlaces } from './places.ts';

type OwnWhere = { readonly env: Env } & Pick<PolicyWhere, 'systemFile'>;

/** Also for a file that cannot be read and may say so. `CUFF_POLICY` is for one start alone. */
export function isOwnPolicyEnforced({ env, systemFile }: OwnWhere): boolean {
  const project = homeOf(env);
  const places = policyPlaces({ project, env: { ...env, CUFF_POLICY: undefined }, systemFile });
  return places
    .filter(({ origin }) => origin !== 'project')
    .map((place) => readPolicyFile(place, { home: project, project }))
    .some((file) => {
      if (file.kind === 'good') return file.loaded.policy.mode === 'enforce';
      return file.kind === 'bad' && (file.mode === undefined || file.mode === 'enforce');
    });
}
