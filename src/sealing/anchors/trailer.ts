// The root of the ledger as a line in the commits of agents: it travels with the push that people
// do anyway, and tells others no more than how many lines the ledger has.

import { trailerOf } from '../verify/anchors.ts';
import { signedHead } from './anchoring.ts';
import type { AnchorTools } from './place.ts';
import { wantedAnchors } from './wanted.ts';

/** Undefined unless the user's settings name it, and something is signed. Never rejects. */
export async function sealTrailer(
  tools: Pick<AnchorTools, 'env' | 'project' | 'stateRoot'>,
): Promise<string | undefined> {
  try {
    const { targets } = await wantedAnchors(tools);
    if (!targets.some(({ kind }) => kind === 'trailer')) return undefined;
    const head = signedHead(tools.stateRoot);
    return head && `Cuff-Seal: ${trailerOf(head)}`;
  } catch {
    return undefined; // a commit without it is a commit
  }
}
