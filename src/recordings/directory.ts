// Where the journal is, as far as that can be known without the machinery that reads settings:
// `cuff record list` must start at once, and most settings leave the journal where it usually is.
//
// A project must not decide by its files where its commands are recorded. Where it brings a link or
// a directory of another user in the place of its journal, the journal is one in the user's state
// root, `journals/<hash of the project's path>`, for as long as that is so.

import { createHash } from 'node:crypto';
import { accessSync, constants, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { stateRoot } from '../capture/paths.ts';
import { AppError, errnoOf } from '../errors.ts';
import { isUsualPlace, placeTrouble } from '../journal/place.ts';
import { homeOf, repositoryOf } from '../places.ts';
import { printable } from '../text/printable.ts';
import { countingSettings } from '../trust/settings.ts';
import type { Env } from '../types.ts';

const STICKY = 0o1000;

/** The journal below a directory. */
export function journalBelow(folder: string): string {
  return join(resolve(folder), '.cuff', 'recordings');
}

/** Undefined: only reading the settings can tell. */
export function usualJournal(cwd: string, env: Env, trusted = false): JournalLocation | undefined {
  if (env.CUFF_SETTINGS) return undefined;
  const { file } = countingSettings({ cwd, env, trusted });
  return file === undefined || leavesItThere(file) ? nearestJournal(cwd, env) : undefined;
}

/**
 * The journal in the usual place: of `cwd`, or of the nearest directory above that has one. The
 * root of a repository, the root of a file system and the home directory are the last ones looked
 * into. A directory of another user is not looked into: that user could put a journal there.
 */
export function nearestJournal(cwd: string, env: Env): JournalLocation {
  return journalOf(nearestFolder(cwd, env), env);
}

/** The journal of just this project, in the usual place or in the user's. */
export function journalOf(project: string, env: Env): JournalLocation {
  return { ...safePlace(journalBelow(project), project, stateRoot(env)), named: false };
}

/**
 * The project that a directory belongs to: the nearest one at or above it that has a journal or a
 * policy, else its repository, else the directory itself.
 */
export function projectFolder(cwd: string, env: Env): string {
  const start = resolve(cwd);
  const found = nearestWith(start, env, (folder) => {
    if (folder !== start && isShared(folder)) return false;
    return PROJECT_FILES.some((name) => isThere(join(folder, '.cuff', name)));
  });
  return found ?? repositoryOf(start, env);
}

const PROJECT_FILES = ['recordings', 'policy.yml', 'settings.yml'];

/** As `/tmp` is: whatever lies in there belongs to no project below it. */
function isShared(folder: string): boolean {
  return ((statSync(folder, { throwIfNoEntry: false })?.mode ?? 0) & 0o002) !== 0;
}

function nearestFolder(cwd: string, env: Env): string {
  const start = resolve(cwd);
  return nearestWith(start, env, (folder) => isThere(journalBelow(folder))) ?? start;
}

function nearestWith(
  start: string,
  env: Env,
  wanted: (folder: string) => boolean,
): string | undefined {
  const home = resolve(homeOf(env));
  for (let folder = start; ; folder = dirname(folder)) {
    if (wanted(folder)) return folder;
    if (folder === home || isThere(join(folder, '.git')) || !mayLookAbove(folder)) {
      return undefined;
    }
  }
}

function mayLookAbove(folder: string): boolean {
  const above = dirname(folder);
  if (above === folder) return false;
  try {
    const [here, there] = [statSync(folder), statSync(above)];
    const own = process.geteuid === undefined || there.uid === process.geteuid();
    // A directory for everyone, like /tmp, is the project of none, also for root who owns it.
    const shared = (there.mode & STICKY) !== 0;
    return own && !shared && here.dev === there.dev;
  } catch {
    return false; // a directory that cannot be looked at is not looked into
  }
}

/** The project that a journal in the usual place belongs to. */
export function projectOf(journal: string): string | undefined {
  return isUsualPlace(journal) ? dirname(dirname(journal)) : undefined;
}

/**
 * Where a journal that settings name is. Inside of the project every link on the way to it stays
 * one, and is no place for a journal; elsewhere it is resolved here, once.
 */
export function journalPlace(project: string, named: string, root: string): JournalPlace {
  const home = realPath(resolve(project));
  const path = resolve(home, named);
  const inside = path === home || path.startsWith(home + sep);
  return inside ? safePlace(path, home, root) : { directory: realPath(path) };
}

export type JournalPlace = {
  readonly directory: string;
  /** Why it is not where the project has it, as one clause. */
  readonly because?: string | undefined;
};

function safePlace(directory: string, project: string, root: string): JournalPlace {
  const trouble = placeTrouble(directory);
  if (trouble?.unsafe !== true) return { directory };
  return { directory: userJournal(project, root), because: trouble.reason };
}

/** What a person is told of a journal that is not where the project has it. */
export function journalNotice({ directory, because }: JournalPlace): string | undefined {
  if (because === undefined) return undefined;
  const words = `Commands of this project are recorded in ${printable(directory)}`;
  return `${words}, because ${printable(because)}.`;
}

/** What was recorded of a project while it had no place for a journal, if that is elsewhere. */
export function otherJournal(
  { directory, because }: JournalLocation,
  env: Env,
): string | undefined {
  const project = because === undefined ? projectOf(directory) : undefined;
  const other = project && userJournal(project, stateRoot(env));
  return other !== undefined && isThere(other) ? other : undefined;
}

/** The journal that the user keeps of a project, should the project have no place for one. */
function userJournal(project: string, root: string): string {
  const path = realPath(resolve(project));
  const name = createHash('sha256').update(path).digest('hex').slice(0, 32);
  return join(realPath(resolve(root)), 'journals', name);
}

/** With every link resolved, as far as it exists. */
function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const above = dirname(path);
    // A link that leads nowhere stays: the journal is refused because of it.
    return above === path || isThere(path) ? path : join(realPath(above), basename(path));
  }
}

