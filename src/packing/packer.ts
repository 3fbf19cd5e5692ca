// Keeps the captures of agents' commands as long as their entries: packs them when they are a day
// old, and removes the oldest while all of them take more room than they may, and those whose
// session was removed. What is removed before its time gets its leaf once more, with that time as
// its end, so that no verification takes it for tampering. One process at a time does it.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Recipient } from '../age/recipients.ts';
import { adoptedInto } from '../capture/entry-marks.ts';
import { isInMemory } from '../capture/in-memory.ts';
import { captureDir, hasIn } from '../capture/paths.ts';
import { roomOf } from '../capture/room.ts';
import { captureIds, type Store } from '../capture/store.ts';
import { removeCapture } from '../capture/sweep.ts';
import { errnoOf, isAppError, reasonOf } from '../errors.ts';
import { type Claim, claimIn } from '../journal/claim.ts';
import { releaseCapture } from '../sealing/captures.ts';
import type { Ledger } from '../sealing/ledger.ts';
import type { ProcessId } from '../types.ts';
import { claimToEncrypt } from './claim.ts';
import { type AgentCapture, dueOf, mayBeEncrypted } from './due.ts';
import type { Pack } from './thread.ts';

const TURN_CAPTURES = 16; // looked at in one go; then others get their turn

export type PackerOptions = {
  readonly store: Store;
  readonly owner: ProcessId;
  /** Undefined where nothing is sealed. */
  readonly ledger: Ledger | undefined;
  readonly pack: Pack;
  readonly budgetBytes: () => number;
  /** Asked once in a pass, and may throw. Without any nothing is encrypted. */
  readonly recipients?: () => readonly Recipient[];
};

export type PackResult = {
  readonly id: string;
} & (
  | {
      readonly result: 'pack';
      readonly reason: 'packed' | 'encrypted';
      readonly savedBytes: number;
    }
  | { readonly result: 'remove'; readonly reason: 'over_budget' | 'entry_removed' }
  | {
      readonly result: 'error';
      readonly reason: 'pack_error' | 'remove_error';
      readonly error: string;
    }
);

type Kept = AgentCapture & { readonly bytes: number };

export class Packer {
  readonly #options: PackerOptions;
  /** Captures that need not be looked at again. */
  readonly #never = new Set<string>();
  readonly #hidden = new Set<string>();
  readonly #kept = new Map<string, Kept>();

  constructor(options: PackerOptions) {
    this.#options = options;
  }

