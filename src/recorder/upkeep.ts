// What a journal needs besides the commands of its own server: entries for runs that lack theirs,
// sessions removed when their time is over, and a catalog that follows. All of it happens beside
// the commands; none of them waits for it.

import { messageOf } from '../errors.ts';
import type { Guard } from '../guard/guard.ts';
import type { Catalog } from '../journal/catalog.ts';
import type { JournalEnv } from '../journal/files.ts';
import { removeSession, sessionsOlderThan } from '../journal/retention.ts';
import { ownRecipients } from '../packing/recipients.ts';
import { thisProcess } from '../run/processes.ts';
import { buryBefore } from '../sealing/erase.ts';
import type { Store } from '../shell/captures.ts';
import { bringHome } from '../shell/spool.ts';
import { commandRedactor, redactor } from '../text/redact.ts';
import type { Env, Log } from '../types.ts';
import { type EntryReceipt, NO_ENTRIES, type RecorderJournal } from './journal.ts';
import { type EarlierRun, Recovery } from './recovery.ts';
import { SealedUpkeep } from './sealed.ts';
import type { RunSettings } from './settings.ts';

const RETENTION_EVERY_MS = 600_000;
const DAY_MS = 86_400_000;

export type UpkeepOptions = {
  readonly store: Store;
  readonly journal: RecorderJournal;
  readonly journalEnv: JournalEnv;
  readonly log: Log;
  readonly env: Env;
  /** The project. */
  readonly workingDirectory: string;
  readonly guard?: Pick<Guard, 'judge'> | undefined;
  readonly now: () => number;
  /** Runs of which the journal lacks something, because it could not be written. */
  readonly owed: Set<string>;
  /** While it says so no session is removed: those settings may keep sessions longer. */
  readonly settingsWait?: (() => boolean) | undefined;
};