/** A journal as the command line means it. */
export type JournalLocation = JournalPlace & {
  /** By an option or by settings: it has to exist. */
  readonly named: boolean;
};

/** A directory that was given on the command line. */
export function locatedByName(name: string): JournalLocation {
  return { directory: realPath(resolve(name)), named: true };
}

/** False when there is none in the usual place. Throws `journal_unreadable`. */
export function journalExists({ directory, named }: JournalLocation): boolean {
  const trouble = placeTrouble(directory);
  if (trouble !== undefined) throw unreadable(directory, trouble.reason, trouble.hint);
  for (const folder of [directory, join(directory, 'sessions')]) {
    try {
      accessSync(folder, constants.R_OK | constants.X_OK);
    } catch (error) {
      const errno = errnoOf(error) ?? 'EIO';
      if (errno !== 'ENOENT' && errno !== 'ENOTDIR') {
        throw unreadable(directory, `${folder}: ${errno}`, 'Look at its permissions.');
      }
      if (folder !== directory) return true; // it has no sessions yet, or those of the older layout
      if (!named) return false;
      throw unreadable(directory, 'There is no such directory', 'Look at how it is spelled.');
    }
  }
  return true;
}

function unreadable(directory: string, why: string, hint: string): AppError {
  const words = `Cannot read the journal ${printable(directory)}: ${printable(why)}`;
  return new AppError('journal_unreadable', words, { hint: `Hint: ${printable(hint)}` });
}

const MENTIONED = /\bdirectory\b.*/g;
const USUAL = /^directory["']?\s*:\s*(["']?)\.cuff\/recordings\/?\1\s*(#.*)?$/;

/** Every `directory` that stands in the file, whatever it belongs to, is the usual one. */
function leavesItThere(file: string): boolean {
  try {
    const text = readFileSync(file, 'utf8');
    return [...text.matchAll(MENTIONED)].every(([line]) => USUAL.test(line.trimEnd()));
  } catch {
    return false; // reading it properly says what is wrong with it
  }
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false; // a file where a directory should be
  }
}
