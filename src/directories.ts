// Directories with all that is above them, and files that are replaced as a whole. Node's own way
// never comes back where the system says that a name cannot be made because there is no such
// directory, as /proc does.
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf } from './errors.ts';

/** Throws the errno error of the first one that cannot be made. */
export function makeDirectories(path: string, mode = 0o777): void {
  try {
    makeOne(path, mode);
  } catch (error) {
    const above = dirname(path);
    if (errnoOf(error) !== 'ENOENT' || above === path) throw error;
    // Another process may make it at this moment, so that it is tried again in either case.
    if (!isThere(above)) makeDirectories(above, mode);
    makeOne(path, mode);
  }
}

/** The names in a directory; none if it is not there or may not be read. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** The closest directory above that exists: there `path` would be made. */
export function existingAbove(path: string): string {
  let at = path;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  return at;
}

/**
 * A reader sees the old file or the new one, never half of one; `sync`: also after a crash of the
 * machine. The directory must be there. Throws the errno error, and leaves no draft.
 */
export function replaceFile(
  path: string,
  text: string | Uint8Array,
  { mode = 0o600, sync = false }: { readonly mode?: number; readonly sync?: boolean } = {},
): void {
  const draft = `${path}.${process.pid}.new`;
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;
  try {
    rmSync(draft, { force: true }); // of a process that had our pid
    const fd = openSync(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    try {
      writeFileSync(fd, text);
      if (sync) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** One that is there is left as it is; a caller that uses it will see if it is no directory. */
function makeOne(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
    openToUs(path, mode);
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

const OWNER = 0o700;

let mask: number | undefined;

/** Not `process.umask()`, which for a moment opens the new files of other threads to all users. */
function umaskNow(): number {
  try {
    const status = readFileSync('/proc/self/status', 'latin1');
    return Number.parseInt(/^Umask:\s*(\d+)/m.exec(status)?.[1] ?? '0', 8);
  } catch {
    return 0; // no Linux: as it always was
  }
}

/** Opens a new file to its owner: a umask of 0277 or 0777 would close it to ourselves. */
export function openToUs(path: string, mode: number): void {
  mask ??= umaskNow();
  if ((mask & mode & OWNER) !== 0) chmodSync(path, mode & ~(mask & ~OWNER));
}
