// The keys of a settings file that was not trusted, so that a notice can name them. The file is
// foreign: it is read up to a limit, never through a link, never from a pipe, and looked
// at line by line without a parser that it could keep busy.

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

const BYTES_MAX = 64 * 1024; // what a person wrote by hand is far shorter
const LINES_MAX = 2_000;
const KEYS_MAX = 200;

const LINE_LENGTH_MAX = 1_000; // matching a line must not take long, whatever is in it

const BLOCK_KEY = /^( *)(?:- +)?(["']?)([A-Za-z0-9_.-]{1,64})\2 *:(?: +(.*)|$)/;
const ANY_KEY = /(?:^|[{,\s])["']?([A-Za-z0-9_.-]{1,64})["']? *:(?=[\s[{"']|$)/g;

/** Undefined when the file cannot be looked at. Never throws. */
export function keysOfFile(path: string): readonly string[] | undefined {
  const text = startOf(path);
  return text === undefined ? undefined : keysOf(text);
}

/** Every key with none below it, by its path: `plugins.derun.enabled`. */
function keysOf(text: string): readonly string[] {
  const above: { readonly indent: number; readonly path: string }[] = [];
  const keys = new Set<string>();
  for (const line of text.split('\n', LINES_MAX)) {
    const [, spaces = '', , name, value = ''] =
      BLOCK_KEY.exec(line.slice(0, LINE_LENGTH_MAX).trimEnd()) ?? [];
    if (name === undefined) continue;
    while ((above.at(-1)?.indent ?? -1) >= spaces.length) above.pop();
    const parent = above.at(-1)?.path;
    if (parent !== undefined) keys.delete(parent);
    const path = parent === undefined ? name : `${parent}.${name}`;
    const inside = value.startsWith('{') ? looseKeys(value) : [];
    for (const key of inside.length === 0 ? [path] : inside.map((one) => `${path}.${one}`)) {
      keys.add(key);
    }
    above.push({ indent: spaces.length, path });
    if (keys.size >= KEYS_MAX) break;
  }
  if (keys.size > 0) return [...keys];
  return looseKeys(text);
}

/** Of mappings in braces: every key there is, without what it is below. */
function looseKeys(text: string): readonly string[] {
  const keys = [...text.matchAll(ANY_KEY)].slice(0, KEYS_MAX).map(([, name = '']) => name);
  return [...new Set(keys)];
}

function startOf(path: string): string | undefined {
  const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants;
  let fd: number | undefined;
  try {
    fd = openSync(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
    if (!fstatSync(fd).isFile()) return undefined;
    const bytes = Buffer.alloc(BYTES_MAX);
    return bytes.toString('utf8', 0, readSync(fd, bytes, 0, BYTES_MAX, 0));
  } catch {
    return undefined; // a link, gone, or not to be read: the notice says that its keys are unknown
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
