// Paths as a policy sees them: absolute, without `.` and `..`, matched against globs that stand for
// what is below them, too. Nothing here looks at a disk; who can, gives `real`.

import { posix } from 'node:path';

export type Places = { readonly project: string; readonly home: string };

/** Where a path leads when it is used in this directory. */
export function absolute(path: string, cwd: string): string {
  return trimmed(posix.resolve(cwd, path));
}

/** `//x` is `/x` here, and a slash at the end says nothing. */
function trimmed(path: string): string {
  const single = path.replace(/^\/+/, '/');
  return single.length > 1 ? single.replace(/\/+$/, '') : single;
}

export type PathSet = { readonly has: (path: string) => boolean };

/** Each glob is a file, or a directory with all below it. Compiled when it is first asked. */
export function pathSet(globs: readonly string[], places: Places): PathSet {
  let test: ((path: string) => boolean) | undefined;
  return {
    has: (path) => {
      test ??= matcher(globs.map((glob) => trimmed(expanded(glob, places))));
      return test(path);
    },
  };
}

function expanded(glob: string, { project, home }: Places): string {
  if (glob === '~' || glob.startsWith('~/')) return posix.join(home, glob.slice(1));
  if (glob.startsWith('**/')) return `/${glob}`;
  return posix.resolve(project, glob);
}

/** A few expressions for all globs: a policy asks about many paths. */
function matcher(globs: readonly string[]): (path: string) => boolean {
  const plain = globs.filter((glob) => !GLOB.test(glob));
  const inside = plain.map((glob) => (glob === '/' ? '/' : `${glob}/`));
  const others = globs.filter((glob) => GLOB.test(glob));
  // What may lie anywhere is looked for behind every slash, at once.
  const anywhere = others.filter((glob) => glob.startsWith('/**/')).map((glob) => glob.slice(4));
  const placed = others.filter((glob) => !glob.startsWith('/**/'));
  const expressions = [
    ...(anywhere.length === 0 ? [] : [`/(?:${anywhere.map(globSource).join('|')})(?:/|$)`]),
    ...(placed.length === 0 ? [] : [`^(?:${placed.map(globSource).join('|')})(?:/|$)`]),
  ].map((source) => new RegExp(source, 'is'));
  return (path) =>
    plain.includes(path) ||
    inside.some((one) => path.startsWith(one)) ||
    expressions.some((regex) => regex.test(path));
}

const GLOB = /[*?[{]/;

/** `*` and `?` stay within a name, `**` does not. Letters count alike, as on some disks. */
export function globRegex(glob: string, tail = ''): RegExp {
  return new RegExp(`^${globSource(glob)}${tail}$`, 'is');
}

function globSource(glob: string): string {
  let source = '';
  for (let at = 0; at < glob.length; at += 1) {
    const char = glob.charAt(at);
    if (glob.startsWith('**/', at)) {
      source += '(?:[^/]+/)*';
      at += 2;
    } else if (glob.startsWith('**', at)) {
      source += '.*';
      at += 1;
    } else if (char === '*') source += '[^/]*';
    else if (char === '?') source += '[^/]';
    else if (char === '\\' && at + 1 < glob.length) {
      at += 1;
      source += escaped(glob.charAt(at));
    } else if (char === '[') {
      const close = glob.indexOf(']', at + 2);
      if (close < 0) source += '\\[';
      else {
        source += bracket(glob.slice(at + 1, close));
        at = close;
      }
    } else if (char === '/') {
      // `*//` finds `src/`, and `.//s*` finds `.//src`.
      while (glob.charAt(at + 1) === '/') at += 1;
      source += '/+';
    } else source += escaped(char);
  }
  return source;
}

/** A character class; one that a regular expression cannot have is any character. */
function bracket(inside: string): string {
  if (/[[\]\\:.=]/.test(inside)) return '[^/]';
  const body = inside.replace(/^!/, '^').replace(/\^(?!$)/g, (mark, at) => (at === 0 ? '^' : mark));
  try {
    const source = `[${body}]`;
    new RegExp(source);
    return source;
  } catch {
    return '[^/]'; // a range that goes backwards matches nothing; to be on the safe side, anything
  }
}

function escaped(char: string): string {
  return char.replace(/[\\^$.*+?()[\]{}|/-]/, '\\$&');
}
