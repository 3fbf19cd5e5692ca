// Where settings are looked for. A file of its own, because `cuff record list` has to know it and
// must not load what reads them.

import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { errnoOf } from './errors.ts';
import type { Env } from './types.ts';

export type SettingsCandidate = {
  readonly path: string;
  /** By `$CUFF_SETTINGS`: then it has to be there. */
  readonly named: boolean;
  /** It is the user's own. The others are the project's, and count only if they are trusted. */
  readonly own: boolean;
};

/** Where settings are looked for, in this order. */
export function settingsCandidates(cwd: string, env: Env): readonly SettingsCandidate[] {
  const user = { path: userSettings(env), named: false, own: true };
  if (env.CUFF_SETTINGS) {
    const path = resolve(cwd, env.CUFF_SETTINGS);
    const own = path === user.path || !isOfProject(cwd, env, path);
    // Behind a file that may not count comes the user's.
    return own ? [{ path, named: true, own }] : [{ path, named: true, own }, user];
  }
  const project = [join(cwd, 'settings.yml'), join(cwd, '.cuff', 'settings.yml')];
  const theirs = project.filter((path) => path !== user.path);
  return [...theirs.map((path) => ({ path, named: false, own: false })), user];
}

export function homeOf(env: Env): string {
  return env.HOME || homedir();
}

/** Where the user's own files of cuff are. */
export function userConfig(env: Env): string {
  const xdg = env.XDG_CONFIG_HOME;
  // The XDG specification: a relative path is invalid and must be ignored.
  const config = xdg && isAbsolute(xdg) ? xdg : join(homeOf(env), '.config');
  return join(config, 'cuff');
}

/** The user's own settings, which no project can write. */
export function userSettings(env: Env): string {
  return join(userConfig(env), 'settings.yml');
}

/** The list of project files that a person trusted. */
export function trustListFile(env: Env): string {
  return join(userConfig(env), 'trusted.json');
}

/** The user's keys for what is encrypted at rest. */
export function identityFile(env: Env): string {
  return env.CUFF_IDENTITY ? resolve(env.CUFF_IDENTITY) : join(userConfig(env), 'identity');
}

/** Whether a path is in the project that `cwd` belongs to: below `cwd`, or in its repository. */
export function isOfProject(cwd: string, env: Env, path: string): boolean {
  return isWithin(cwd, path) || isWithin(repositoryOf(cwd, env), path);
}

/** Above a home directory, or at it, is what the user keeps, not a project that was cloned. */
export function repositoryOf(cwd: string, env: Env): string {
  const home = resolve(homeOf(env));
  for (let folder = resolve(cwd); folder !== home; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder;
    if (folder === dirname(folder)) break;
  }
  return cwd;
}

/** Whether a path, or what it leads to, is below the directory. */
function isWithin(directory: string, path: string): boolean {
  const [root, at] = [resolve(directory), resolve(path)];
  return nameWithin(root, at) !== undefined || nameWithin(realOf(root), realOf(at)) !== undefined;
}

/** A path below a directory, relative to it; undefined when it is outside. */
export function nameWithin(directory: string, path: string): string | undefined {
  const name = relative(directory, path);
  const outside = name === '' || name === '..' || name.startsWith(`..${sep}`) || isAbsolute(name);
  return outside ? undefined : name;
}

/**
 * Whether there is a file, or may be: a dangling link counts, because its author meant a file, and
 * so does a path that may not be looked at.
 */
export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // A file where a directory should be, which lstat does not count as "no entry".
    return errnoOf(error) !== 'ENOTDIR';
  }
}

/** Where a path really leads; itself when it does not exist. */
export function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path); // not there yet
  }
}
