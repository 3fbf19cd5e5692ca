// Where a path really leads. Of a path that is not there yet, the existing part is resolved, so
// that a new file behind a link, dangling or not, is where the link leads.

import * as fs from 'node:fs';
import * as path from 'node:path';

export const LINKS_MAX = 40; // as the system counts them

export function realPath(name: string): string {
  return realPathWith(name, LINKS_MAX, fs, path);
}

/** Uses only its parameters, because the processes of `mount-reader.ts` are given its text. */
export function realPathWith(
  name: string,
  linksMax: number,
  { realpathSync, readlinkSync }: Pick<typeof fs, 'realpathSync' | 'readlinkSync'>,
  {
    basename,
    dirname,
    join,
    resolve,
  }: Pick<typeof path, 'basename' | 'dirname' | 'join' | 'resolve'>,
): string {
  const real = (one: string, left: number): string => {
    try {
      return realpathSync(one);
    } catch {
      // Not there, or not to be seen: then the directory above tells.
      const above = dirname(one);
      if (above === one) return one;
      const place = real(above, left);
      const here = join(place, basename(one));
      try {
        const target = readlinkSync(here);
        return left === 0 ? here : real(resolve(place, target), left - 1);
      } catch {
        return here; // no link
      }
    }
  };
  return real(name, linksMax);
}

/** What git takes for a repository when it comes to a directory of any name. */
export function isBare(directory: string): boolean {
  return ['HEAD', 'objects', 'refs'].every((name) => fs.existsSync(path.join(directory, name)));
}

/** Where a name has what a glob would understand, it is only a name. */
export function literalGlob(name: string): string {
  return /[*?[{]/.test(name) ? name.replace(/[*?[{\\]/g, '\\$&') : name;
}

const KEPT_MS = 100; // one decision asks about the same paths many times
const KEPT_MAX = 10_000;

/** What `look` finds out about a path, remembered for a moment. */
export function shortMemory<T>(look: (name: string) => T): (name: string) => T {
  const known = new Map<string, T>();
  let since = 0;
  return (name) => {
    const now = performance.now();
    if (now - since > KEPT_MS || known.size > KEPT_MAX) {
      known.clear();
      since = now;
    }
    const found = known.get(name) ?? look(name);
    known.set(name, found);
    return found;
  };
}
