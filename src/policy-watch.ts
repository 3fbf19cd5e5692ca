// Tells when one of a few files has changed. Directories are watched, because a watch on a file
// goes silent after the first rename, and a slow look covers what no watch tells. A change counts
// once the files have been still for a moment, or have been on the move for too long.

import { type FSWatcher, statSync, watch } from 'node:fs';
import { dirname } from 'node:path';

const SETTLE_MS = 100; // an editor that writes in place has truncated the file first
const MOVING_MS_MAX = 1_000; // who writes on and on must not keep a new version out
const POLL_MS = 2_000; // file systems without events, directories that did not exist yet

export type FileWatchOptions = {
  /** Asked again after every change. */
  readonly files: () => readonly string[];
  readonly changed: () => void;
  readonly settleMs?: number | undefined;
  readonly pollMs?: number | undefined;
};

/** Keeps no process alive. */
export class FileWatch {
  readonly #options: FileWatchOptions;
  readonly #watches = new Map<string, FSWatcher>();
  readonly #poll: NodeJS.Timeout;
  #seen: string;
  #timer: NodeJS.Timeout | undefined;
  /** Since when they have not been as they were seen. */
  #movingSince: number | undefined;
  #closed = false;

  constructor(options: FileWatchOptions) {
    this.#options = options;
    this.#seen = this.#fingerprint();
    this.#arm();
    this.#poll = setInterval(() => this.look(), options.pollMs ?? POLL_MS).unref();
  }

  /** Takes what is there now for known. */
  settled(): void {
    this.#seen = this.#fingerprint();
    this.#arm();
  }

  look(): void {
    if (this.#closed || this.#timer !== undefined) return;
    const before = this.#fingerprint();
    if (before === this.#seen) {
      this.#movingSince = undefined;
      return;
    }
    const since = this.#movingSince ?? performance.now();
    this.#movingSince = since;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#closed) return;
      const [now, late] = [this.#fingerprint(), performance.now() - since >= MOVING_MS_MAX];
      if (now === before || late) this.#tell(now);
      else this.look(); // still on the move
    }, this.#options.settleMs ?? SETTLE_MS).unref();
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#poll);
    clearTimeout(this.#timer);
    for (const one of this.#watches.values()) one.close();
    this.#watches.clear();
  }

  #tell(seen: string): void {
    this.#movingSince = undefined;
    this.#options.changed();
    this.#arm();
    // What changed while it was read may have been read by half.
    const now = this.#fingerprint();
    this.#seen = now === seen ? now : '';
    this.look();
  }

  /** A directory that was replaced has another inode, and is watched anew. */
  #arm(): void {
    const wanted = new Map<string, string>();
    for (const file of this.#options.files()) {
      const directory = dirname(file);
      const inode = inodeOf(directory);
      if (inode !== undefined) wanted.set(`${inode} ${directory}`, directory);
    }
    for (const [key, one] of this.#watches) {
      if (wanted.has(key)) continue;
      one.close();
      this.#watches.delete(key);
    }
    for (const [key, directory] of wanted) {
      if (this.#watches.has(key)) continue;
      const made = tryWatch(directory, () => this.look());
      if (made !== undefined) this.#watches.set(key, made);
    }
  }

  #fingerprint(): string {
    const files = this.#options.files();
    return files.map((file) => `${file} ${stateOf(file)} ${inodeOf(dirname(file))}`).join('\n');
  }
}

/** Another text for another content, as far as the file system can tell. */
function stateOf(path: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch {
    return 'none'; // missing, or not to be read: reading it will say which
  }
}

function inodeOf(directory: string): string | undefined {
  try {
    const { dev, ino } = statSync(directory, { bigint: true });
    return `${dev} ${ino}`;
  } catch {
    return undefined; // not there yet: the slow look finds it
  }
}

function tryWatch(directory: string, changed: () => void): FSWatcher | undefined {
  try {
    const made = watch(directory, { persistent: false }, changed);
    // The directory went away, or the system has no more watches: the slow look goes on.
    made.on('error', () => made.close());
    return made;
  } catch {
    return undefined; // as above
  }
}
