// What of a project waits for trust, for commands that start no server: one sentence each.

import { homeOf, isThere } from '../places.ts';
import { countingSettings, waitingSentence } from '../trust/settings.ts';
import type { Env } from '../types.ts';
import { policyPlaces } from './places.ts';

export async function trustNotices(project: string, env: Env): Promise<readonly string[]> {
  const settings = countingSettings({ cwd: project, env }).waiting.map(waitingSentence);
  return [...settings, ...(await policyNotices(project, env))];
}

/** Policies are read only where one of the project's stands beside another one. */
async function policyNotices(project: string, env: Env): Promise<readonly string[]> {
  const places = policyPlaces({ project, env });
  const there = places.filter(({ path, named }) => named || isThere(path));
  if (there.length < 2 || !there.some(({ guest }) => guest)) return [];
  const [{ readPolicyFile }, { countingPolicies }] = await Promise.all([
    import('./files.ts'),
    import('./trust.ts'),
  ]);
  const files = there.flatMap((place) => {
    const file = readPolicyFile(place, { home: homeOf(env), project });
    return file.kind === 'good' ? [{ ...file, place }] : [];
  });
  return countingPolicies(files, places, { project, env }).waiting;
}
