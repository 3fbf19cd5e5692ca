// The scratch directory of a project: agents write there what is not for the project. It lies in
// the state root, which only its user can enter, so no other user can put a link in its way. A
// policy of version 2 lets commands write it, and a server of the project makes it.

import { dirname, join } from 'node:path';
import { ensurePrivateDir, ensureRoot } from '../capture/paths.ts';
import { messageOf } from '../errors.ts';
import type { LoadedPolicy } from '../policy/policy.ts';
import { sha256 } from '../text/hash.ts';
import { realPath } from './real-path.ts';

/** Undefined: no policy that counts is of version 2. */
export function scratchOf(
  policies: readonly LoadedPolicy[],
  { project, stateRoot }: { readonly project: string; readonly stateRoot: string },
): string | undefined {
  if (!policies.some(({ policy }) => policy.version === 2)) return undefined;
  const name = sha256(realPath(project)).slice(0, NAME_LENGTH);
  return join(realPath(stateRoot), 'scratch', name);
}

const NAME_LENGTH = 16; // as the names of kept policies

/** Why it could not be made, or is not the user's alone; undefined: it is there. */
export function makeScratch(path: string, stateRoot: string): string | undefined {
  try {
    ensureRoot(stateRoot);
    ensurePrivateDir(dirname(path));
    ensurePrivateDir(path);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
