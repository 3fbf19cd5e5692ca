// Where spools may be, and whether there is anything in them: loaded by every `cuff run`, so that
// the rest is loaded only when there is something to move.

import { lstatSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { isPrivateDir } from '../capture/paths.ts';
import { namesIn } from '../directories.ts';
import { errnoOf } from '../errors.ts';
import { repositoryOf } from '../places.ts';
import type { Env } from '../types.ts';

export const TEMPORARY_SPOOL = /^cuff-spool-[A-Za-z0-9]{6}$/;

/** What a sandbox says of a directory that it keeps from being written. */
const FORBIDDEN = ['EROFS', 'EACCES', 'EPERM'];

/** Whether the state root could not be written because a sandbox, or the user, forbids it. */
export function isForbidden(error: unknown): boolean {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return FORBIDDEN.includes(errnoOf(cause) ?? '');
}

/** The directories whose `.cuff/spool` is looked for from `cwd`: itself, up to its repository. */
export function projectFolders(cwd: string, env: Env): readonly string[] {
  const top = repositoryOf(cwd, env);
  const folders = [resolve(cwd)];
  for (let at = resolve(cwd); at !== top && dirname(at) !== at; ) {
    at = dirname(at);
    folders.push(at);
  }
  return folders;
}

/** Where temporary spools may be. */
export function temporaryFolders(): readonly string[] {
  return [...new Set([tmpdir(), '/tmp'])];
}

/** Whether there may be captures to move. Costs a few system calls. */
export function spoolsThere(cwd: string, env: Env): boolean {
  if (projectFolders(cwd, env).some(capturesIn)) return true;
  return temporaryFolders().some((folder) =>
    namesIn(folder).some((name) => TEMPORARY_SPOOL.test(name)),
  );
}

/** Captures that came home and may lack their entries: an empty file for each, by its id. */
export function owedDir(root: string): string {
  return join(root, 'owed');
}

/**
 * Whether the project's spool has captures. A link is not followed: it may lead to a mount that
 * does not answer.
 */
export function capturesIn(project: string): boolean {
  const cuff = join(project, '.cuff');
  const spool = join(cuff, 'spool');
  const sessions = join(spool, 'sessions');
  const plain = lstatSync(cuff, { throwIfNoEntry: false })?.isDirectory() === true;
  return plain && [spool, sessions].every(isPrivateDir) && namesIn(sessions).length > 0;
}
