// Where a git repository keeps its files, and their bytes, without running git: in a directory that
// is not trusted, git runs what the repository's own configuration names. What cannot be read, or
// is not of the plain form that git itself writes, is undefined.

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const TEXT_BYTES_MAX = 8 * 1024 * 1024; // packed-refs of a repository with 100,000 refs
const PARENTS_MAX = 256; // directories above it that are looked at

export type GitFiles = {
  /** Of the work tree: HEAD and the index. */
  readonly gitDir: string;
  /** Shared by all work trees of a repository: refs and objects. */
  readonly commonDir: string;
  readonly workTree: string;
};

/** The repository that `directory` is inside of. */
export function gitFiles(directory: string): GitFiles | undefined {
  let at = resolve(directory);
  for (let count = 0; count < PARENTS_MAX; count++) {
    const found = filesAt(at);
    if (found !== undefined || dirname(at) === at) return found;
    at = dirname(at);
  }
  return undefined;
}

function filesAt(workTree: string): GitFiles | undefined {
  const plain = join(workTree, '.git');
  // In a work tree of its own, or a submodule, it is a file that names the directory.
  const named = /^gitdir: ([^\0\n]+)\n?$/.exec(textIn(plain) ?? '')?.[1];
  const gitDir = named === undefined ? plain : resolve(workTree, named);
  if (textIn(join(gitDir, 'HEAD')) === undefined) return undefined;
  const common = textIn(join(gitDir, 'commondir'))?.trimEnd();
  const commonDir = common === undefined ? gitDir : resolve(gitDir, common);
  return { gitDir, commonDir, workTree };
}

export function textIn(path: string): string | undefined {
  return fileIn(path, TEXT_BYTES_MAX)?.bytes.toString('utf8');
}

/** The whole of a regular file, unless it is longer. */
export function fileIn(
  path: string | Buffer,
  bytesMax: number,
): { readonly bytes: Buffer; readonly modifiedNs: bigint } | undefined {
  return withFile(path, (fd, size, modifiedNs) => {
    const bytes = size > bytesMax ? undefined : rangeOf(fd, 0, size);
    return bytes && { bytes, modifiedNs };
  });
}

export function withFile<T>(
  path: string | Buffer,
  use: (fd: number, size: number, modifiedNs: bigint) => T,
): T | undefined {
  let fd: number;
  try {
    // A FIFO without a writer would hold us, a terminal would become ours.
    const { O_RDONLY, O_NONBLOCK, O_NOCTTY } = constants;
    fd = openSync(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  } catch {
    return undefined; // missing, or not for us to read: that is not known then
  }
  try {
    const stat = fstatSync(fd, { bigint: true });
    return stat.isFile() ? use(fd, Number(stat.size), stat.mtimeNs) : undefined;
  } catch {
    return undefined; // the disk does not give it: not known either
  } finally {
    closeSync(fd);
  }
}

export function rangeOf(fd: number, from: number, length: number): Buffer | undefined {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(fd, bytes, filled, length - filled, from + filled);
    if (count === 0) return undefined; // it became shorter
    filled += count;
  }
  return bytes;
}
