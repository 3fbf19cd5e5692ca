// Where the catalog of a journal is. Usually beside it; where the journal is encrypted the words of
// commands must not lie on a disk: then in the memory that the system keeps for this user, as long
// as that is logged in, and where there is none, in the memory of this process.
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, statfsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { namesIn } from '../directories.ts';
import { discardCatalogFile, IN_MEMORY } from './catalog-schema.ts';
import { sessionsDir } from './files.ts';

const FOLDER = 'cuff-catalogs';

// TMPFS_MAGIC and RAMFS_MAGIC of statfs(2).
const MEMORY_FILE_SYSTEMS = [0x01021994, 0x858458f6];

export function catalogPath(directory: string): string {
  return join(resolve(directory), 'catalog.db');
}

/** Makes the next one start from nothing. Throws the error of the system call. */
export function discardCatalog(directory: string): void {
  discardCatalogFile(catalogPath(directory));
}

/** Lines of it are encrypted, so their words are for those who have a key. */
export function hasPackedLines(directory: string): boolean {
  return [sessionsDir(directory), directory].some((folder) =>
    namesIn(folder).some((name) => SEGMENT.test(name)),
  );
}

const SEGMENT = /\.jsonl\.\d+\.gz\.age$/;

/** Makes the place for it. `IN_MEMORY` where no file can be had that lies on no disk. */
export function makeHiddenPlace(directory: string): string {
  const runtime = process.env.XDG_RUNTIME_DIR;
  try {
    if (inMemory(runtime)) mkdirSync(join(runtime, FOLDER), { mode: 0o700 });
  } catch {
    // There is one, or none can be made.
  }
  return hiddenCatalogPath(directory);
}

export function hiddenCatalogPath(directory: string): string {
  const folder = hiddenFolder(process.env.XDG_RUNTIME_DIR);
  const name = createHash('sha256').update(resolve(directory)).digest('hex').slice(0, 32);
  return folder === undefined ? IN_MEMORY : join(folder, `${name}.db`);
}

/** What words of a journal it has. Throws the error of the system call. */
export function discardHiddenCatalog(directory: string): void {
  const path = hiddenCatalogPath(directory);
  if (path !== IN_MEMORY && existsSync(path)) discardCatalogFile(path);
}

/** Undefined where it is on a disk, or not for this user alone. */
function hiddenFolder(runtime: string | undefined): string | undefined {
  if (!inMemory(runtime)) return undefined;
  const folder = join(runtime, FOLDER);
  try {
    const stat = lstatSync(folder);
    const own = stat.isDirectory() && stat.uid === process.geteuid?.();
    return own && (stat.mode & 0o077) === 0 ? folder : undefined;
  } catch {
    return undefined; // not there
  }
}

function inMemory(runtime: string | undefined): runtime is string {
  if (!runtime?.startsWith('/')) return false;
  try {
    return MEMORY_FILE_SYSTEMS.includes(Number(statfsSync(runtime).type));
  } catch {
    return false; // not there
  }
}
