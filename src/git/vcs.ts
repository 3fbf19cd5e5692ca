// The state of the project's git repository when a session begins: which commit, which branch, and
// whether tracked files differ from it, as `git describe --dirty` means it. Read as files; git
// itself is never run. What cannot be told is null, and nothing here throws or waits.

import { type BigIntStats, lstatSync, readlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { leadsToRemote } from '../run/mounts.ts';
import { objectId, readIndex, stagedTree, type TrackedFile } from '../text/git-index.ts';
import type { VcsState } from '../types.ts';
import { fileIn, type GitFiles, gitFiles } from './files.ts';
import { headOf, treeOf } from './objects.ts';

const INDEX_BYTES_MAX = 16 * 1024 * 1024;
const FILES_MAX = 10_000; // asking for so many takes 50 ms, once in a session
const COMPARED_BYTES_MAX = 8 * 1024 * 1024; // of files that have the same size at another time

/** Undefined outside of a repository, and on a mount that may not answer. */
export function vcsState(directory: string): VcsState | undefined {
  if (leadsToRemote(directory)) return undefined;
  const files = gitFiles(directory);
  if (files === undefined || leadsToRemote(files.gitDir) || leadsToRemote(files.commonDir)) {
    return undefined;
  }
  const { head, branch } = headOf(files);
  return { head, branch, dirty: isDirty(files, head) };
}

function isDirty(files: GitFiles, head: string | null): boolean | null {
  const stored = fileIn(join(files.gitDir, 'index'), INDEX_BYTES_MAX);
  if (stored === undefined || head === null) return null;
  const idBytes = head.length / 2;
  const index = readIndex(stored.bytes, idBytes, FILES_MAX);
  if (index === undefined) return null;
  if (index.unmerged) return true;
  const committed = treeOf(files, head);
  if (committed === undefined) return null;
  if (committed !== stagedTree(index.files, idBytes)) return true;
  return anyChanged(new WorkTree(files.workTree), index.files, stored.modifiedNs);
}

const SUBMODULE = 0o160000;
const LINK = 0o120000;
const TYPE = 0o170000;

/** Null when files would take too long to compare, or to ask for. */
function anyChanged(
  tree: WorkTree,
  files: readonly TrackedFile[],
  indexNs: bigint,
): boolean | null {
  const unsure: TrackedFile[] = [];
  let bytes = 0;
  for (const file of files) {
    if (file.loose || (file.mode & TYPE) === SUBMODULE) continue;
    if (tree.mayHang(file)) return null;
    const stat = tree.stat(file);
    if (stat === undefined || differs(file, stat)) return true;
    // Changed in the moment in which the index was written, it can have its old time and size.
    if (stat.mtimeNs === file.modifiedNs && stat.mtimeNs < indexNs && file.size > 0) continue;
    unsure.push(file);
    bytes += Number(stat.size);
  }
  if (bytes > COMPARED_BYTES_MAX) return null;
  const changed = unsure.some((file) => tree.contentId(file) !== file.id);
  // A filter stores other bytes than the file has.
  return changed && files.some(({ name }) => /(?:^|\/)\.gitattributes$/.test(name))
    ? null
    : changed;
}

function differs({ mode, size }: TrackedFile, stat: BigIntStats): boolean {
  const link = (mode & TYPE) === LINK;
  if (link !== stat.isSymbolicLink() || (!link && !stat.isFile())) return true;
  const executable = (stat.mode & 0o100n) !== 0n;
  if (!link && executable !== ((mode & 0o100) !== 0)) return true;
  // 0 is also what git writes for a file that it must compare.
  return size !== 0 && stat.size % 2n ** 32n !== BigInt(size);
}

class WorkTree {
  readonly #path: Buffer;
  readonly #hanging = new Map<string, boolean>();

  constructor(path: string) {
    this.#path = Buffer.from(`${path}/`);
  }

  /** A directory may be a link to somewhere else by now. */
  mayHang({ name }: TrackedFile): boolean {
    const directory = dirname(name);
    const known = this.#hanging.get(directory);
    if (known !== undefined) return known;
    const hangs = leadsToRemote(`${this.#path}${Buffer.from(directory, 'latin1')}`);
    this.#hanging.set(directory, hangs);
    return hangs;
  }

  stat(file: TrackedFile): BigIntStats | undefined {
    try {
      return lstatSync(this.#pathOf(file), { bigint: true });
    } catch {
      return undefined; // missing, or in no directory of ours any more: it was tracked
    }
  }

  contentId(file: TrackedFile): string | undefined {
    const link = (file.mode & TYPE) === LINK;
    const path = this.#pathOf(file);
    const bytes = link ? targetOf(path) : fileIn(path, COMPARED_BYTES_MAX)?.bytes;
    return bytes && objectId('blob', bytes, file.id.length === 64 ? 'sha256' : 'sha1');
  }

  #pathOf({ name }: TrackedFile): Buffer {
    return Buffer.concat([this.#path, Buffer.from(name, 'latin1')]);
  }
}

function targetOf(path: Buffer): Buffer | undefined {
  try {
    return readlinkSync(path, { encoding: 'buffer' });
  } catch {
    return undefined; // gone since it was looked at
  }
}
