// Entries without a leaf: their writer died between the two, or could not write the ledger. Each
// gets a `late` leaf, with a run only where something vouches for it; see place.ts. A journal is
// compared with the leaves from where the last comparison ended, which `seen-J.json` says:
// {"leaves":BYTES,"sessions":{ID:[BYTES,LEAVES]}}: how far a session's file was compared, and from
// where on the leaves of the rest of it are. Sessions that a living process writes are left alone.
// Only leaves that were signed count as compared: those behind them may be lost with the power.

import * as fs from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { adoptedInto } from '../capture/entry-marks.ts';
import { openCapture, type Store } from '../capture/store.ts';
import { replaceFile } from '../directories.ts';
import { errnoOf } from '../errors.ts';
import { claimIn } from '../journal/claim.ts';
import { decodeEntry } from '../journal/entry.ts';
import { linesOf } from '../journal/entry-lines.ts';
import { entryParts, saltedLineOf } from '../journal/entry-parts.ts';
import { findSessionFiles, plainFile } from '../journal/files.ts';
import { lineState } from '../journal/packed/source.ts';
import { journalSessionIds, storedMetadata } from '../journal/reader.ts';
import { parseLeaf } from '../ledger/leaf.ts';
import { asCounts, asObject, parseObject } from '../text/json.ts';
import type { Entry, ProcessId, SessionMetadata } from '../types.ts';
import { entryCommitments } from './commit.ts';
import { leafLines } from './leaf-lines.ts';
import type { Ledger } from './ledger.ts';
import { openForReading, readSmall, sealDir, sealFile, VOUCHED_BY_SESSION } from './place.ts';
import { signedBytes } from './sealer.ts';

const TURN_MS = 10; // of work, before others have their turn

export type LateOptions = {
  readonly ledger: Ledger;
  /** Of the ledger and of the captures that vouch. */
  readonly store: Store;
  readonly directory: string;
  readonly owner: ProcessId;
  readonly signal?: AbortSignal | undefined;
};

type Compared = readonly [bytes: number, leaves: number];

type Seen = {
  readonly leaves: number;
  readonly sessions: ReadonlyMap<string, Compared>;
};

/** How many entries got a leaf. Rejects with the error of the system call. */
export async function sealLate(options: LateOptions): Promise<number> {
  const { ledger, store, directory, owner } = options;
  const journal = ledger.journal(directory);
  const leaves = sealFile(store.root, 'leaves');
  if (journal === undefined || ledger.origin === undefined || !fs.existsSync(leaves)) return 0;
  const claim = claimIn(sealDir(store.root), `late-${journal}`, owner, store.alive);
  if (claim === undefined) return 0; // another process does it
  await ledger.sign();
  const fd = openForReading(leaves);
  try {
    return await new Comparison(options, journal, fd).run();
  } finally {
    fs.closeSync(fd);
    claim.release();
  }
}

class Comparison {
  readonly #options: LateOptions;
  readonly #journal: string;
  readonly #fd: number;
  /** Sessions with leaves that are not signed yet. */
  readonly #unsigned = new Set<string>();
  /** Numbers that have a leaf, by session. */
  readonly #sealed = new Map<string, Set<number>>();
  #turn = performance.now();

  constructor(options: LateOptions, journal: string, fd: number) {
    this.#options = options;
    this.#journal = journal;
    this.#fd = fd;
  }

