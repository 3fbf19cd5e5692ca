// Packs and encrypts the sessions of one journal, a day after their last line, where there are
// recipients; of a session that goes on for ever, lines that are a day old, an hour at a time. A
// session that a living process may write is left alone, and one that the ledger lacks.
import { setImmediate } from 'node:timers/promises';
import type { Recipient } from '../age/recipients.ts';
import { errnoOf, isAppError, reasonOf } from '../errors.ts';
import { claimBeside } from '../journal/beside.ts';
import { discardCatalog } from '../journal/catalog-place.ts';
import { type Claim, claimSession } from '../journal/claim.ts';
import { linesIn } from '../journal/entry-lines.ts';
import { findSessionFiles, plainFile, type SessionFiles } from '../journal/files.ts';
import { openLines, segmentPaths } from '../journal/packed/source.ts';
import { journalSessionIds, readUnpacked, storedMetadata } from '../journal/reader.ts';
import { removeFiles } from '../journal/retention.ts';
import { endedWhole, type SessionWriter } from '../journal/writer.ts';
import { sealedBytes, sealLate } from '../sealing/late.ts';
import type { Ledger } from '../sealing/ledger.ts';
import type { Store } from '../shell/captures.ts';
import { defined } from '../text/json.ts';
import type { ProcessId } from '../types.ts';
import type { PackFiles } from './thread.ts';

const PLAIN_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const TURN_SESSIONS = 64; // looked at in one go; then others get their turn

export type SessionPackerOptions = {
  readonly store: Store;
  readonly owner: ProcessId;
  /** Undefined where nothing is sealed. */
  readonly ledger: Ledger | undefined;
  readonly packFiles: PackFiles;
  /** Asked once in a pass, and may throw. */
  readonly recipients: () => readonly Recipient[];
};

export type SessionPackResult = {
  readonly session: string;
  /** Undefined where it was packed. The plain lines are still there. */
  readonly error?: string;
};

export class SessionPacker {
  readonly #options: SessionPackerOptions;
  /** What the files were of sessions that have nothing to pack. */
  readonly #done = new Map<string, string>();

  constructor(options: SessionPackerOptions) {
    this.#options = options;
  }

