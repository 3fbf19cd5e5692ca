// The needs of a command besides its words: files that it redirects to, temporary files that it
// reads, variables that it sets, directories that it goes to, and whether it talks to this machine.
// Each is listed by its exact name and only when it was seen often enough; a dangerous one is never
// listed, so that the command stays out of the policy.

import { posix } from 'node:path';
import { literalOf } from '../analyse/args.ts';
import { hostOf } from '../bounds.ts';
import { absolute, isInside, type Roots } from '../paths.ts';
import { readCall } from '../profiles/index.ts';
import { isSink, type Protection, protectedPaths } from '../protected.ts';
import type { Unit } from '../unit.ts';
import { variableClass } from '../variables.ts';

export const NEEDS = ['redirects', 'env', 'cwd', 'read', 'network'] as const;
export type Need = `${(typeof NEEDS)[number]}\0${string}`;

/** One project, with what must not be written in it. */
export type Ground = Roots & Pick<Protection, 'control' | 'secret'>;

export function groundOf(roots: Roots): Ground {
  const { control, secret } = protectedPaths(roots, { more: [], opened: [] });
  return { ...roots, control, secret };
}

export function needsOf(unit: Unit, roots: Ground): readonly Need[] {
  return [
    ...unit.redirects.flatMap((redirect) => redirectNeed(redirect, unit, roots)),
    ...unit.assigned.flatMap(({ name, value, how }) => {
      if (how === 'shell') return [];
      return variableClass(name, value, () => false) === 'other' ? [`env\0${name}` as const] : [];
    }),
    ...(unit.cwds ?? []).flatMap((cwd) => directoryNeed(cwd, roots, unit)),
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
  const tree = treeBelowHome(path, home) ?? treeBeside(path, { project, home });
  const fine = tree !== undefined && !secret(tree) && !isInside(project, tree);
  return fine ? [`read\0${tree}`] : [];
}

/** As deep below the home directory as projects lie, so that one rule is not for all of them. */
const TREE_DEPTH = 3;

/** The other project that a path belongs to, as far as its name tells, or the data of a program. */
function treeBelowHome(path: string, home: string): string | undefined {
  const names = namesBelow(path, home);
  const [first = ''] = names;
  // Most of what programs keep at home is settings; deeper lie the data of one.
  const hidden = first.startsWith('.');
  const own = names.slice(0, hidden ? Math.min(TREE_DEPTH, names.length - 1) : TREE_DEPTH);
  if (own.length < 2 || first === '.config' || own.some((name, at) => at > 0 && isHidden(name))) {
    return undefined;
  }
  return [home, ...own].join('/');
}

const TEMPORARY = ['/tmp', '/var/tmp', '/private/tmp'];

/** What lies beside the project, where that is not in the home directory, or is temporary. */
function treeBeside(path: string, { project, home }: Roots): string | undefined {
  const parent = posix.dirname(project);
  const around = isInside(parent, home) || depthOf(parent) < 2 ? TEMPORARY : [parent, ...TEMPORARY];
  for (const place of around) {
    const [first, ...more] = namesBelow(path, place);
    const whole = place === parent || more.length > 0;
    // `main...HEAD` is a revision that could be a file.
    const named = first !== undefined && !isHidden(first) && !first.includes('..');
    if (named && whole) return `${place}/${first}`;
  }
  return undefined;
}

function namesBelow(path: string, directory: string): readonly string[] {
  return (relative(path, directory) ?? '').split('/').filter((name) => name !== '');
}

function depthOf(path: string): number {
  return path.split('/').length - 1;
}

const READ = 'read\0';
const SIBLINGS_ENOUGH = 3;
const TEMPORARY_ENOUGH = 4; // all programs keep something there

function enoughOf(parent: string): number {
  return TEMPORARY.includes(parent) ? TEMPORARY_ENOUGH : SIBLINGS_ENOUGH;
}

/**
 * The same needs where several directories of one parent were read: the parent. None of a home
 * directory, which has all projects in it, nor one that the project itself is in.
 */
export function gathering(
  readings: readonly { readonly needs: readonly Need[]; readonly seen: { project: string } }[],
  home: string,
): ((need: Need) => Need) | undefined {
  const children = new Map<string, Set<string>>();
  for (const { needs, seen } of readings) {
    for (const need of needs) {
      const path = need.slice(READ.length);
      const parent = posix.dirname(path);
      if (!need.startsWith(READ) || isInside(seen.project, parent)) continue;
      if (!TEMPORARY.includes(parent) && namesBelow(parent, home).length < 2) continue;
      const known = children.get(parent);
      if (known === undefined) children.set(parent, new Set([path]));
      else known.add(path);
    }
  }
  const parents = new Set(
    [...children].flatMap(([parent, own]) => (own.size < enoughOf(parent) ? [] : [parent])),
  );
  if (parents.size === 0) return undefined;
  return (need) => {
    const parent = posix.dirname(need.slice(READ.length));
    return need.startsWith(READ) && parents.has(parent) ? `${READ}${parent}` : need;
  };
}

/** Files that hold no more than the output of a command. */
const SAID = /^(redirects|read)\0((?:\/var)?\/tmp\/)[^/]+(\.(?:log|txt|out|err|diff|patch))$/;
/** So many names say that the next one is new, too. */
export const SAID_NAMES_FEW = 2;
export const SAID_NAMES_ENOUGH = 4;

/**
 * The same needs where such files get a new name each time: any of that kind, and to read
 * what was written. Undefined where one name was used at most.
 */
export function widening(
  needs: Iterable<string>,
  namesMin: number,
): ((need: Need) => readonly Need[]) | undefined {
  const names = new Set(
    [...needs].filter((need) => SAID.test(need)).map((one) => one.split('\0')[1]),
  );
  if (names.size < namesMin) return undefined;
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
    // In the project, `scopes.write` says it.
    const outside = !isInside(path, roots.project) && isScratch(path);
    return outside ? [`redirects\0${path}` as const] : [];
  });
}

function directoryNeed(cwd: string, roots: Ground, { argv }: Unit): readonly Need[] {
  if (cwd === roots.project || relative(cwd, roots.project) !== undefined) return [];
  // What is in a directory for all users belongs to any user.
  if (!isPlain(cwd) || isHidden(cwd) || TEMPORARY.includes(cwd)) return [];
  // Above the project is the repository that it belongs to, where git works.
  const fine = isInside(roots.project, cwd)
    ? !isInside(roots.home, cwd) && depthOf(cwd) >= 2 && literalOf(argv[0]) === 'git'
    : !roots.control(cwd);
  return fine ? [`cwd\0${cwd}`, `read\0${cwd}`] : [];
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
