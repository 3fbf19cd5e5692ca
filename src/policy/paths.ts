// Paths as a policy sees them: absolute, without `.` and `..`, matched against globs that cover all
// paths below them, too. Nothing here reads a disk; the caller may pass `real`.

import { posix } from 'node:path';
import { literalRegex } from '../text/regex.ts';

/** The directories that relative paths and `~` in a policy begin at; absolute. */
export type Roots = { readonly project: string; readonly home: string };

/** Where a path leads when it is used in this directory. */
export function absolute(path: string, cwd: string): string {
  const joined = path.startsWith('/') ? path : `${cwd}/${path}`;
  return WHOLE.test(joined) ? joined : trimmed(posix.resolve(cwd, path));
}

/** Where the system goes with it: `link/../x` lies beside what the link leads to. */
export function leadsTo(path: string, cwd: string, real: (path: string) => string): string {
  if (!CLIMBS.test(path)) return real(absolute(path, cwd));
  let at = path.startsWith('/') ? '/' : cwd;
  for (const name of path.split('/')) {
    if (name === '..') at = posix.dirname(real(at));
    else if (name !== '' && name !== '.') at = posix.join(at, name);
  }
  return real(at);
}

const CLIMBS = /(?:^|\/)\.\.(?:\/|$)/;

/** A path that has nothing to resolve in it, as most have. */
const WHOLE = /^(?:\/(?!\.{1,2}(?:\/|$))[^/]+)+$/;

/** `//x` is `/x` here, and a slash at the end says nothing. */
function trimmed(path: string): string {
  const single = path.replace(/^\/+/, '/');
  return single.length > 1 ? single.replace(/\/+$/, '') : single;
}

/** Whether a path is this directory or below it; both absolute. */
export function isInside(path: string, directory: string): boolean {
  return directory === '/' || path === directory || path.startsWith(`${directory}/`);
}

/** Where the programs of an environment keep what they run: `.venv` for `.venv/bin`. */
export function environmentOf(directory: string): string {
  const plain = directory.replace(/\/+$/, '');
  const above = posix.dirname(plain);
  const whole = /^(?:node_modules|\.?v?env|\.?venv[\w.-]*)$/.test(posix.basename(above));
  return whole && /^(?:\.?bin|Scripts)$/.test(posix.basename(plain)) ? above : plain;
}

/** No path is longer. */
const LENGTH_MAX = 4_096;

export type PathSet = { readonly has: (path: string) => boolean };

/** Each glob is a file, or a directory with all below it. Compiled when it is first asked. */
export function pathSet(globs: readonly string[], roots: Roots): PathSet {
  let test: ((path: string) => boolean) | undefined;
  return {
    has: (path) => {
      if (path.length > LENGTH_MAX) return false;
      test ??= matcher(globs.map((glob) => expandedGlob(glob, roots)));
      return test(path);
    },
  };
}

function expandedGlob(glob: string, roots: Roots): string {
  const path = expanded(glob, roots);
  return WHOLE.test(path) ? path : trimmed(path);
}

function expanded(glob: string, { project, home }: Roots): string {
  if (glob === '~' || glob.startsWith('~/')) {
    const joined = `${home}${glob.slice(1)}`;
    return WHOLE.test(joined) ? joined : posix.join(home, glob.slice(1));
  }
  if (glob.startsWith('**/')) return `/${glob}`;
  return WHOLE.test(glob) ? glob : posix.resolve(project, glob);
}

/** A few expressions for all globs: a policy asks about many paths. */
function matcher(globs: readonly string[]): (path: string) => boolean {
  const plain = globs.filter((glob) => !GLOB.test(glob));
  const inside = plain.map((glob) => (glob === '/' ? '/' : `${glob}/`));
  const others = globs.filter((glob) => GLOB.test(glob));
  // Globs for any directory are looked for behind every slash, at once.
  const anywhere = others.filter((glob) => glob.startsWith('/**/')).map((glob) => glob.slice(4));
  const placed = others.filter((glob) => !glob.startsWith('/**/'));
  const tests = [
    quickTest(anywhere, mayBeAnywhere(anywhere), '/'),
    quickTest(placed, mayBePlaced(placed), '^'),
  ];
  return (path) =>
    plain.includes(path) ||
    inside.some((one) => path.startsWith(one)) ||
    tests.some((test) => test(path));
}

/** Compiling an expression for a hundred globs takes longer than all else that judges a command. */
function quickTest(
  globs: readonly string[],
  mayBe: (path: string) => boolean,
  front: string,
): (path: string) => boolean {
  let regex: RegExp | undefined;
  return (path) => {
    if (globs.length === 0 || (PLAIN.test(path) && !mayBe(path.toLowerCase()))) return false;
    regex ??= new RegExp(`${front}(?:${globs.map(globSource).join('|')})(?:/|$)`, 'is');
    return regex.test(path);
  };
}

