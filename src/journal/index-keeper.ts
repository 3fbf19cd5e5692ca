// Keeps index.json up to date with the sessions of this process: at most once a second, and in a
// journal so large that this takes long, less often. Several processes may do so: each looks at
// the directory before it writes, so that they write the same.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SessionMetadata } from '../types.ts';
import { indexPath, type JournalEnv, later, replaceFileLater } from './files.ts';
import { encodeIndex, filesState, indexRow, type Rows, rowOf, rowReader } from './index-file.ts';
import { journalSessionIds } from './reader.ts';

const INTERVAL_MS = 1000;
const SHARE = 50; // one part of so many of the time may go into it
const TURN_SESSIONS = 100; // read in one go; then others get their turn

export class IndexKeeper {
  readonly #directory: string;
  readonly #env: JournalEnv;
  readonly #own: Rows = new Map();
  #known: Rows | undefined;
  /** What the files of known rows looked like when they were read. */
  readonly #states = new Map<string, string>();
  #tookMs = 0;
  #cancelTimer: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(directory: string, env: JournalEnv) {
    this.#directory = directory;
    this.#env = env;
  }

  note(metadata: SessionMetadata, sizeBytes: number): void {
    this.#own.set(metadata.session_id, indexRow(metadata, sizeBytes));
    const wait = Math.max(INTERVAL_MS, this.#tookMs * SHARE);
    this.#cancelTimer ??= (this.#env.later ?? later)(wait, () => {
      this.#cancelTimer = undefined;
      void this.#write();
    });
  }

  /** Writes what was noted. Never throws: the index comes back when it is next read. */
  async close(): Promise<void> {
    const due = this.#cancelTimer !== undefined;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    await (due ? this.#write() : this.#writing);
  }

  #write(): Promise<void> {
    this.#writing = this.#writing.then(async () => {
      const startedAt = this.#env.now();
      try {
        const rows = await this.#currentRows();
        this.#known = rows;
        const text = encodeIndex(rows, this.#env.now());
        await replaceFileLater(indexPath(this.#directory), text, { sync: false }, this.#env.fs);
      } catch {
        // Derived: a disk that takes no index has worse troubles, which `append` reports.
      }
      this.#tookMs = Math.max(0, this.#env.now() - startedAt);
    });
    return this.#writing;
  }

  /** Ours as noted; others as known while their files are the same; else as the disk has them. */
  async #currentRows(): Promise<Rows> {
    const directory = this.#directory;
    const known = this.#known;
    const read = known === undefined ? rowReader(directory) : (id: string) => rowOf(directory, id);
    const rows: Rows = new Map();
    let reads = 0;
    for (const id of journalSessionIds(directory)) {
      const before = known?.get(id);
      const state = filesState(directory, id);
      const same = before?.status !== 'active' && this.#states.get(id) === state;
      let row = this.#own.get(id) ?? (same ? before : undefined);
      if (row === undefined) {
        row = read(id);
        this.#states.set(id, state);
        reads += 1;
        if (reads % TURN_SESSIONS === 0) await nextTurn();
      }
      if (row !== undefined) rows.set(id, row);
    }
    // They may have gone on while the others were read.
    for (const [id, row] of this.#own) if (rows.has(id)) rows.set(id, row);
    return rows;
  }
}
