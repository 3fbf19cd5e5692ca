// Removes captures whose time is over, oldest ids first, and says about each what it did and why.
// An active or pinned capture is never removed. The age of an unreadable one is that of its last
// change. Removing never follows a symlink: the link goes, its target stays.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../errors.ts';
import { RETENTION_SECONDS_DEFAULT } from '../limits.ts';
import type { CaptureFinal } from '../types.ts';
import type { StoredMeta } from './format.ts';
import { captureDir, diskDirOf, hasIn, openIn } from './paths.ts';
import { active } from './state.ts';
import { captureIds, readState, type Store } from './store.ts';

type CleanupReason =
  | 'not_expired'
  | 'active_session'
  | 'expired'
  | 'unreadable_not_expired'
  | 'unreadable_expired'
  | 'unreadable_stat_error'
  | 'remove_error';

export type SweepResult = {
  readonly id: string;
  readonly result: 'skip' | 'remove' | 'error';
  readonly reason: CleanupReason;
  readonly pinned?: true;
  /** The errno name behind a `remove_error` or `unreadable_stat_error`. */
  readonly error?: string;
};

/** As a line of the operational log says it. */
export type CleanupLog = Pick<SweepResult, 'pinned' | 'error'> & {
  readonly session_id: string;
  readonly cleanup_result: SweepResult['result'];
  readonly cleanup_reason: CleanupReason;
};

/** The disk operations of a sweep, so that tests can make them fail. */
type SweepIo = {
  readonly touchedAt: (dir: string) => number;
  readonly remove: (dir: string) => Promise<void>;
};

export type SweepOptions = {
  /** For captures that do not say how long they want to be kept. */
  readonly ttlSeconds?: number;
  /** Say what would be removed, and keep it. */
  readonly dryRun?: boolean;
  /** How many captures to look at. */
  readonly limit?: number;
  /** The project's journal still needs it, although its time is over. */
  readonly owed?: (meta: StoredMeta, final: CaptureFinal) => boolean;
  readonly log?: (entry: CleanupLog) => void;
  readonly io?: Partial<SweepIo>;
};

type Verdict = Omit<SweepResult, 'id'>;

const TURN_CAPTURES = 16; // looked at in one go; then others get their turn

export async function* sweep(
  store: Store,
  options: SweepOptions = {},
): AsyncGenerator<SweepResult, void, undefined> {
  const io: SweepIo = { touchedAt, remove: removeCapture, ...options.io };
  const ttlMs = (options.ttlSeconds ?? RETENTION_SECONDS_DEFAULT) * 1000;
  let looked = 0;
  for (const id of chosen(captureIds(store), options.limit, store.now())) {
    looked += 1;
    if (looked % TURN_CAPTURES === 0) await new Promise((resolve) => setImmediate(resolve));
    const dir = captureDir(store.root, id);
    let verdict = verdictOn(dir, { store, ttlMs, owed: options.owed, io });
    if (verdict?.result === 'remove' && options.dryRun !== true) {
      verdict = await removed(dir, verdict, io);
    }
    if (verdict === undefined) continue; // another process removed it
    const { result, reason, ...rest } = verdict;
    options.log?.({ session_id: id, cleanup_result: result, cleanup_reason: reason, ...rest });
    yield { id, ...verdict };
  }
}

/**
 * The oldest ones; and if not all may be looked at, half of them from another place each second, so
 * that many old captures that are kept do not keep every other for ever.
 */
function chosen(ids: readonly string[], limit: number | undefined, now: number): string[] {
  if (limit === undefined || ids.length <= limit) return [...ids];
  const oldest = Math.ceil(limit / 2);
  const rest = ids.slice(oldest);
  const start = Math.floor(now / 1000) % rest.length;
  const turned = [...rest.slice(start), ...rest.slice(0, start)];
  return [...ids.slice(0, oldest), ...turned.slice(0, limit - oldest).sort()];
}

type Sweep = {
  readonly store: Store;
  readonly ttlMs: number;
  readonly owed: SweepOptions['owed'];
  readonly io: SweepIo;
};

