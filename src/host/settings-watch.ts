// Follows the settings file while a server runs. A change is checked as a whole and only then
// handed to the host; a file that is wrong, or gone, leaves the settings as they are and shows in
// the host's health.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isAppError } from '../errors.ts';
import { FileWatch } from '../file-watch.ts';
import { settingsCandidates, trustListFile } from '../places.ts';
import { waitingSentence } from '../trust/settings.ts';
import type { Log } from '../types.ts';
import { strayMessage } from './containment.ts';
import type { Host } from './host.ts';
import { findSettings, type LoadOptions, loadSettings, type Settings } from './settings.ts';

export type WatchOptions = LoadOptions & {
  readonly host: Host;
  /** The settings that the host was made with. */
  readonly settings: Settings;
  /** The settings of the file at the start, even if the host refused them. Undefined: invalid. */
  readonly seen: Settings | undefined;
  /** Told when the host follows the settings of the file. */
  readonly taken?: () => void;
  readonly log: Log;
  readonly settleMs?: number;
  readonly pollMs?: number;
};

export class SettingsWatch {
  readonly #options: WatchOptions;
  readonly #watch: FileWatch;
  #settings: Settings;
  /** Why the file, as it is now, cannot be loaded. */
  #unloaded: string | undefined;
  #generation = 0;
  #closed = false;

  constructor(options: WatchOptions) {
    const { cwd, file, settleMs, pollMs } = options;
    this.#options = file === undefined ? options : { ...options, file: resolve(cwd, file) };
    this.#settings = options.settings;
    this.#watch = new FileWatch({
      files: () => this.#files(),
      changed: (unchanged) => this.#read(unchanged),
      // A directory, for one, that refused settings name may be there by now.
      retry: () => this.#unloaded !== undefined,
      settleMs,
      pollMs,
    });
    // The file may have changed after it was read for the host.
    this.#watch.forget();
  }

  close(): void {
    this.#closed = true;
    this.#watch.close();
  }

  async #read(unchanged: () => boolean): Promise<void> {
    const generation = ++this.#generation;
    const result = await this.#load().catch(reasonOf);
    if (this.#closed || !unchanged()) return;
    const again = result === this.#unloaded;
    this.#unloaded = typeof result === 'string' ? result : undefined;
    if (typeof result !== 'string') this.#apply(result, generation);
    else if (!again) this.#refuse(result);
  }

  async #load(): Promise<Settings> {
    const { cwd, env, file: named } = this.#options;
    const { file } = this.#settings;
    const found = named ?? findSettings(cwd, env);
    const gone = file !== undefined && !existsSync(file);
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

  /** Every file whose change could mean other settings. The one in force may be another soon. */
  #files(): string[] {
    const { cwd, env, file } = this.#options;
    const named = file === undefined ? settingsCandidates(cwd, env).map(({ path }) => path) : [];
    const all = [file, ...named, trustListFile(env), this.#settings.file];
    return [...new Set(all)].filter((one) => one !== undefined);
  }
}

function reasonOf(error: unknown): string {
  return isAppError(error) ? error.message : strayMessage(error);
}
