// What a command needs besides its words: files that it redirects to, variables that it sets and
// directories that it goes to. Each is listed by its exact name and only when it was seen often
// enough; what is dangerous is never listed, so that the command stays out of the policy.

import { absolute, type Places } from '../paths.ts';
import { isSink, type Protected, protectedPaths } from '../protected.ts';
import type { Unit } from '../unit.ts';
import { variableClass } from '../variables.ts';

export const NEEDS = ['redirects', 'env', 'cwd'] as const;
export type Need = `${(typeof NEEDS)[number]}\0${string}`;

/** One project, with what must not be written in it. */
export type Ground = Places & Pick<Protected, 'control'>;

export function groundOf(places: Places): Ground {
  const { control } = protectedPaths(places, { more: [], opened: [] });
  return { ...places, control };
}

export function needsOf(unit: Unit, places: Ground): readonly Need[] {
  return [
    ...unit.redirects.flatMap((redirect) => redirectNeed(redirect, unit, places)),
    ...unit.assigned.flatMap(({ name, value, how }) => {
      if (how === 'shell') return [];
      return variableClass(name, value, () => false) === 'other' ? [`env\0${name}` as const] : [];
    }),
    ...(unit.cwds ?? []).flatMap((cwd) => directoryNeed(cwd, places)),
  ];
}

function redirectNeed(
  { effect, target }: Unit['redirects'][number],
  { cwds }: Unit,
  places: Ground,
): readonly Need[] {
  if (effect !== 'write' && effect !== 'append') return [];
  if (target?.kind !== 'literal' || cwds === undefined) return [];
  return cwds.flatMap((cwd) => {
    const path = absolute(target.value, cwd);
    if (isSink(path) || !isPlain(path)) return [];
    const inside = relative(path, places.project);
    if (inside !== undefined) {
      return isHidden(inside) || places.control(path) ? [] : [`redirects\0${inside}` as const];
    }
    return isScratch(path) ? [`redirects\0${path}` as const] : [];
  });
}

function directoryNeed(cwd: string, places: Ground): readonly Need[] {
  if (cwd === places.project || relative(cwd, places.project) !== undefined) return [];
  const above = places.project.startsWith(cwd === '/' ? '/' : `${cwd}/`);
  const home = cwd === places.home;
  const fine = !above && !home && isPlain(cwd) && !isHidden(cwd) && !places.control(cwd);
  return fine ? [`cwd\0${cwd}`] : [];
}

/** Nothing in it is special in a glob, or to a terminal. */
function isPlain(path: string): boolean {
  return /^[\w@%+=:,./ -]+$/.test(path);
}

function isHidden(path: string): boolean {
  return /(?:^|\/)\./.test(path);
}

function isScratch(path: string): boolean {
  return /^\/(?:var\/)?tmp\/[^/]+\.(?:log|txt|out|err|json|xml|diff|patch|csv|md)$/.test(path);
}

/** The path below the directory. */
function relative(path: string, directory: string): string | undefined {
  const start = directory === '/' ? '/' : `${directory}/`;
  return path.startsWith(start) ? path.slice(start.length) : undefined;
}