/** Undefined for a capture that another process removed. */
function verdictOn(dir: string, { store, ttlMs, owed, io }: Sweep): Verdict | undefined {
  try {
    const { meta, final } = stateOf(dir, ttlMs / 1000);
    if (active(meta, final, store) || (meta === undefined && runnerListens(dir))) {
      return { result: 'skip', reason: 'active_session' };
    }
    if (hasIn(dir, 'pinned')) return { result: 'skip', reason: 'not_expired', pinned: true };
    // An interrupted run has no end of its own: its last sign of life stands for it.
    const endedAt = (meta && final?.at) ?? io.touchedAt(dir);
    const keptMs = meta === undefined ? ttlMs : meta.retentionSeconds * 1000;
    const old = endedAt + keptMs <= store.now();
    const needed = old && meta !== undefined && final !== undefined && owed?.(meta, final) === true;
    if (meta === undefined) {
      return old
        ? { result: 'remove', reason: 'unreadable_expired' }
        : { result: 'skip', reason: 'unreadable_not_expired' };
    }
    return old && !needed
      ? { result: 'remove', reason: 'expired' }
      : { result: 'skip', reason: 'not_expired' };
  } catch (error) {
    // Skip entries that we cannot read or do not own.
    const errno = errnoOf(error) ?? 'EIO';
    if (errno === 'ENOENT') return undefined;
    return { result: 'error', reason: 'unreadable_stat_error', error: errno };
  }
}

function stateOf(dir: string, ttlSeconds: number): ReturnType<typeof readState> {
  try {
    return readState(dir, { retentionSeconds: ttlSeconds });
  } catch {
    // A symlink in the place of a file, or no right to read: unreadable is what it is.
    return { meta: undefined, final: undefined };
  }
}

/** A runner reads the FIFO: also for captures that cannot say which process their runner is. */
export function runnerListens(dir: string): boolean {
  try {
    const fd = openIn(dir, 'control', fs.constants.O_WRONLY);
    const fifo = fs.fstatSync(fd).isFIFO();
    fs.closeSync(fd);
    return fifo;
  } catch {
    return false; // ENXIO: no process reads it; ENOENT: there never was a FIFO
  }
}

/** The latest change of a directory and what is directly in it. */
function touchedAt(dir: string): number {
  let latest = fs.lstatSync(dir).mtimeMs;
  for (const name of fs.readdirSync(dir)) {
    const stat = fs.lstatSync(join(dir, name), { throwIfNoEntry: false });
    if (stat !== undefined) latest = Math.max(latest, stat.mtimeMs);
  }
  return latest;
}

async function removed(dir: string, verdict: Verdict, io: SweepIo): Promise<Verdict> {
  try {
    await io.remove(dir);
    return verdict;
  } catch (error) {
    return { result: 'error', reason: 'remove_error', error: errnoOf(error) ?? 'EIO' };
  }
}

/**
 * All of it or nothing: a file that cannot be removed cannot be renamed either, so renaming is
 * tried first with each file, and undone with the system's own error. Then removes without
 * blocking: freeing a large file takes a while.
 */
export async function removeCapture(dir: string): Promise<void> {
  if (!fs.existsSync(dir)) return; // another process removed it
  const home = diskDirOf(dir);
  const names = await fs.promises.readdir(dir);
  const done: string[] = [];
  try {
    for (const name of names) {
      await fs.promises.rename(join(dir, name), join(dir, `${name}${REMOVING}`));
      done.push(name);
    }
  } catch (error) {
    for (const name of done) {
      await fs.promises.rename(join(dir, `${name}${REMOVING}`), join(dir, name));
    }
    throw error;
  }
  await fs.promises.rm(dir, { recursive: true, force: true });
  if (home === undefined) return;
  await fs.promises.rm(home, { recursive: true, force: true });
  await fs.promises.rm(join(dir, '..', '..'), { recursive: true, force: true });
}

const REMOVING = '.removing';
