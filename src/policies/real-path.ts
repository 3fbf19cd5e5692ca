// Where a path really leads. Of a path that is not there yet, the existing part is resolved, so
// that a new file behind a link, dangling or not, is where the link leads. Node's own realpath
// throws for each that is not there, and an error costs more than looking at a whole path.

import * as fs from 'node:fs';
import * as path from 'node:path';

export const LINKS_MAX = 40; // as the system counts them

export function realPath(name: string): string {
  return realPathWith(name, LINKS_MAX, fs, path);
}

/** For many paths of the same directories: each directory is looked at once. */
export function realPaths(names: readonly string[]): readonly string[] {
  const known = new Map<string, string>();
  return names.map((name) => realPathWith(name, LINKS_MAX, fs, path, known));
}

/** Uses only its parameters, because the processes of `mount-reader.ts` are given its text. */
export function realPathWith(
  name: string,
  linksMax: number,
  { lstatSync, readlinkSync }: Pick<typeof fs, 'lstatSync' | 'readlinkSync'>,
  {
    basename,
    dirname,
    resolve,
    sep,
  }: Pick<typeof path, 'basename' | 'dirname' | 'resolve' | 'sep'>,
  known: Map<string, string> = new Map(),
): string {
  const targetOf = (one: string): string | undefined => {
    try {
      const stat = lstatSync(one, { throwIfNoEntry: false });
      return stat?.isSymbolicLink() === true ? readlinkSync(one) : undefined;
    } catch {
      return undefined; // not to be seen, or below a file
    }
  };
  const real = (one: string, left: number): string => {
    const found = known.get(one);
    if (found !== undefined) return found;
    const above = dirname(one);
    if (above === one) return one;
    const place = real(above, left);
    const here = `${place.endsWith(sep) ? place : place + sep}${basename(one)}`;
    const target = targetOf(here);
    const end = target === undefined || left === 0 ? here : real(resolve(place, target), left - 1);
    known.set(one, end);
    return end;
  };
  const whole = /^(?:\/(?!\.{1,2}(?:\/|$))[^/]+)+$/.test(name);
  return real(whole ? name : resolve(name), linksMax);
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
    const now = process.uptime() * 1_000;
    if (now - since > KEPT_MS || known.size > KEPT_MAX) {
      known.clear();
      since = now;
    }
    const found = known.get(name) ?? look(name);
    known.set(name, found);
    return found;
  };
}
