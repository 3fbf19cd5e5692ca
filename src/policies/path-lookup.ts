// Where the paths of a command lead, without ever waiting for a file system on the event loop.
// Local paths are resolved at once. A path that leads to a mount which may stop answering (NFS,
// FUSE) is resolved by a process of its own, between two tries of the decision that needs it; until
// then, and if no answer comes, it is unseen, and the decision says so.

import type { Disk } from '../policy/bounds.ts';
import { remoteMountOf, remoteMounts } from '../run/mounts.ts';
import { activationOf } from './activation.ts';
import { MountReader } from './mount-reader.ts';
import { isBare, realPath, shortMemory } from './real-path.ts';
import { isTracked } from './tracked.ts';

const TRIES_MAX = 5; // a resolved directory can lead to new paths, but hardly more often than this

export type UnseenPath = { readonly path: string; readonly mount: string };

export class PathLookup {
  readonly #look = shortMemory(lookAt);
  readonly #bare = shortMemory(isBare);
  readonly #activation = shortMemory((script) => activationOf(script, this.real));
  readonly #tracked = shortMemory(isTracked);
  readonly #readers = new Map<string, MountReader>();
  /** What readers found for the decision that is tried now. */
  #found: ReadonlyMap<string, string> = new Map();
  /** Of the decision that is watched. */
  #unseen: Map<string, string> | undefined;

  /** An unseen path is given as it is. */
  readonly real = (path: string): string => {
    const { real, mount } = this.#look(path);
    if (mount === undefined) return real;
    const found = this.#found.get(path);
    if (found === undefined) this.#unseen?.set(path, mount);
    return found ?? path;
  };

  /** On a mount that may not answer no one looks: git itself refuses such a repository there. */
  readonly bare = (directory: string): boolean => {
    const { real } = this.#look(directory);
    return real !== undefined && this.#bare(real);
  };

  /** Of programs; on a mount that may not answer none is known, and all came with a repository. */
  readonly disk: Disk = {
    activation: (script) => {
      const { real } = this.#look(script);
      return real === undefined ? undefined : this.#activation(real);
    },
    tracked: (path) => {
      const { mount } = this.#look(path);
      return mount !== undefined || this.#tracked(path);
    },
  };

  /** What `decide` gives, and the paths that it asked for and that were not seen. */
  watch<T>(decide: () => T): { readonly value: T; readonly unseen: readonly UnseenPath[] } {
    const around = this.#unseen;
    const own = new Map<string, string>();
    this.#unseen = own;
    try {
      const value = decide();
      return { value, unseen: [...own].map(([path, mount]) => ({ path, mount })) };
    } finally {
      for (const [path, mount] of own) around?.set(path, mount);
      this.#unseen = around;
    }
  }

  /** Tries `decide` again until all that it asks for is seen or was asked for in vain. */
  async settled<T>(decide: () => T): Promise<T> {
    const found = new Map<string, string>();
    const asked = new Set<string>();
    for (let turn = 1; ; turn += 1) {
      this.#found = found;
      const { value, unseen } = this.watch(decide);
      this.#found = new Map();
      const fresh = unseen.filter(({ path }) => !asked.has(path));
      if (fresh.length === 0 || turn === TRIES_MAX) return value;
      await Promise.all(
        fresh.map(async ({ path, mount }) => {
          asked.add(path);
          const real = await this.#reader(mount).real(path);
          if (real !== undefined) found.set(path, real);
        }),
      );
    }
  }

  /** A mount that does not answer, of those that lie below `trees` or that `paths` lead to. */
  async silentMount(
    trees: readonly string[],
    paths: readonly string[],
  ): Promise<string | undefined> {
    const mounts = ownMounts();
    const led = [...trees, ...paths].map((path) => remoteMountOf(path, mounts));
    const below = (mount: string): boolean =>
      trees.some((tree) => mount.startsWith(tree.endsWith('/') ? tree : `${tree}/`));
    const wanted = mounts.filter((mount) => led.includes(mount) || below(mount));
    const answers = await Promise.all(wanted.map((mount) => this.#reader(mount).real(mount)));
    return wanted.find((_, at) => answers[at] === undefined);
  }

  close(): void {
    for (const reader of this.#readers.values()) reader.close();
  }

  #reader(mount: string): MountReader {
    const known = this.#readers.get(mount);
    if (known !== undefined) return known;
    const reader = new MountReader();
    this.#readers.set(mount, reader);
    return reader;
  }
}

type Place =
  | { readonly real: string; readonly mount?: undefined }
  /** It leads to this one, which may not answer. */
  | { readonly real?: undefined; readonly mount: string };

function lookAt(path: string): Place {
  const mount = remoteMountOf(path, ownMounts());
  return mount === undefined ? { real: realPath(path) } : { mount };
}

/** Not the root: all that we are is loaded from there. */
function ownMounts(): readonly string[] {
  return remoteMounts().filter((mount) => mount !== '/');
}
