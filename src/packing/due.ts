// Which captures are packed, and when: those of commands that agents ran, a day after their end.
// Until then answers name their plain files. Those of `cuff run` and `derun run` are gone by then.
import { finalText } from '../capture/final-salt.ts';
import { isInMemory } from '../capture/in-memory.ts';
import { hasPlainWords } from '../capture/packed/encrypt.ts';
import { hasPlainFiles } from '../capture/packed/pack.ts';
import { captureDir, hasIn, sessionIdTime } from '../capture/paths.ts';
import { active } from '../capture/state.ts';
import { readState, type Store } from '../capture/store.ts';
import { errnoOf, isAppError } from '../errors.ts';
import { owedTo } from '../shell/sweep.ts';
import type { JournalIntent } from '../types.ts';

const PLAIN_SECONDS = 24 * 60 * 60;

const PLAIN_MS = PLAIN_SECONDS * 1000;

/** From the end of a command to its entry, on a slow disk. */
const ENTRY_MS_MAX = 10_000;

export type AgentCapture = {
  readonly id: string;
  readonly dir: string;
  /** Of its last output; of a run without an end, of its start. Epoch milliseconds. */
  readonly endedAt: number;
  readonly journal: JournalIntent;
};

/**
 * `never`: none that is packed, nor kept for its entry. `later`: it may still be needed as it is.
 * `pack`: it has files to pack. `kept`: all of it that should be packed is.
 */
export type Due =
  | { readonly kind: 'never' | 'later' }
  | { readonly kind: 'pack' | 'kept'; readonly capture: AgentCapture };

/**
 * Whether the capture can be encrypted by now: it is over, nothing of it is on its way into a
 * journal, and the ledger has committed to it. `sealed`: there is a ledger. `entered`: the caller
 * knows that its entry is written. Never throws.
 */
export function mayBeEncrypted(
  store: Store,
  id: string,
  { sealed, entered = false }: { readonly sealed: boolean; readonly entered?: boolean },
): boolean {
  try {
    const dir = captureDir(store.root, id);
    const { meta, final } = readState(dir);
    if (meta === undefined || final?.outputClosed !== true) return false;
    if (hasIn(dir, 'spooled') && meta.source !== 'spool') return false;
    // A server that lives enters its commands within a moment.
    const entering = meta.journal !== undefined && final.at + ENTRY_MS_MAX > store.now();
    const done = !hasPlainWords(dir) && !isInMemory(dir);
    if ((entering && !entered) || done || owedTo(store)(meta, final)) return false;
    return !sealed || finalText(dir)?.salt !== undefined;
  } catch (error) {
    if (errnoOf(error) === undefined && !isAppError(error)) throw error;
    return false; // swept away, not ours, or on a disk that fails
  }
}

/** `sealed`: there is a ledger, which has to commit to the files first. Never throws. */
export function dueOf(store: Store, id: string, sealed: boolean): Due {
  if ((sessionIdTime(id) ?? 0) + PLAIN_MS > store.now()) return LATER;
  try {
    return lookAt(store, id, sealed);
  } catch (error) {
    if (errnoOf(error) === undefined && !isAppError(error)) throw error;
    return LATER; // swept away, not ours, or on a disk that fails
  }
}

const NEVER: Due = { kind: 'never' };
const LATER: Due = { kind: 'later' };

function lookAt(store: Store, id: string, sealed: boolean): Due {
  const dir = captureDir(store.root, id);
  const { meta, final } = readState(dir);
  if (meta?.journal === undefined || meta.retentionSeconds <= PLAIN_SECONDS) return NEVER;
  if (isInMemory(dir)) return LATER;
  // In a sandbox: the files are fetched from outside, as they are.
  if (hasIn(dir, 'spooled') && meta.source !== 'spool') return NEVER;
  const endedAt = final?.at ?? meta.createdAt;
  if (endedAt + PLAIN_MS > store.now() || active(meta, final, store)) return LATER;
  const capture: AgentCapture = { id, dir, endedAt, journal: meta.journal };
  // Of a killed runner: it stays as it was found.
  if (final?.outputClosed !== true || !hasPlainFiles(dir)) return { kind: 'kept', capture };
  if (sealed && finalText(dir)?.salt === undefined) return LATER;
  return { kind: 'pack', capture };
}
