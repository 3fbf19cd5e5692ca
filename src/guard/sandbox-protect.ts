// What a sandbox keeps from a command besides its scopes: secrets are not there, and what decides
// what programs and agents do cannot be written. Looked for by name when a command starts, the
// nearest first, and only so much of it: the sandbox is held by its scopes.

import * as fs from 'node:fs';
import { join } from 'node:path';

export type ProtectionTests = {
  readonly secret: (path: string) => boolean;
  readonly control: (path: string) => boolean;
};

export type GuardedPaths = {
  readonly hidden: readonly string[];
  /** They can be read. */
  readonly fixed: readonly string[];
  /** Repositories: git writes into them, but no one may put another in their place. */
  readonly pinned: readonly string[];
};

/** In a repository, what leads git to programs; it writes the rest all the time. */
const LEADING = [
  ...['hooks', 'config', 'config.worktree', 'commondir', 'info/attributes', 'modules', 'worktrees'],
  'objects/info/alternates',
];

const ENTRIES_MAX = 20_000; // a command should not wait for more
const PASSED_OVER = new Set(['node_modules']);

/** Below directories, or directly in them for those that are `shallow`. */
export function guardedIn(
  roots: { readonly deep: readonly string[]; readonly shallow: readonly string[] },
  guarded: ProtectionTests,
): GuardedPaths {
  const hidden: string[] = [];
  const fixed: string[] = [];
  const pinned: string[] = [];
  const queue = roots.deep.map((dir) => ({ dir, within: false }));
  let left = ENTRIES_MAX;
  const look = (path: string, within: boolean): 'hidden' | 'fixed' | undefined => {
    if (guarded.secret(path)) {
      hidden.push(path);
      return 'hidden';
    }
    if (within || !guarded.control(path)) return undefined;
    fixed.push(path);
    return 'fixed';
  };
  for (const dir of roots.shallow)
    for (const { name } of entriesOf(dir)) look(join(dir, name), true);
  for (let at = 0; at < queue.length && left > 0; at += 1) {
    const { dir, within } = queue[at] ?? { dir: '/', within: true };
    for (const entry of entriesOf(dir)) {
      left -= 1;
      const path = join(dir, entry.name);
      if (entry.name === '.git' && entry.isDirectory()) {
        pinned.push(path);
        const names = LEADING.map((name) => join(path, name));
        fixed.push(...names.filter(isThere));
        hidden.push(...[join(path, 'credentials')].filter(isThere));
        continue;
      }
      const found = look(path, within);
      if (found === 'hidden' || !entry.isDirectory() || PASSED_OVER.has(entry.name)) continue;
      queue.push({ dir: path, within: within || found === 'fixed' });
    }
  }
  return { hidden, fixed, pinned };
}

function isThere(path: string): boolean {
  return fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function entriesOf(dir: string): readonly fs.Dirent[] {
  try {
    return fs.readdirSync(dir, { withFileTypes: true });
  } catch {
    return []; // none, or one that may not be read: nothing in it can be opened, either
  }
}