  /** `goOn` is asked before each capture. Nothing where another process is at it. */
  async *pass(goOn: () => boolean = () => true): AsyncGenerator<PackResult, void, undefined> {
    const { store, owner } = this.#options;
    if (!fs.existsSync(store.root)) return;
    const claim = claimIn(store.root, 'packer', owner, store.alive);
    if (claim === undefined) return;
    try {
      const ids = captureIds(store);
      yield* this.#encrypted(ids, goOn);
      yield* this.#packed(ids, goOn);
      const there = new Set(ids);
      for (const id of this.#kept.keys()) if (!there.has(id)) this.#kept.delete(id);
      for (const [capture, reason] of this.#surplus()) {
        if (!goOn()) return;
        const result = await this.#removed(capture, reason, goOn);
        if (result !== undefined) yield result;
      }
    } finally {
      claim.release();
    }
  }

  /** As soon as they are over, whether they are kept for an entry or not. */
  async *#encrypted(ids: readonly string[], goOn: () => boolean): AsyncGenerator<PackResult> {
    const { recipients } = this.#options;
    const whom = recipients?.() ?? [];
    // What is in memory must not stay there, even if there are no recipients any more.
    const due = whom.length > 0 ? ids : ids.filter((id) => isInMemory(this.#dirOf(id)));
    let looked = 0;
    for (const id of due) {
      looked += 1;
      if (looked % TURN_CAPTURES === 0) await setImmediate();
      if (!goOn()) return;
      const result = await this.#encrypt(id, whom);
      if (result !== undefined) yield result;
    }
  }

  #dirOf(id: string): string {
    return captureDir(this.#options.store.root, id);
  }

  /** Undefined where there is nothing to encrypt, or where `cuff run` does it at this moment. */
  async #encrypt(id: string, whom: readonly Recipient[]): Promise<PackResult | undefined> {
    const { store, owner, ledger, pack } = this.#options;
    const due = (): boolean => mayBeEncrypted(store, id, { sealed: ledger !== undefined });
    if (this.#hidden.has(id)) return undefined;
    const dir = this.#dirOf(id);
    let claim: Claim | undefined;
    try {
      claim = await claimToEncrypt(dir, owner, store.alive, due);
      if (claim === undefined) return undefined;
      const before = roomIn(dir);
      const done = await pack(dir, whom); // and moved, if it was in memory
      if (!done.packed) return { id, result: 'error', reason: 'pack_error', error: done.reason };
      this.#hidden.add(id);
      const savedBytes = Math.max(0, before - roomIn(this.#dirOf(id)));
      const reason = whom.length > 0 ? 'encrypted' : 'packed';
      return { id, result: 'pack', reason, savedBytes };
    } catch (error) {
      if (!isAppError(error)) throw error;
      return { id, result: 'error', reason: 'pack_error', error: reasonOf(error) };
    } finally {
      claim?.release();
    }
  }

  async *#packed(ids: readonly string[], goOn: () => boolean): AsyncGenerator<PackResult> {
    const { store, ledger } = this.#options;
    let looked = 0;
    for (const id of ids) {
      if (this.#never.has(id) || this.#kept.has(id)) continue;
      looked += 1;
      if (looked % TURN_CAPTURES === 0) await setImmediate();
      if (!goOn()) return;
      const due = dueOf(store, id, ledger !== undefined);
      if (due.kind === 'never') this.#never.add(id);
      else if (due.kind === 'kept') this.#keep(due.capture);
      else if (due.kind === 'pack') {
        const result = await this.#pack(due.capture);
        yield result;
        // A full or failing disk fails for the others, too.
        if (result.result === 'error') return;
      }
    }
  }

  async #pack(capture: AgentCapture): Promise<PackResult> {
    const { id, dir } = capture;
    const before = roomIn(dir);
    const done = await this.#options.pack(dir);
    if (!done.packed) return { id, result: 'error', reason: 'pack_error', error: done.reason };
    this.#keep(capture);
    const savedBytes = Math.max(0, before - roomIn(dir));
    return { id, result: 'pack', reason: 'packed', savedBytes };
  }

  #keep(capture: AgentCapture): void {
    this.#kept.set(capture.id, { ...capture, bytes: roomIn(capture.dir) });
  }

  /** Oldest first. */
  #surplus(): (readonly [Kept, 'over_budget' | 'entry_removed'])[] {
    const pinned = (one: Kept): boolean => hasIn(one.dir, 'pinned');
    const all = [...this.#kept.values()].filter((one) => !pinned(one));
    all.sort((a, b) => a.endedAt - b.endedAt);
    const journals = new Map<string, boolean>();
    let over = all.reduce((sum, { bytes }) => sum + bytes, 0) - this.#options.budgetBytes();
    return all.flatMap((one) => {
      const gone = entryGone(one, journals);
      if (!gone && over <= 0) return [];
      over -= one.bytes;
      return [[one, gone ? 'entry_removed' : 'over_budget'] as const];
    });
  }

  async #removed(
    capture: Kept,
    reason: 'over_budget' | 'entry_removed',
    goOn: () => boolean,
  ): Promise<PackResult | undefined> {
    const { store, ledger } = this.#options;
    const { id, dir } = capture;
    try {
      if (ledger !== undefined && !(await releaseCapture(ledger, store, id, goOn)))
        return undefined;
      await removeCapture(dir);
      this.#kept.delete(id);
      return { id, result: 'remove', reason };
    } catch (error) {
      return { id, result: 'error', reason: 'remove_error', error: errnoOf(error) ?? 'EIO' };
    }
  }
}

/** 0 for a capture that was swept away meanwhile. */
function roomIn(dir: string): number {
  try {
    return roomOf(dir).diskBytes;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return 0;
  }
}

/** Its session was removed. Of a journal that is not there nothing is known. */
function entryGone({ dir, journal }: Kept, known: Map<string, boolean>): boolean {
  const sessionId = adoptedInto(dir) ?? journal.sessionId;
  if (sessionId === null) return false;
  const sessions = join(journal.directory, 'sessions');
  const path = join(sessions, `${sessionId}.meta.json`);
  const gone = known.get(path) ?? (fs.existsSync(sessions) && !fs.existsSync(path));
  known.set(path, gone);
  return gone;
}
