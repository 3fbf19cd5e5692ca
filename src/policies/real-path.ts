// Where a path really leads. Of what is not there yet the part that is there is resolved, so that a
// new file behind a link is where the link leads.

import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // Not there, or not to be seen: then the directory above tells.
    const above = dirname(path);
    return above === path ? path : join(realPath(above), basename(path));
  }
}

/** Where a name has what a glob would understand, it is only a name. */
export function literalGlob(path: string): string {
  return /[*?[{]/.test(path) ? path.replace(/[*?[{\\]/g, '\\$&') : path;
}

const KEPT_MS = 100; // one decision asks about the same paths many times
const KEPT_MAX = 10_000;

/** The same with a short memory. */
export function shortMemory(): (path: string) => string {
  const known = new Map<string, string>();
  let since = 0;
  return (path) => {
    const now = performance.now();
    if (now - since > KEPT_MS || known.size > KEPT_MAX) {
      known.clear();
      since = now;
    }
    const found = known.get(path) ?? realPath(path);
    known.set(path, found);
    return found;
  };
}
