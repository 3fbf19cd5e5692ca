// Tells when one of a few files has changed. Directories are watched, because a watch on a file
// goes silent after the first rename, and a slow look covers what no watch tells. A change counts
// once the files have been still for a moment. Those that are on the move for too long count, too,
// if they are replaced as a whole; one that is written in place may be half of it.

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
  #seen: Print;
  #timer: NodeJS.Timeout | undefined;
  /** Since when they have not been as they were seen. */
  #movingSince: number | undefined;
  #closed = false;
  /** Told when what is on the move is known, or will not be for long. */
  #waiting: (() => void)[] = [];

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

  /** Until what has changed by now has been told, or does not come to rest. Whether it has. */
  async rest(): Promise<boolean> {
    this.look();
    if (this.#closed || this.#timer === undefined) return false;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return true;
  }

  look(): void {
    if (this.#closed || this.#timer !== undefined) return;
    const before = this.#fingerprint();
    if (isSame(before, this.#seen)) {
      this.#movingSince = undefined;
      return;
    }
    const since = this.#movingSince ?? performance.now();
    this.#movingSince = since;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#closed) return;
      const [now, late] = [this.#fingerprint(), performance.now() - since >= MOVING_MS_MAX];
      if (isSame(now, before) || (late && isReplaced(now, before))) return this.#tell(now);
      if (late) this.#wake();
      this.look(); // still on the move
    }, this.#options.settleMs ?? SETTLE_MS).unref();
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#poll);
    clearTimeout(this.#timer);
    for (const one of this.#watches.values()) one.close();
    this.#watches.clear();
    this.#wake();
  }

  #tell(seen: Print): void {
    this.#movingSince = undefined;
    this.#options.changed();
    this.#arm();
    // What changed while it was read may have been read by half.
    const now = this.#fingerprint();
    this.#seen = isSame(now, seen) ? now : [];
    this.#wake();
    this.look();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
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

  #fingerprint(): Print {
    return this.#options.files().map((file) => {
      const { which, content } = stateOf(file);
      return { which: `${file} ${which} ${inodeOf(dirname(file))}`, content };
    });
  }
}

/** Of each file: which one it is, and another text for another content. */
type Print = readonly State[];

type State = { readonly which: string; readonly content: string };

function isSame(a: Print, b: Print): boolean {
  const is = ({ which, content }: State, at: number): boolean =>
    which === b[at]?.which && content === b[at]?.content;
  return a.length === b.length && a.every(is);
}

/** Whether those with another content are others altogether. */
function isReplaced(now: Print, before: Print): boolean {
  return now.every(
    ({ which, content }, at) => content === before[at]?.content || which !== before[at]?.which,
  );
}

/** As far as the file system can tell. An inode alone may be that of a file that is gone. */
function stateOf(path: string): State {
  try {
    const stat = statSync(path, { bigint: true });
    const { dev, ino, birthtimeNs, size, mtimeNs, ctimeNs } = stat;
    return { which: `${dev} ${ino} ${birthtimeNs}`, content: `${size} ${mtimeNs} ${ctimeNs}` };
  } catch {
    return { which: 'none', content: '' }; // missing, or not to be read: reading it will say which
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
