// The ledger of this user on this machine, for a verification: its name, and what the places of its
// anchors say.

import { readText } from '../../journal/files.ts';
import { parseVerifierKey } from '../../ledger/note-keys.ts';
import type { Store } from '../../shell/captures.ts';
import type { Env } from '../../types.ts';
import { readOutside } from '../anchors/outside.ts';
import { sealFile } from '../place.ts';
import type { OutsideReading } from './outside.ts';

const OUTSIDE_WAIT_MS = 15_000; // a repository or a witness that is far away

export function ownOrigin(stateRoot: string): string | undefined {
  const text = readText(sealFile(stateRoot, 'vkey'));
  return text === undefined ? undefined : parseVerifierKey(text.trim())?.name;
}

/** Nothing where there is no ledger. Never rejects. */
export async function outsideHere(
  { root: stateRoot, now }: Store,
  { origin, project, env }: { origin: string | undefined; project: string; env: Env },
): Promise<readonly OutsideReading[]> {
  if (origin === undefined) return [];
  const signal = AbortSignal.timeout(OUTSIDE_WAIT_MS);
  return readOutside(origin, { stateRoot, project, env, now, signal });
}