  async run(): Promise<number> {
    const { store, directory } = this.#options;
    const path = sealFile(store.root, `seen-${this.#journal}.json`);
    const { size } = fs.fstatSync(this.#fd);
    const to = Math.min(size, signedBytes(store.root));
    const stored = seenIn(path);
    // Leaves that were replaced by older ones are read again from the first.
    const seen = stored.leaves <= to ? stored : NOTHING_SEEN;
    const changed = this.#changed(seen);
    const from = changed.map(([, [, leaves]]) => leaves);
    await this.#readLeaves(Math.min(to, ...from), to, size);
    const sessions = new Map(seen.sessions);
    let late = 0;
    for (const [id, compared] of changed) {
      if (this.#options.signal?.aborted === true) return late;
      const found = await this.#compare(id, compared);
      late += found?.late ?? 0;
      const whole = found?.end !== undefined && found.late === 0 && !this.#unsigned.has(id);
      sessions.set(id, whole ? [found.end, to] : compared);
    }
    const there = new Set(journalSessionIds(directory));
    const kept = [...sessions].filter(([id]) => there.has(id));
    replaceFile(path, JSON.stringify({ leaves: to, sessions: Object.fromEntries(kept) }));
    return late;
  }

  /** Sessions whose file is not as long as when it was compared. */
  #changed(seen: Seen): (readonly [string, Compared])[] {
    const { directory } = this.#options;
    return journalSessionIds(directory).flatMap((id) => {
      const files = findSessionFiles(directory, id);
      const plain = files && plainFile(files.entries)?.size;
      const compared = seen.sessions.get(id) ?? [0, seen.leaves];
      if (plain === undefined || compared[0] === plain) return [];
      const size = lineState(files?.entries ?? '')?.size ?? plain; // with lines that are packed
      if (compared[0] === size) return [];
      return [[id, compared[0] < size ? compared : ([0, 0] as const)] as const];
    });
  }

  async #readLeaves(from: number, signed: number, to: number): Promise<void> {
    const start = Buffer.from(`cuff/1 entry ${this.#journal} `);
    for (const { bytes, end } of leafLines(this.#fd, from, to)) {
      await this.#others();
      if (!bytes.subarray(0, start.length).equals(start)) continue;
      const leaf = parseLeaf(bytes.toString());
      if (leaf?.kind !== 'entry') continue;
      const numbers = this.#sealed.get(leaf.session) ?? new Set();
      this.#sealed.set(leaf.session, numbers.add(leaf.sequence));
      if (end > signed) this.#unsigned.add(leaf.session);
    }
  }

  /** Undefined for a session that is not compared now; without `end` it is not compared to one. */
  async #compare(
    id: string,
    [from]: Compared,
  ): Promise<{ readonly end: number | undefined; readonly late: number } | undefined> {
    const { directory, ledger, store, owner } = this.#options;
    const metadata = storedMetadata(directory, id);
    const files = findSessionFiles(directory, id);
    if (metadata === undefined || files === undefined) return undefined;
    const writer = metadata.owner;
    const alive = writer !== null && store.alive({ pid: writer.pid, startTime: writer.start_time });
    const own = writer?.pid === owner.pid && writer.start_time === owner.startTime;
    if (alive && !own) return undefined;
    const ours = metadata.sealed_by === ledger.origin || metadata.unsealed !== undefined;
    // Of a session that this process goes on with, only what was there before can lack a leaf.
    const below = own ? (ledger.begunAt(this.#journal, id) ?? 0) : Number.POSITIVE_INFINITY;
    const cutOff = own || metadata.status === 'active' || metadata.unsealed !== undefined;
    let end = from;
    let late = 0;
    try {
      for (const line of linesOf(files.entries, from)) {
        if (!line.complete) break;
        await this.#others();
        end = line.end;
        if (ours && this.#late(metadata, line.bytes, { below, cutOff })) late += 1;
      }
    } catch (error) {
      if (errnoOf(error) !== 'decryption_failed') throw error;
      return { end: undefined, late }; // where there is an identity it is compared
    }
    return { end: own ? undefined : end, late };
  }

  #late(
    { session_id: session }: SessionMetadata,
    bytes: Buffer,
    { below, cutOff }: { readonly below: number; readonly cutOff: boolean },
  ): boolean {
    const line = saltedLineOf(bytes.toString());
    if (line?.salt === undefined || !line.exact) return false;
    const entry = decodeEntry(bytes.toString());
    if (entry?.session_id !== session || entry.sequence_number >= below) return false;
    const numbers = this.#sealed.get(session) ?? new Set();
    if (numbers.has(entry.sequence_number)) return false;
    this.#sealed.set(session, numbers.add(entry.sequence_number));
    const run = this.#vouched(entry) ? entry.run_id : null;
    this.#options.ledger.note({
      kind: 'entry',
      journal: this.#journal,
      session,
      sequence: entry.sequence_number,
      at: Date.parse(entry.timestamp),
      origin: 'late',
      ...entryCommitments(entryParts(line.json), line.salt),
      run: run ?? (cutOff && entry.run_id === null ? VOUCHED_BY_SESSION : null),
    });
    return true;
  }

  /** The capture of its run had the intent to enter it in this session. */
  #vouched({ run_id: run, session_id: session }: Entry): boolean {
    const { store, directory } = this.#options;
    if (run === null) return false;
    try {
      const { meta, dir } = openCapture(store, run);
      if (meta?.journal?.directory !== directory) return false;
      return meta.journal.sessionId === session || adoptedInto(dir) === session;
    } catch {
      return false; // swept away, or none that we can read
    }
  }

  async #others(): Promise<void> {
    if (performance.now() - this.#turn < TURN_MS) return;
    await setImmediate();
    this.#turn = performance.now();
  }
}

/** How far sessions of a journal are known to be sealed, in bytes of their files. */
export function sealedBytes(stateRoot: string, journal: string): ReadonlyMap<string, number> {
  const { sessions } = seenIn(sealFile(stateRoot, `seen-${journal}.json`));
  return new Map([...sessions].map(([id, [bytes]]) => [id, bytes]));
}

const NOTHING_SEEN: Seen = { leaves: 0, sessions: new Map() };

function seenIn(path: string): Seen {
  let text: string | undefined;
  try {
    text = readSmall(path);
  } catch {
    return NOTHING_SEEN; // it is derived
  }
  const json = parseObject(text ?? '');
  const [leaves] = asCounts([json?.leaves]) ?? [];
  const sessions = Object.entries(asObject(json?.sessions) ?? {}).flatMap(([id, value]) => {
    const [bytes, from] = asCounts(value) ?? [];
    return bytes === undefined || from === undefined ? [] : [[id, [bytes, from]] as const];
  });
  return leaves === undefined ? NOTHING_SEEN : { leaves, sessions: new Map(sessions) };
}
