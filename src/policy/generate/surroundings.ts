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
export type Ground = Roots & Pick<Protection, 'control' | 'secret' | 'steering'>;

export function groundOf(roots: Roots): Ground {
  const { control, secret, steering } = protectedPaths(roots, { more: [], opened: [] });
  return { ...roots, control, secret, steering };
}

export function needsOf(unit: Unit, roots: Ground): readonly Need[] {
  return [
    ...unit.redirects.flatMap((redirect) => redirectNeed(redirect, unit, roots)),
    ...unit.assigned.flatMap(({ name, value, how }) => {
      if (how === 'shell') return [];
      return variableClass(name, value, () => false) === 'other' ? [`env\0${name}` as const] : [];
    }),
    ...(unit.cwds ?? []).flatMap((cwd) => directoryNeed(cwd, roots)),
    ...wordNeeds(unit, roots),
  ];
}

/** Any other host could be sent anything. */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])$/;
const WORTH_READING = /localhost|127\.0\.0\.1|\[::1\]|^[/~]|=[/~]|\.\./;

/** Files and hosts that its words name: they have to be listed where a star covers them. */
function wordNeeds({ argv, cwds }: Unit, roots: Ground): readonly Need[] {
  // Most commands name neither, and reading a command line takes its time.
  const away = cwds?.some((cwd) => !isInside(cwd, roots.project)) === true;
  if (!away && !argv.some((arg) => WORTH_READING.test(arg.source))) return [];
  return (readCall(argv)?.parts ?? []).flatMap(({ role, value, prefix }): readonly Need[] => {
    if (role === 'path' && cwds !== undefined) {
      const known = value ?? prefix.slice(0, prefix.lastIndexOf('/') + 1);
      if (known === '' && value === undefined) return [];
      return cwds.flatMap((cwd) => readNeed(absolute(known, cwd), roots));
    }
    if (value === undefined) return [];
    if (role === 'url') {
      const host = hostOf(value) ?? '';
      return LOOPBACK.test(host) ? [`network\0${host}`] : [];
    }
    return [];
  });
}

function readNeed(path: string, { project, home, secret }: Ground): readonly Need[] {
  if (isInside(path, project) || !isPlain(path)) return [];
  if (isScratch(path)) return [`read\0${path}`];
  const tree = treeOf(path, home);
  const fine = tree !== undefined && !isHidden(tree) && !secret(tree) && !isInside(project, tree);
  return fine ? [`read\0${tree}`] : [];
}

/** As deep below the home directory as projects lie, so that one rule is not for all of them. */
const TREE_DEPTH = 3;

/** The other project that a path belongs to, as far as its name tells. */
function treeOf(path: string, home: string): string | undefined {
  const below = relative(path, home);
  if (below === undefined) return undefined;
  const names = below.split('/').filter((name) => name !== '');
  return names.length < 2 ? undefined : [home, ...names.slice(0, TREE_DEPTH)].join('/');
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
      // Listed here, what tells agents what to do would be written without a question.
      const held = isHidden(inside) || roots.control(path) || roots.steering(path);
      return held ? [] : [`redirects\0${inside}` as const];
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
