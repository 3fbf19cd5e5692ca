// Tells when one of a few files has changed; settings and policies are followed by it. Directories
// are watched, because a watch on a file goes silent after the first rename, and a slow look covers
// what no watch tells. A change counts once the files have been still for a moment. Files that keep
// changing for too long count as well if they are replaced as a whole; a file that is written in
// place never does, because only half of it may be there. Nothing is ever opened here.

import { type FSWatcher, readlinkSync, statSync, watch } from 'node:fs';
import { dirname, resolve } from 'node:path';

const SETTLE_MS = 100; // an editor that writes in place has truncated the file first
const MOVING_MS_MAX = 1_000; // a program that replaces a file on and on must not keep it out
const POLL_MS = 2_000; // file systems without events, directories that did not exist yet
const LINKS_MAX = 20; // links to links: more is a circle

export type FileWatchOptions = {
  /** Absolute paths. Asked again at every look. */
  readonly files: () => readonly string[];
  /**
   * Reads the files. `unchanged` tells afterwards whether they are still those that were found: if
   * not, they may have been read by half, and this is called again.
   */
  readonly changed: (unchanged: () => boolean) => void | Promise<void>;
  /** Whether to call `changed` at the next slow look, although the files are the same. */
  readonly retry?: (() => boolean) | undefined;
  readonly settleMs?: number | undefined;
  readonly pollMs?: number | undefined;
};

/** Keeps no process alive. */
export class FileWatch {
  readonly #options: FileWatchOptions;
  readonly #watches = new Map<string, FSWatcher>();
  readonly #poll: NodeJS.Timeout;
  /** The files as they were last read. */
  #known: Print;
  #timer: NodeJS.Timeout | undefined;
  #reading = false;
  /** Since when the files have differed from the known ones. */
  #movingSince: number | undefined;
  #closed = false;
  /** Resolved when a change has been read, or will not be for long. */
  #waiting: (() => void)[] = [];

  constructor(options: FileWatchOptions) {
    this.#options = options;
    this.#arm();
    this.#known = this.#fingerprint();
    this.#poll = setInterval(() => this.#tick(), options.pollMs ?? POLL_MS).unref();
  }

  /** The caller has read the files as they are now. */
  settled(): void {
    this.#arm();
    this.#known = this.#fingerprint();
  }

  /** The caller has not read the files as they are now. */
  forget(): void {
    this.#known = [];
    this.look();
  }

  /**
   * Waits until the changes so far have been read, or until it is clear that the files do not come
   * to rest. Resolves with whether there were any.
   */
  async rest(): Promise<boolean> {
    this.look();
    if (this.#closed || (this.#timer === undefined && !this.#reading)) return false;
    await new Promise<void>((wake) => this.#waiting.push(wake));
    return true;
  }

  look(): void {
    if (this.#closed || this.#timer !== undefined || this.#reading) return;
    this.#arm(); // first, so that a file that appears after the look makes an event
    const before = this.#fingerprint();
    if (isSame(before, this.#known)) {
      this.#movingSince = undefined;
      return;
    }
    const since = this.#movingSince ?? performance.now();
    this.#movingSince = since;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#closed) return;
      const [now, late] = [this.#fingerprint(), performance.now() - since >= MOVING_MS_MAX];
      if (isSame(now, before) || (late && isReplaced(now, before))) {
        this.#read(now);
        return;
      }
      if (late) this.#wake();
      this.look();
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

  #tick(): void {
    if (this.#options.retry?.() === true) this.forget();
    else this.look();
  }

  #read(found: Print): void {
    this.#movingSince = undefined;
    const unchanged = (): boolean => isSame(this.#fingerprint(), found);
    const read = this.#options.changed(unchanged);
    if (read === undefined) {
      this.#finish(found);
      return;
    }
    this.#reading = true;
    read.finally(() => {
      this.#reading = false;
      this.#finish(found);
    });
  }

  #finish(found: Print): void {
    if (this.#closed) return;
    this.#known = found;
    this.#wake();
    this.look();
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Watches the directories of the files. One that was replaced has another inode. */
  #arm(): void {
    const wanted = new Map<string, string>();
    for (const path of this.#options.files().flatMap(linkChain)) {
      const directory = dirname(path);
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
    return this.#options.files().map((file) => ({ file, ...stateOf(file) }));
  }
}

/** One per file: its identity, and a text that changes with its content. */
type Print = readonly (State & { readonly file: string })[];

type State = { readonly which: string; readonly content: string };

function isSame(a: Print, b: Print): boolean {
  const is = ({ file, which, content }: Print[number], at: number): boolean =>
    file === b[at]?.file && which === b[at]?.which && content === b[at]?.content;
  return a.length === b.length && a.every(is);
}

/** Whether all files whose content differs are other files, not the same ones rewritten. */
function isReplaced(now: Print, before: Print): boolean {
  return now.every(
    ({ which, content }, at) => content === before[at]?.content || which !== before[at]?.which,
  );
}

/**
 * As far as the file system can tell. An inode alone may be that of a file that is gone. What is
 * written to a FIFO, a device or a directory is no content that could be read.
 */
function stateOf(path: string): State {
  try {
    const stat = statSync(path, { bigint: true });
    const { dev, ino, birthtimeNs, size, mtimeNs, ctimeNs } = stat;
    const content = stat.isFile() ? `${size} ${mtimeNs} ${ctimeNs}` : '';
    return { which: `${dev} ${ino} ${birthtimeNs}`, content };
  } catch {
    return { which: 'none', content: '' }; // missing or not readable: reading it will say which
  }
}

/** The file, and every link on the way from it to the file that is read. */
function linkChain(file: string): string[] {
  const chain = [file];
  for (let path = file; chain.length < LINKS_MAX; chain.push(path)) {
    try {
      path = resolve(dirname(path), readlinkSync(path));
    } catch {
      break; // no link, or nothing there
    }
  }
  return chain;
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
