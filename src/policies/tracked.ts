// Whether git tracks a file, so that it came with the repository: read from the index of its work
// tree, without git, which would run what the repository says.

import * as fs from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { readIndex } from '../text/git-index.ts';

const BYTES_MAX = 64 * 1024 * 1024;
const FILES_MAX = 500_000;

/** Also for a directory with a tracked file in it, and wherever that cannot be told. */
export function isTracked(path: string): boolean {
  const tree = treeOf(path);
  if (tree === undefined) return false;
  const names = namesIn(tree);
  if (names === undefined) return true;
  const wanted = Buffer.from(relative(tree, path)).toString('latin1');
  return names.some((name) => name === wanted || name.startsWith(`${wanted}/`));
}

/** The nearest directory above with a `.git` in it. */
function treeOf(path: string): string | undefined {
  for (let at = dirname(path); ; at = dirname(at)) {
    if (fs.existsSync(join(at, '.git'))) return at;
    if (at === dirname(at)) return undefined;
  }
}

/** Undefined: there is an index that we cannot read. */
function namesIn(tree: string): readonly string[] | undefined {
  try {
    const index = join(gitDirectory(tree), 'index');
    const stat = fs.statSync(index, { throwIfNoEntry: false });
    if (stat === undefined) return []; // nothing was ever added
    if (!stat.isFile() || stat.size > BYTES_MAX) return undefined;
    const read = readIndex(fs.readFileSync(index), ID_BYTES, FILES_MAX);
    return read?.files.map(({ name }) => name);
  } catch {
    return undefined;
  }
}

const ID_BYTES = 20; // SHA-1; an index of another repository does not read as one

function gitDirectory(tree: string): string {
  const path = join(tree, '.git');
  if (fs.statSync(path).isDirectory()) return path;
  const found = /^gitdir: (.+)$/m.exec(fs.readFileSync(path, 'utf8'))?.[1];
  return resolve(tree, found ?? '.git');
}
