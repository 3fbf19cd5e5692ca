// Directories with all that is above them. Node's own way never comes back where the system says
// that a name cannot be made because there is no such directory, as /proc does.
import { lstatSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf } from './errors.ts';

/** Throws the errno error of the first one that cannot be made. */
export function makeDirectories(path: string, mode = 0o777): void {
  try {
    makeOne(path, mode);
  } catch (error) {
    const above = dirname(path);
    if (errnoOf(error) !== 'ENOENT' || above === path) throw error;
    // Somebody else may make it at this moment, so that it is tried again in either case.
    if (!isThere(above)) makeDirectories(above, mode);
    makeOne(path, mode);
  }
}

/** One that is there is left as it is; if it is no directory, whoever wants to use it will see. */
function makeOne(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
