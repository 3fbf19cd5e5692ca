// The needs of a command besides its words: files that it redirects to, temporary files that it
// reads, variables that it sets, directories that it goes to, and whether it talks to this machine.
// Each is listed by its exact name and only when it was seen often enough; a dangerous one is never
// listed, so that the command stays out of the policy.

import { hostOf } from '../bounds.ts';
import { absolute, isInside, type Roots } from '../paths.ts';
import { readCall } from '../profiles/index.ts';
import { isSink, type Protection, protectedPaths } from '../protected.ts';
import type { Unit } from '../unit.ts';
import { variableClass } from '../variables.ts';

export const NEEDS = ['redirects', 'env', 'cwd', 'read', 'network'] as const;
export type Need = `${(typeof NEEDS)[number]}\0${string}`;

/** One project, with what must not be written in it. */
export type Ground = Roots & Pick<Protection, 'control'>;

export function groundOf(roots: Roots): Ground {
  const { control } = protectedPaths(roots, { more: [], opened: [] });
  return { ...roots, control };
}

export function needsOf(unit: Unit, roots: Ground): readonly Need[] {
  return [
    ...unit.redirects.flatMap((redirect) => redirectNeed(redirect, unit, roots)),
    ...unit.assigned.flatMap(({ name, value, how }) => {
      if (how === 'shell') return [];
      return variableClass(name, value, () => false) === 'other' ? [`env\0${name}` as const] : [];
    }),
    ...(unit.cwds ?? []).flatMap((cwd) => directoryNeed(cwd, roots)),
    ...wordNeeds(unit),
  ];
}

/** Any other host could be sent anything. */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])$/;
const WORTH_READING = /localhost|127\.0\.0\.1|\[::1\]|\/tmp\//;

/** Files and hosts that its words name: they have to be listed where a star covers them. */
function wordNeeds({ argv, cwds }: Unit): readonly Need[] {
  // Most commands name neither, and reading a command line takes its time.
  if (!argv.some((arg) => arg.kind === 'literal' && WORTH_READING.test(arg.value))) return [];
  return (readCall(argv)?.parts ?? []).flatMap(({ role, value }): readonly Need[] => {
    if (value === undefined) return [];
    if (role === 'url') {
      const host = hostOf(value) ?? '';
      return LOOPBACK.test(host) ? [`network\0${host}`] : [];
    }
    if (role !== 'path' || !value.startsWith('/') || cwds === undefined) return [];
    const path = absolute(value, '/');
    return isScratch(path) && isPlain(path) ? [`read\0${path}`] : [];
  });
}

/** Files that hold no more than the output of a command. */
const SAID = /^(redirects|read)\0((?:\/var)?\/tmp\/)[^/]+(\.(?:log|txt|out|err|diff|patch))$/;
const SAID_NAMES_MIN = 2;

/**
 * The same needs where such files get a new name each time: any of that kind, and to read
 * what was written. Undefined where one name was used at most.
 */
export function widening(needs: Iterable<string>): ((need: Need) => readonly Need[]) | undefined {
  const names = new Set(
    [...needs].filter((need) => SAID.test(need)).map((one) => one.split('\0')[1]),
  );
  if (names.size < SAID_NAMES_MIN) return undefined;
  return (need) => {
    const [, kind, directory = '', suffix = ''] = SAID.exec(need) ?? [];
    const glob = `${directory}*${suffix}`;
    if (kind === 'read') return [`read\0${glob}`];
    return kind === 'redirects' ? [`redirects\0${glob}`, `read\0${glob}`] : [need];
  };
}

function redirectNeed(
  { effect, target }: Unit['redirects'][number],
  { cwds }: Unit,
  roots: Ground,
): readonly Need[] {
  if (effect !== 'write' && effect !== 'append') return [];
  if (target?.kind !== 'literal' || cwds === undefined) return [];
  return cwds.flatMap((cwd) => {
    const path = absolute(target.value, cwd);
    if (isSink(path) || !isPlain(path)) return [];
    const inside = relative(path, roots.project);
    if (inside !== undefined) {
      return isHidden(inside) || roots.control(path) ? [] : [`redirects\0${inside}` as const];
    }
    return isScratch(path) ? [`redirects\0${path}` as const] : [];
  });
}

function directoryNeed(cwd: string, roots: Ground): readonly Need[] {
  if (cwd === roots.project || relative(cwd, roots.project) !== undefined) return [];
  const above = isInside(roots.project, cwd);
  const home = cwd === roots.home;
  const fine = !above && !home && isPlain(cwd) && !isHidden(cwd) && !roots.control(cwd);
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
