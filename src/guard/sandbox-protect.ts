// What a sandbox keeps from a command besides its scopes: secrets are not there, and what decides
// what programs and agents do cannot be written. Looked for by name when a command starts, the
// nearest first, and only so much of it: the sandbox is held by its scopes. A name that is not
// there yet cannot be kept from a command, since a mount needs something to lie on; so the same
// look says what there is, to be compared with what is there afterwards.

import * as fs from 'node:fs';
import { join } from 'node:path';
import type { ProtectedState } from '../policies/changes.ts';
import { wordFor } from './protected-word.ts';

export type ProtectionTests = {
  readonly secret: (path: string) => boolean;
  readonly control: (path: string) => boolean;
  readonly steering: (path: string) => boolean;
};

export type GuardedPaths = {
  readonly hidden: readonly string[];
  /** They can be read. */
  readonly fixed: readonly string[];
  /** Repositories: git writes into them, but no one may put another in their place. */
  readonly pinned: readonly string[];
  readonly state: ProtectedState;
};

/** In a repository, what leads git to programs; it writes the rest all the time. */
const LEADING = [
  ...['hooks', 'config', 'config.worktree', 'commondir', 'info/attributes', 'modules', 'worktrees'],
  'objects/info/alternates',
];

/** In the directories of other repositories inside of one, too. */
const LEADING_DEEP = ['gitdir', ...LEADING];

const ENTRIES_MAX = 40_000; // a command should not wait for more
const PASSED_OVER = new Set(['node_modules']);
const NESTED_MAX = 6; // a submodule of a submodule, with a slash or two in its name

/** `own`: in a directory of ours, where captures and journals are written all the time. */
type Within = 'nothing' | 'protected' | 'own';

/** Below directories, or directly in them for those that are `shallow`. */
export function guardedIn(
  roots: { readonly deep: readonly string[]; readonly shallow: readonly string[] },
  guarded: ProtectionTests,
): GuardedPaths {
  return new Look(guarded).at(roots);
}

class Look {
  readonly #guarded: ProtectionTests;
  readonly #hidden: string[] = [];
  readonly #fixed: string[] = [];
  readonly #pinned: string[] = [];
  readonly #paths: Record<string, string> = {};
  readonly #queue: { readonly dir: string; readonly within: Within }[] = [];
  #left = ENTRIES_MAX;

  constructor(guarded: ProtectionTests) {
    this.#guarded = guarded;
  }

  at(roots: Parameters<typeof guardedIn>[0]): GuardedPaths {
    const at = Date.now();
    for (const dir of roots.shallow) {
      for (const entry of entriesOf(dir)) this.#entry(join(dir, entry.name), entry, 'nothing');
    }
    for (const dir of roots.deep) this.#queue.push({ dir, within: 'nothing' });
    for (const one of this.#queue) {
      if (this.#left <= 0) break;
      this.#directory(one);
    }
    const [hidden, fixed, pinned] = [this.#hidden, this.#fixed, this.#pinned];
    const state = { paths: this.#paths, whole: this.#left > 0, at };
    return { hidden, fixed, pinned, state };
  }

  #directory({ dir, within }: { readonly dir: string; readonly within: Within }): void {
    const entries = entriesOf(dir);
    this.#left -= entries.length;
    if (within === 'nothing' && isBare(entries)) {
      this.#note(dir);
      this.#repository(dir, LEADING);
    }
    for (const entry of entries) {
      const path = join(dir, entry.name);
      if (entry.name === '.git' && entry.isDirectory()) {
        this.#pinned.push(path);
        this.#note(path);
        this.#fixed.push(...this.#repository(path, LEADING));
        // The sandbox makes one where there is none: empty, as git itself does.
        this.#paths[join(path, 'hooks')] = 'directory';
        this.#hidden.push(...[join(path, 'credentials')].filter(isThere));
        continue;
      }
      const inside = this.#entry(path, entry, within);
      if (inside === undefined || !entry.isDirectory() || PASSED_OVER.has(entry.name)) continue;
      this.#queue.push({ dir: path, within: inside });
    }
  }

  /** What is below it is within; undefined: that is hidden. */
  #entry(path: string, entry: fs.Dirent, within: Within): Within | undefined {
    const { secret, control, steering } = this.#guarded;
    if (secret(path)) {
      this.#hidden.push(path);
      if (within !== 'own') this.#note(path, 'secret');
      return undefined;
    }
    if (within === 'own') return within;
    if (within === 'protected') {
      this.#note(path);
      return within;
    }
    if (!control(path) && !steering(path)) return within;
    this.#fixed.push(path);
    if (entry.name !== OURS || !entry.isDirectory()) {
      this.#note(path);
      return 'protected';
    }
    for (const { name } of entriesOf(path).filter((one) => one.isFile())) {
      if (name !== '.gitignore') this.#note(join(path, name));
    }
    return 'own';
  }

  /** Notes what leads git to programs, and gives those that are there. */
  #repository(dir: string, names: readonly string[], depth = 0): readonly string[] {
    const there = names.map((name) => join(dir, name)).filter(isThere);
    for (const path of there) {
      this.#note(path);
      const entries = entriesOf(path);
      this.#left -= entries.length;
      if (path.endsWith('/hooks')) for (const { name } of entries) this.#note(join(path, name));
      if (!/\/(?:modules|worktrees)$/.test(path)) continue;
      for (const entry of entries) this.#nested(join(path, entry.name), entry, depth + 1);
    }
    return there;
  }

  #nested(path: string, entry: fs.Dirent, depth: number): void {
    if (!entry.isDirectory() || depth > NESTED_MAX) return;
    this.#note(path);
    this.#repository(path, LEADING_DEEP, depth);
    if (isThere(join(path, 'HEAD'))) return;
    // A submodule may have a slash in its name.
    for (const one of entriesOf(path)) this.#nested(join(path, one.name), one, depth + 1);
  }

  #note(path: string, kind?: 'secret'): void {
    this.#paths[path] = wordFor(path, kind);
  }
}

const OURS = '.cuff';

/** Git takes such a directory for a repository wherever it lies. */
function isBare(entries: readonly fs.Dirent[]): boolean {
  return ['HEAD', 'objects', 'refs'].every((name) => entries.some((one) => one.name === name));
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
