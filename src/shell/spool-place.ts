// Where a run is captured when a sandbox has made the state root read-only: in `.cuff/spool` of the
// project, else in a directory of its own below the temporary directory. A spool has the layout of
// a state root. `spool-home.ts` moves its captures to the state root later.
//
// The file `spooled` in each capture is made before its meta.json: {"mark"}, a hash of this
// machine, this user, the state root that the capture belongs to and the inode of its directory. It
// tells captures that were made here from those that come with a repository. It is no secret: any
// process of this user can make one.

import * as fs from 'node:fs';
import { join, resolve } from 'node:path';
import { createIn, isPrivateDir, sessionsDir } from '../capture/paths.ts';
import { createCapture, type Store } from '../capture/store.ts';
import { AppError, errnoOf } from '../errors.ts';
import { repositoryOf } from '../places.ts';
import { sha256 } from '../text/hash.ts';
import type { CaptureMeta, Env } from '../types.ts';
import { temporaryFolders } from './spool-look.ts';

export const MARK_FILE = 'spooled';

type Spooled = { readonly at: Store; readonly dir: string };

/** The capture in the first place that takes it; undefined where none does. */
export function createSpooled(
  store: Store,
  meta: CaptureMeta,
  argv: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Env },
): Spooled | undefined {
  for (const place of places(cwd, env)) {
    const root = place();
    if (root === undefined) continue;
    const at = { ...store, root };
    try {
      const dir = createCapture(at, meta, argv, () => mark(at, meta.id, store));
      return { at, dir };
    } catch (error) {
      if (error instanceof AppError && error.code !== 'state_unwritable') throw error;
    }
  }
  return undefined;
}

function places(cwd: string, env: Env): readonly (() => string | undefined)[] {
  const projects = [...new Set([repositoryOf(cwd, env), resolve(cwd)])];
  return [
    ...projects.map((project) => () => projectSpool(project)),
    ...temporaryFolders().map((folder) => () => temporarySpool(folder)),
  ];
}

/** Undefined where it cannot be made, or where other users could put something in its place. */
function projectSpool(project: string): string | undefined {
  const [folder, root] = [join(project, '.cuff'), join(project, '.cuff', 'spool')];
  try {
    if (!closedToOthers(project, 0o002)) return undefined;
    make(folder);
    if (!closedToOthers(folder, 0o022)) return undefined;
    make(root);
    if (!isPrivateDir(root)) return undefined;
    ignoredByGit(root);
    // One that came with a repository is not made private by us.
    const sessions = sessionsDir(root);
    make(sessions);
    return isPrivateDir(sessions) ? root : undefined;
  } catch {
    return undefined; // read-only, too
  }
}

function temporarySpool(folder: string): string | undefined {
  try {
    return fs.mkdtempSync(join(folder, 'cuff-spool-'));
  } catch {
    return undefined; // read-only, or full
  }
}

function closedToOthers(path: string, bits: number): boolean {
  const stat = fs.lstatSync(path);
  return stat.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & bits) === 0;
}

function make(path: string): void {
  try {
    fs.mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
}

/** As the journal does: recorded output must not be committed. */
function ignoredByGit(root: string): void {
  try {
    fs.writeFileSync(join(root, '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
}

function mark(at: Store, id: string, home: Store): void {
  const dir = join(sessionsDir(at.root), id);
  const [first = ''] = marksOf(fs.statSync(dir).ino, home);
  createIn(dir, MARK_FILE, `${JSON.stringify({ mark: first })}\n`, true);
}

/**
 * The marks of a capture for this state root in a directory with this inode. The first is the one
 * to write; the others count, too, because a sandbox may hide a file.
 */
export function marksOf(inode: number, { root }: Pick<Store, 'root'>): readonly string[] {
  return ['/etc/machine-id', '/proc/sys/kernel/random/boot_id'].flatMap((path) => {
    try {
      const machine = fs.readFileSync(path, 'utf8').trim();
      if (machine === '') return [];
      const words = ['cuff-spool 1', machine, process.getuid?.() ?? '', resolve(root), inode];
      return sha256(words.join('\0'));
    } catch {
      return []; // not on this system, or hidden by the sandbox
    }
  });
}