  /** `goOn` is asked before each session. */
  async *pass(
    directory: string,
    goOn: () => boolean = () => true,
  ): AsyncGenerator<SessionPackResult, void, undefined> {
    const whom = this.#options.recipients();
    if (whom.length === 0) return;
    discardCatalog(directory); // it has their words; the next one lies on no disk
    let sealed: ReadonlyMap<string, number> | undefined;
    let looked = 0;
    for (const id of journalSessionIds(directory)) {
      looked += 1;
      if (looked % TURN_SESSIONS === 0) await setImmediate();
      if (!goOn()) return;
      if (!this.#isDue(directory, id)) continue;
      sealed ??= await this.#sealed(directory);
      const result = await this.#pack(directory, id, whom, sealed);
      if (result === undefined) continue;
      yield result;
      if (result.error !== undefined) return; // a full or failing disk fails for the others, too
    }
  }

  /** Of a session that this process writes: lines that are a day old, an hour at a time. */
  async packOpen(directory: string, writer: SessionWriter): Promise<SessionPackResult | undefined> {
    const { store, packFiles, recipients } = this.#options;
    const whom = recipients();
    const files = findSessionFiles(directory, writer.id);
    if (whom.length === 0 || files === undefined) return undefined;
    const upTo = dayOldBytes(directory, writer.id, store.now());
    if (upTo === 0) return undefined;
    let error: string | undefined;
    await writer.packed(async () => {
      const done = await packFiles([files.entries], whom, upTo);
      if (!done.packed) error = done.reason;
    });
    return { session: writer.id, ...defined({ error }) };
  }

  /** Old enough, and not looked at before as it is now. Never throws. */
  #isDue(directory: string, id: string): boolean {
    const files = findSessionFiles(directory, id);
    if (files === undefined) return false;
    const stats = withLines(files).map((path) => plainFile(path));
    const newest = Math.max(...stats.map((stat) => stat?.mtimeMs ?? 0));
    if (newest + PLAIN_MS > this.#options.store.now()) return false;
    const state = stats.map((stat) => `${stat?.ino} ${stat?.size} ${stat?.ctimeMs}`).join(' ');
    if (this.#done.get(id) === state) return false;
    if (withLines(files).some(hasPlainLines)) return true;
    this.#done.set(id, state);
    return false;
  }

  async #sealed(directory: string): Promise<ReadonlyMap<string, number> | undefined> {
    const { ledger, store, owner } = this.#options;
    const journal = ledger?.journal(directory);
    if (ledger === undefined || journal === undefined) return undefined;
    await sealLate({ ledger, store, directory, owner });
    return sealedBytes(store.root, journal);
  }

  /** Undefined where it has to wait. */
  async #pack(
    directory: string,
    id: string,
    whom: readonly Recipient[],
    sealed: ReadonlyMap<string, number> | undefined,
  ): Promise<SessionPackResult | undefined> {
    const { store, owner, packFiles } = this.#options;
    if (!this.#isOver(directory, id, sealed)) return undefined;
    const claim = claimSession(directory, id, owner, store.alive);
    if (claim === undefined) return undefined;
    let beside: Claim | undefined;
    try {
      beside = await claimBeside(directory, id, { owner, alive: store.alive });
      const files = findSessionFiles(directory, id);
      if (files === undefined || !this.#isDue(directory, id)) return undefined;
      if (!this.#isOver(directory, id, sealed)) return undefined;
      const done = await packFiles(withLines(files), whom);
      if (plainFile(files.metadata) === undefined) removeAll(files); // the session was removed
      return done.packed ? { session: id } : { session: id, error: done.reason };
    } catch (error) {
      if (!isAppError(error) && errnoOf(error) === undefined) throw error;
      return { session: id, error: reasonOf(error) };
    } finally {
      beside?.release();
      claim.release();
    }
  }

  /** No process writes it any more, and all of it is sealed, if anything is. */
  #isOver(directory: string, id: string, sealed: ReadonlyMap<string, number> | undefined): boolean {
    const { store, owner: self } = this.#options;
    const metadata = storedMetadata(directory, id);
    if (metadata === undefined || metadata.status === 'active') return false;
    const { owner } = metadata;
    const own = owner?.pid === self.pid && owner.start_time === self.startTime;
    if (own && !endedWhole(metadata)) return false; // its writer waits for a command
    if (owner !== null && !own) {
      if (store.alive({ pid: owner.pid, startTime: owner.start_time })) return false;
    }
    if (this.#options.ledger === undefined) return true;
    if (own && metadata.unsealed === undefined) return true;
    const path = findSessionFiles(directory, id)?.entries ?? '';
    return (sealed?.get(id) ?? 0) >= wholeBytes(path);
  }
}

/** Up to the end of its last line that has one. */
function wholeBytes(path: string): number {
  const source = openLines(path);
  let end = source?.packedBytes ?? 0;
  for (const line of source ? linesIn(source, end) : []) if (line.complete) ({ end } = line);
  return end;
}

/** Where the lines end that are a day old, of hours that are over. 0: there are none. */
function dayOldBytes(directory: string, id: string, now: number): number {
  const before = Math.floor((now - PLAIN_MS) / HOUR_MS) * HOUR_MS;
  const end = readUnpacked(directory, id, (_, entries) => {
    let end = 0;
    for (const one of entries) {
      if (Date.parse(one.entry.timestamp) >= before) break;
      ({ end } = one);
    }
    return end;
  });
  return end ?? 0;
}

function withLines({ entries, later, edits }: SessionFiles): string[] {
  return [entries, later, edits];
}

function hasPlainLines(path: string): boolean {
  const source = openLines(path);
  source?.close();
  return source !== undefined && source.size > source.packedBytes;
}

function removeAll(files: SessionFiles): void {
  removeFiles(withLines(files).flatMap((path) => [...segmentPaths(path), path]));
}
