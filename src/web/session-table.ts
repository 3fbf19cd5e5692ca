// All sessions of all journals, kept in memory as their metadata is: reading ten thousand files for
// every page of a list would take a second. A watch on each folder says which sessions are to be
// read again; from time to time all of them are looked at, for what no watch tells.

import { type FSWatcher, statSync, watch } from 'node:fs';
import { findSessionFiles, sessionsDir } from '../journal/files.ts';
import { dateAndTime, EDITS, hasForm, LATER } from '../journal/ids.ts';
import { type JoinedSession, joined } from '../journal/join.ts';
import { journalSessionIds, readMetadata } from '../journal/reader.ts';
import { metadataSince } from '../journal/since.ts';
import { type SealedRow, sealedRows } from '../recordings/sealed-rows.ts';
import { sealFile } from '../sealing/place.ts';
import type { Env, SessionMetadata } from '../types.ts';
import type { Journal } from './journals.ts';

const LOOK_MS = 30_000; // between two looks at everything
const JOURNALS_MS = 2_000; // between two looks for journals
const TURN = 50; // sessions that are read in one go while others wait
const CLOCK_MS = 1_000; // two writes within it may leave the same time

export type TableRow = {
  readonly journal: Journal;
  readonly session: SealedRow;
  /** What it is sorted by: as `record list` does. */
  readonly key: string;
};

type Known = { readonly print: string; readonly metadata: SessionMetadata };

export type TableOptions = {
  readonly journals: () => readonly Journal[];
  readonly stateRoot: string;
  readonly env: Env;
  readonly now: () => number;
};

export class SessionTable {
  readonly #options: TableOptions;
  readonly #folders = new Map<string, Folder>();
  #journals: readonly Journal[] = [];
  #journalsAt = Number.NEGATIVE_INFINITY;
  #rows: readonly TableRow[] | undefined;
  #seals = '';
  #listeners = new Set<() => void>();

  constructor(options: TableOptions) {
    this.#options = options;
  }

