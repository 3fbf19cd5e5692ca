// Follows the settings file while a server runs. Directories are watched, because a watch on a file
// goes silent after the first rename, and a slow look covers what no watch tells. A change is read
// once the file has been still for a moment, checked as a whole, and only then handed to the host;
// a file that is wrong, or gone, leaves the settings as they are and shows in the host's health.

import { type FSWatcher, readlinkSync, statSync, watch } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isAppError } from '../errors.ts';
import { settingsCandidates, trustListFile } from '../places.ts';
import { waitingSentence } from '../trust/settings.ts';
import type { Log } from '../types.ts';
import { strayMessage } from './containment.ts';
import type { Host } from './host.ts';
import { findSettings, type LoadOptions, loadSettings, type Settings } from './settings.ts';

const SETTLE_MS = 100; // an editor that writes in place has truncated the file first
const POLL_MS = 2_000; // file systems without events, directories that did not exist yet
const LINKS_MAX = 20; // links to links: more is a circle

export type WatchOptions = LoadOptions & {
  readonly host: Host;
  /** What the host was made with. */
  readonly settings: Settings;
  /** What the file said at the start, whether the host took it or not. Undefined: it was wrong. */
  readonly seen: Settings | undefined;
  /** Told when the host follows the settings of the file. */
  readonly taken?: () => void;
  readonly log: Log;
  readonly settleMs?: number;
  readonly pollMs?: number;
};

export type SettingsWatch = { close(): void };

export function watchSettings(options: WatchOptions): SettingsWatch {
  const watcher = new Watcher(options);
  return { close: () => watcher.close() };
}

class Watcher {
  readonly #options: WatchOptions;
  readonly #watches = new Map<string, { readonly watch: FSWatcher; readonly inode: string }>();
  readonly #poll: NodeJS.Timeout;
  #settings: Settings;
  /** The state of the disk that was last acted upon. */
  #seen = '';
  /** Why the file, as it is now, cannot be loaded. */
  #unloaded: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #reading = false;
  #generation = 0;
  #closed = false;

  constructor(options: WatchOptions) {
    const { cwd, file } = options;
    this.#options = file === undefined ? options : { ...options, file: resolve(cwd, file) };
    this.#settings = options.settings;
    this.#arm();
    this.#poll = setInterval(() => this.#tick(), options.pollMs ?? POLL_MS).unref();
    // Somebody may have changed the file after it was read for the host.
    this.#look();
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#poll);
    clearTimeout(this.#timer);
    for (const { watch: one } of this.#watches.values()) one.close();
    this.#watches.clear();
  }

  /** What refused settings name, a directory perhaps, may be there by now. */
  #tick(): void {
    if (this.#unloaded !== undefined && !this.#reading) this.#seen = '';
    this.#look();
  }

  #look(): void {
    if (this.#closed || this.#timer !== undefined || this.#reading) return;
    const before = this.#fingerprint();
    if (before === this.#seen) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      // Still on the move: look again later.
      if (this.#fingerprint() === before) this.#read(before);
      else this.#look();
    }, this.#options.settleMs ?? SETTLE_MS).unref();
  }

  async #read(seen: string): Promise<void> {
    this.#reading = true;
    const generation = ++this.#generation;
    const result = await this.#load().catch(reasonOf);
    this.#reading = false;
    if (this.#closed) return;
    this.#arm();
    // What changed while it was read may have been read by half.
    if (this.#fingerprint() === seen) {
      this.#seen = seen;
      const again = result === this.#unloaded;
      this.#unloaded = typeof result === 'string' ? result : undefined;
      if (typeof result !== 'string') this.#apply(result, generation);
      else if (!again) this.#refuse(result);
    }
    this.#look();
  }

  async #load(): Promise<Settings> {
    const { cwd, env, file: named } = this.#options;
    const { file } = this.#settings;
    const found = named ?? findSettings(cwd, env);
    const gone = file !== undefined && stateOf(file) === 'none';
    if (gone && found !== file) {
      throw new Error(`${file} is gone; what it said stays in force until it is back`);
    }
    const settings = await loadSettings(this.#options);
    // An edit must not switch off what was trusted: a command of an agent may have made it.
    const edited = settings.waiting?.find((one) => resolve(cwd, one.file) === file);
    if (edited === undefined) return settings;
    throw new Error(`${waitingSentence(edited)} What was trusted stays in force.`);
  }

  #refuse(problem: string): void {
    this.#options.log('warn', 'Settings not taken', { error: problem });
    this.#options.host.noteSettings(problem);
  }

  /** Not waited for: a call may hold a plugin up for minutes, and newer settings come first. */
  #apply(settings: Settings, generation: number): void {
    const { host, log, taken } = this.#options;
    if (generation === 1 && isDeepStrictEqual(settings, this.#options.seen)) return;
    this.#settings = settings;
    host.noteSettings(undefined);
    host.reload(settings).then(
      () => {
        if (generation === this.#generation) taken?.();
        log('info', 'Settings taken', { file: settings.file ?? null });
      },
      (error) => {
        if (generation === this.#generation) this.#refuse(reasonOf(error));
      },
    );
  }

  /** Every directory in which a change could mean other settings. */
  #arm(): void {
    const wanted = new Map<string, string>();
    for (const file of this.#files()) {
      for (const path of linkChain(file)) {
        const directory = dirname(path);
        const inode = stateOf(directory);
        if (inode !== 'none') wanted.set(directory, inode.split(' ').slice(0, 2).join(' '));
      }
    }
    for (const [directory, { watch: one, inode }] of this.#watches) {
      if (wanted.get(directory) === inode) continue;
      one.close();
      this.#watches.delete(directory);
    }
    for (const [directory, inode] of wanted) {
      if (this.#watches.has(directory)) continue;
      const made = tryWatch(directory, () => this.#look());
      if (made !== undefined) this.#watches.set(directory, { watch: made, inode });
    }
  }

  #files(): string[] {
    const { cwd, env, file } = this.#options;
    const named = file === undefined ? settingsCandidates(cwd, env).map(({ path }) => path) : [];
    const all = [file, this.#settings.file, ...named, trustListFile(env)];
    return [...new Set(all)].filter((one) => one !== undefined);
  }

  #fingerprint(): string {
    return this.#files()
      .map((file) => `${file} ${stateOf(file)}`)
      .join('\n');
  }
}

function reasonOf(error: unknown): string {
  return isAppError(error) ? error.message : strayMessage(error);
}

/** The file, and every link on the way from it to what is read. */
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

/** Another text for another content, as far as the file system can tell. */
function stateOf(path: string): string {
  try {
    const stat = statSync(path, { bigint: true });
    return `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
  } catch {
    return 'none'; // missing, or not to be read: loading will say which
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
