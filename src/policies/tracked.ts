// Whether git tracks a file, so that it came with the repository: read from the index of its work
// tree, without git, which would run what the repository says.

import * as fs from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type GitFiles, gitFiles } from '../git/files.ts';
import { readIndex } from '../text/git-index.ts';

const BYTES_MAX = 64 * 1024 * 1024;
const FILES_MAX = 500_000;

/** Also for a directory with a tracked file in it, and wherever that cannot be told. */
export function isTracked(path: string): boolean {
  const files = gitFiles(dirname(path));
  if (files === undefined) return false;
  const names = namesIn(files);
  if (names === undefined) return true;
  const wanted = Buffer.from(relative(files.workTree, path)).toString('latin1');
  return names.some((name) => name === wanted || name.startsWith(`${wanted}/`));
}

/** Undefined: there is an index that we cannot read. */
function namesIn({ gitDir }: GitFiles): readonly string[] | undefined {
  try {
    const index = join(gitDir, 'index');
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
