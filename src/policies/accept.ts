// A person's word that protected files, which changed in the sandbox, are as they should be. No
// agent may say so for itself.

import { storeOf } from '../shell/captures.ts';
import { requirePerson } from '../trust/person.ts';
import type { Env } from '../types.ts';
import { changesOf, type HeldRun, heldRuns } from './changes.ts';

/** Throws an `AppError` with `usage` for a caller that is no person and wants to accept. */
export function heldProjects(env: Env, why: 'accept' | 'list'): readonly HeldRun[] {
  if (why === 'accept') requirePerson(env, 'accept what changed in the sandbox');
  return heldRuns(storeOf(env).root);
}

/** Exactly these: what changed meanwhile holds its project on. */
export function acceptHeld(env: Env, held: readonly HeldRun[]): void {
  requirePerson(env, 'accept what changed in the sandbox');
  const { root } = storeOf(env);
  for (const one of held) changesOf(root, one).accept(one);
}