/** Letters of any size are the same in every way that there is to compare them. */
const PLAIN = /^(?!.*\/\/)[ -~]*$/;

/** Whether some name of the path has in it what the first name of a glob asks for. */
function mayBeAnywhere(globs: readonly string[]): (path: string) => boolean {
  const wanted = [...new Set(globs.map(fixedPart))];
  return (path) => wanted.some((text) => path.includes(text));
}

/** The longest text in the first name that has to be there as it is, behind its slash if first. */
function fixedPart(glob: string): string {
  const [name = ''] = glob.toLowerCase().split('/', 1);
  if (/[[\\]/.test(name)) return '';
  const texts = `/${name}`.split(/[*?]+/).sort((a, b) => b.length - a.length);
  return texts[0] ?? '';
}

/** Whether the path begins as a glob does in front of its first wildcard. */
function mayBePlaced(globs: readonly string[]): (path: string) => boolean {
  const begins = globs.map((glob) => glob.toLowerCase().split(/[*?[{\\]/, 1)[0] ?? '');
  return (path) => begins.some((text) => path.startsWith(text));
}

const GLOB = /[*?[{]/;

/** Letters count alike, as on some disks. `glob` may be hostile, so matching is bounded. */
export function globRegex(glob: string, tail = ''): RegExp {
  const plain = plainStars(glob);
  if (plain.split('*').length > STARS_MAX) return /^/;
  return new RegExp(`^${globSource(plain)}${tail}$`, 'is');
}

/** Real globs have fewer; one with more matches everything. */
const STARS_MAX = 128;

/** `**` is more than `*` only as a whole name, and once. */
function plainStars(glob: string): string {
  return glob
    .replace(
      /((?:^|\/)\*\*(?=\/|$)|\\[\s\S])|\*+/g,
      (_match, kept: string | undefined) => kept ?? '*',
    )
    .replace(/(?<!\\)(?:\*\*\/)+/g, '**/');
}

/** One character as a regular expression, a star within a name, or what can be of any length. */
type Token = { readonly kind: 'one' | 'star' | 'many'; readonly source: string };

/** `*` and `?` stay within a name, `**` does not. */
function globSource(glob: string): string {
  const tokens = tokensOf(glob);
  let source = '';
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token?.kind !== 'star') {
      source += token?.source ?? '';
      continue;
    }
    let next = at + 1;
    while (tokens[next]?.kind === 'one') next += 1;
    const behind = tokens.slice(at + 1, next).map((one) => one.source);
    // Between two stars the first place is as good as any: not to come back to it keeps it quick.
    if (tokens[next]?.kind === 'star') source += once(`[^/]*?${behind.join('')}`);
    else source += `[^/]*${behind.join('')}`;
    at = next - 1;
  }
  return source;
}

let groups = 0;

/** An atomic group: once it matched, the search never comes back to it. */
export function once(source: string): string {
  groups += 1;
  return `(?=(?<g${groups}>${source}))\\k<g${groups}>`;
}

function tokensOf(glob: string): readonly Token[] {
  const tokens: Token[] = [];
  const add = (kind: Token['kind'], source: string): void => {
    tokens.push({ kind, source });
  };
  for (let at = 0; at < glob.length; at += 1) {
    const char = glob.charAt(at);
    const close = char === '[' ? closeOf(glob, at) : -1;
    if (glob.startsWith('**/', at)) {
      add('many', '(?:[^/]+/)*');
      at += 2;
    } else if (glob.startsWith('**', at)) {
      add('many', '.*');
      at += 1;
    } else if (char === '*') add('star', '');
    else if (char === '?') add('one', '[^/]');
    else if (char === '\\' && at + 1 < glob.length) {
      at += 1;
      add('one', literalRegex(glob.charAt(at)));
    } else if (close >= 0) {
      add('one', `(?!/)${bracket(glob.slice(at + 1, close))}`);
      at = close;
    } else if (char === '/') {
      // `*//` finds `src/`, and `.//s*` finds `.//src`.
      while (glob.charAt(at + 1) === '/') at += 1;
      add('many', '/+');
    } else add('one', literalRegex(char));
  }
  return tokens;
}

/** Where `[...]` ends: `[[:alpha:]]` has another pair in it. */
function closeOf(glob: string, open: number): number {
  const found = /^\[[!^]?\]?(?:\[[:.=][^\]]*\]|[^\]])*\]/.exec(glob.slice(open, open + CLASS_MAX));
  return found === null ? -1 : open + found[0].length - 1;
}

const CLASS_MAX = 64; // a longer one is read as the letters that it has

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