export class Upkeep {
  readonly #options: UpkeepOptions;
  #settings: RunSettings;
  #recovery: Recovery | undefined;
  readonly #sealed: SealedUpkeep;
  #catalog: CatalogFeeder;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: UpkeepOptions, settings: RunSettings) {
    this.#options = options;
    this.#settings = settings;
    this.#catalog = this.#feeder();
    this.#sealed = new SealedUpkeep({
      ...options,
      ledger: options.journal.ledger,
      journal: () => {
        const { enabled, directory } = this.#settings.recording;
        return enabled ? directory : undefined;
      },
      endOver: () => options.journal.endOver(),
    });
  }

  open(): void {
    this.#recover();
    this.#sealed.open();
    this.#timer = setInterval(() => {
      void this.#retain();
      this.writable();
    }, RETENTION_EVERY_MS).unref();
  }

  /** This session has something new. */
  changed(sessionId: string): void {
    this.#catalog.touch(sessionId);
    this.#sealed.used();
  }

  /** The journal can be written: what is owed is tried again. */
  writable(): void {
    void this.#recovery?.retry();
  }

  /** Resolves when a run of an earlier server has its entry. */
  async entered(runId: string): Promise<EntryReceipt> {
    if (this.#recovery === undefined) return NO_ENTRIES;
    await this.#recovery.entered(runId);
    return { recorded: 'recovered' };
  }

  earlierRuns(): readonly EarlierRun[] {
    return this.#recovery?.earlierRuns() ?? [];
  }

  reload(settings: RunSettings): void {
    const { directory, enabled } = this.#settings.recording;
    const moved = settings.recording.directory !== directory;
    this.#settings = settings;
    if (moved) {
      this.#catalog.close();
      this.#catalog = this.#feeder();
    }
    if (moved || !enabled) this.#recover();
  }

  /** To be called before the journal is closed: the last entries may be written here. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.#recovery?.close();
    await this.#sealed.close();
  }

  /** To be called when the journal is closed. */
  async closeLast(): Promise<void> {
    this.#catalog.close();
    await this.#sealed.anchorLast();
  }

  #feeder(): CatalogFeeder {
    const { workingDirectory, env } = this.#options;
    const hidden = (): boolean => ownRecipients(workingDirectory, env).length > 0;
    return new CatalogFeeder(this.#settings.recording.directory, hidden);
  }

  #recover(): void {
    const { envOverrides, recording } = this.#settings;
    if (!recording.enabled) return;
    void this.#recovery?.close();
    const { store, log, env, owed, journal, journalEnv, guard, workingDirectory } = this.#options;
    const secrets = redactor({ ...env, ...envOverrides });
    this.#recovery = new Recovery({
      store,
      directory: recording.directory,
      owner: thisProcess(),
      env: journalEnv,
      log,
      redact: recording.redact ? secrets : undefined,
      secrets: commandRedactor(secrets),
      owed,
      journal,
      judge: async ({ command, working_directory: cwd }) =>
        (await guard?.judge({ command, cwd })) ?? null,
      // Before recovery adds its own entries, and gives cut-off sessions their ends.
      arrivals: async () => {
        await this.#sealed.settle(recording.directory);
        await bringHome(store, { cwd: workingDirectory, env });
      },
    });
    const recovery = this.#recovery;
    void recovery.first.then(() => {
      if (recovery.complete && recovery === this.#recovery) journal.lookedFor = true;
      return this.#retain();
    });
  }

  /** Removes sessions whose time is over. One that cannot be removed stays until next time. */
  async #retain(): Promise<void> {
    const { retentionDays, directory, enabled } = this.#settings.recording;
    if (!enabled || retentionDays === 0 || this.#closed) return;
    const { log, now, store, settingsWait, journal } = this.#options;
    const cutoff = now() - retentionDays * DAY_MS;
    const old = sessionsOlderThan(directory, cutoff, store.alive, { arrived: true });
    if (old.length > 0 && settingsWait?.() === true) {
      const fields = { sessions: old.length, retention_days: retentionDays };
      log('info', 'Old sessions kept while settings wait', fields);
      return;
    }
    const erasure = { by: 'retention', why: `${retentionDays} days` } as const;
    try {
      await buryBefore(journal.ledger, directory, old, erasure);
    } catch (error) {
      log('warn', 'Old sessions kept', { sessions: old.length, error: messageOf(error) });
      return;
    }
    for (const session_id of old) {
      try {
        removeSession(directory, session_id);
        log('info', 'Session removed', { session_id, retention_days: retentionDays });
      } catch (error) {
        log('warn', 'Session could not be removed', { session_id, error: messageOf(error) });
      }
    }
  }
}

const FEED_EVERY_MS = 1_000;
const FEED_BUDGET_MS = 10; // the event loop does nothing else meanwhile

/**
 * Keeps the catalog of a journal up to date: a little while after a session has changed, at most
 * once a second, for a few milliseconds. If it fails, the next search takes longer; no call does.
 */
class CatalogFeeder {
  readonly #directory: string;
  /** The journal is encrypted. May throw. */
  readonly #hidden: () => boolean;
  readonly #changed = new Set<string>();
  #catalog: Promise<Catalog> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(directory: string, hidden: () => boolean) {
    this.#directory = directory;
    this.#hidden = hidden;
  }

  /** This session has something new. */
  touch(sessionId: string): void {
    this.#changed.add(sessionId);
    if (!this.#closed) this.#timer ??= setTimeout(() => this.#feed(), FEED_EVERY_MS).unref();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    void this.#catalog?.then((catalog) => catalog.close()).catch(() => undefined);
  }

  async #feed(): Promise<void> {
    this.#timer = undefined;
    const first = [...this.#changed];
    this.#changed.clear();
    try {
      this.#catalog ??= this.#open();
      const catalog = await this.#catalog;
      if (this.#closed) return;
      const { done } = catalog.refresh({ budgetMs: FEED_BUDGET_MS, first });
      if (!done) for (const id of first) this.touch(id);
    } catch {
      // Searches read the sessions instead; the next change tries again.
      this.#catalog = undefined;
    }
  }

  /** Loaded when the first entry is there: it brings a database with it. */
  async #open(): Promise<Catalog> {
    const { openCatalog } = await import('../journal/catalog.ts');
    return openCatalog(this.#directory, { now: Date.now, hidden: this.#hidden });
  }
}