  journals(): readonly Journal[] {
    const now = this.#options.now();
    if (Math.abs(now - this.#journalsAt) < JOURNALS_MS) return this.#journals;
    this.#journalsAt = now;
    this.#journals = this.#options.journals();
    const there = new Set(this.#journals.map(({ directory }) => directory));
    for (const [directory, folder] of this.#folders) {
      if (there.has(directory)) continue;
      folder.close();
      this.#folders.delete(directory);
    }
    for (const { directory } of this.#journals) {
      if (this.#folders.has(directory)) continue;
      this.#folders.set(directory, new Folder(directory, () => this.#touched()));
      this.#rows = undefined;
    }
    return this.#journals;
  }

  /** Newest first. The same rows, and the same array, as long as nothing is different. */
  rows(): readonly TableRow[] {
    const journals = this.journals();
    const now = this.#options.now();
    const seals = this.#sealPrint();
    const changed = journals.filter(({ directory }) => this.#folders.get(directory)?.refresh(now));
    if (this.#rows !== undefined && changed.length === 0 && seals === this.#seals)
      return this.#rows;
    this.#seals = seals;
    const rows = journals.flatMap((journal) => this.#rowsOf(journal));
    rows.sort((a, b) => (a.key < b.key ? 1 : a.key > b.key ? -1 : 0));
    this.#rows = rows;
    return rows;
  }

  /** Reads what there is, a little at a time: the first page then need not wait for all of it. */
  async warm(): Promise<void> {
    for (const { directory } of this.journals()) {
      await this.#folders.get(directory)?.warm(this.#options.now());
    }
  }

  /** Called when a row may be another; returns what ends it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    for (const folder of this.#folders.values()) folder.close();
    this.#listeners = new Set();
  }

  #touched(): void {
    for (const listener of this.#listeners) listener();
  }

  #rowsOf(journal: Journal): TableRow[] {
    const { directory } = journal;
    const folder = this.#folders.get(directory);
    const sessions: readonly JoinedSession[] = joined(
      folder?.sessions ?? [],
      (id) => folder?.get(id) ?? readMetadata(directory, id),
    );
    return sealedRows(directory, sessions, this.#options.env).map((session) => ({
      journal,
      session,
      key: keyOf(session),
    }));
  }

  /** Badges are other ones when the ledger is. */
  #sealPrint(): string {
    const { stateRoot } = this.#options;
    return (['leaves', 'position', 'anchors.jsonl'] as const)
      .map((name) => {
        const stat = statSync(sealFile(stateRoot, name), { throwIfNoEntry: false });
        return `${stat?.size ?? 0} ${stat?.mtimeMs ?? 0}`;
      })
      .join();
  }
}

function keyOf({ session_id, created_at }: SessionMetadata): string {
  return hasForm(session_id)
    ? session_id
    : `${dateAndTime(Date.parse(created_at) || 0)} ${session_id}`;
}

/** The sessions of one journal. */
class Folder {
  readonly #directory: string;
  readonly #known = new Map<string, Known>();
  readonly #dirty = new Set<string>();
  readonly #touched: () => void;
  #watcher: FSWatcher | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(directory: string, touched: () => void) {
    this.#directory = directory;
    this.#touched = touched;
  }

  get sessions(): SessionMetadata[] {
    const ids = [...this.#known.keys()].sort().reverse();
    return ids.flatMap((id) => this.#known.get(id)?.metadata ?? []);
  }

  get(id: string): SessionMetadata | undefined {
    return this.#known.get(id)?.metadata;
  }

  /** True if a session is another, came or went. */
  refresh(now: number): boolean {
    this.#watch();
    const all = this.#watcher === undefined || Math.abs(now - this.#lookedAt) >= LOOK_MS;
    const there = all ? journalSessionIds(this.#directory) : [...this.#dirty];
    if (all) this.#lookedAt = now;
    this.#dirty.clear();
    let changed = false;
    for (const id of there) if (this.#read(id, now)) changed = true;
    if (!all) return changed;
    const names = new Set(there);
    for (const id of this.#known.keys()) {
      if (!names.has(id) && this.#known.delete(id)) changed = true;
    }
    return changed;
  }

  async warm(now: number): Promise<void> {
    for (const [at, id] of journalSessionIds(this.#directory).entries()) {
      if (at % TURN === 0) await new Promise((resolve) => setImmediate(resolve));
      this.#read(id, now);
    }
  }

  close(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  #read(id: string, now: number): boolean {
    const { print, at } = printOf(this.#directory, id);
    // It may be written again without a trace of it in its times.
    if (Math.abs(now - at) < CLOCK_MS) this.#dirty.add(id);
    if (print === '') return this.#known.delete(id);
    if (this.#known.get(id)?.print === print) return false;
    const metadata = metadataSince(this.#directory, id, undefined);
    if (metadata === undefined) return this.#known.delete(id);
    this.#known.set(id, { print, metadata });
    return true;
  }

  #watch(): void {
    if (this.#watcher !== undefined) return;
    try {
      const watcher = watch(sessionsDir(this.#directory), { persistent: false });
      watcher.on('change', (_, name) => this.#heard(String(name ?? '')));
      watcher.on('error', () => this.#lost(watcher));
      this.#watcher = watcher;
      this.#lookedAt = Number.NEGATIVE_INFINITY; // what came before the watch
    } catch {
      // No such folder yet, or no watches left: then every question looks at everything.
    }
  }

  #heard(name: string): void {
    const [, id] = /^(.+?)(?:\.meta\.json|\.jsonl)(?:\..*)?$/.exec(name) ?? [];
    // Its folder was removed or moved: what comes in its place needs a watch of its own.
    if (id === undefined && name === 'sessions') this.#lost(this.#watcher);
    if (id === undefined) return;
    this.#dirty.add(ownerOf(id));
    this.#touched();
  }

  #lost(watcher: FSWatcher | undefined): void {
    watcher?.close();
    if (this.#watcher === watcher) this.#watcher = undefined;
    this.#touched();
  }
}

/** `<id>.later` and `<id>.edits` belong to the session. */
function ownerOf(name: string): string {
  const ending = [LATER, EDITS].find((one) => name.endsWith(one));
  return ending === undefined ? name : name.slice(0, -ending.length);
}

function printOf(directory: string, id: string): { readonly print: string; readonly at: number } {
  const files = findSessionFiles(directory, id);
  if (files === undefined) return { print: '', at: 0 };
  const stats = [files.entries, files.metadata].map((path) =>
    statSync(path, { throwIfNoEntry: false }),
  );
  const print = stats.map((stat) => `${stat?.size ?? 0} ${stat?.mtimeMs ?? 0}`).join();
  return { print, at: Math.max(...stats.map((stat) => stat?.mtimeMs ?? 0)) };
}
