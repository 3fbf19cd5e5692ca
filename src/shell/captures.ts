// Captures for the doors: find one by a part of its id, list them, read their bytes unchanged.

import { stateRoot } from '../capture/paths.ts';
import type { OutputPiece } from '../capture/reader.ts';
import {
  type Capture,
  type CaptureSummary,
  captureIds,
  findCaptures,
  listCaptures,
  openCapture,
  outputSize,
  pinCapture,
  readEvents,
  type Store,
} from '../capture/store.ts';
import { follow } from '../capture/wait.ts';
import { AppError } from '../errors.ts';
import { GONE_TEXT, unreadText } from '../text/missing.ts';
import { printable } from '../text/printable.ts';
import type { CaptureState } from '../types.ts';
import { decryption } from './decryption.ts';
import { openStore } from './store.ts';

export type { Capture, CaptureSummary, OutputPiece, Store };
export { follow, openCapture, pinCapture };

const CANDIDATES_MAX = 10; // a longer list would scroll the sentence away

export function storeOf(env: NodeJS.ProcessEnv): Store {
  return { ...openStore(stateRoot(env)), decrypt: decryption(env) };
}

/** The one capture whose id contains `part`. There is no "latest" one: callers must give a part. */
export function captureNamed(store: Store, part: string): Capture {
  if (part === '') {
    throw new AppError('usage', 'The id is empty.', { hint: 'See the ids with `cuff ls`.' });
  }
  const found = findCaptures(store, part);
  const [only] = found;
  if (only === undefined) {
    throw new AppError('session_not_found', 'session not found', {
      hint: `No id contains '${printable(part)}'. List the captures there are with \`cuff ls\`.`,
    });
  }
  if (found.length === 1) return openCapture(store, only);
  const shown = found.slice(-CANDIDATES_MAX).map((id) => `  ${id}`);
  const more = found.length - shown.length;
  throw new AppError('usage', `'${printable(part)}' is part of ${found.length} ids.`, {
    hint: [`Give more of one of them:`, ...shown, ...(more > 0 ? [`  and ${more} more`] : [])].join(
      '\n',
    ),
  });
}

export type Listing = {
  readonly captures: readonly CaptureSummary[];
  /** How many there are beyond the limit. */
  readonly more: number;
};

/** Newest first. */
export function listing(
  store: Store,
  { state, limit }: { readonly state?: CaptureState; readonly limit: number },
): Listing {
  if (state === undefined) {
    const captures = listCaptures(store, { limit });
    // Counting names is cheap; reading every capture to count it is not.
    return {
      captures,
      more: captures.length < limit ? 0 : captureIds(store).length - captures.length,
    };
  }
  const all = listCaptures(store, { state });
  return { captures: all.slice(0, limit), more: Math.max(0, all.length - limit) };
}

export type Missing = { readonly bytes: number; readonly reasons: readonly string[] };

/**
 * Bytes that were printed and are missing, and why: those that could not be stored, and those by
 * which output.bin is shorter than final.json says.
 */
export function missingBytes(capture: Capture): Missing {
  if (capture.dir === '') {
    const bytes = capture.final?.lostBytes ?? 0;
    return { bytes, reasons: bytes > 0 ? ['it is in memory, which keeps the beginning'] : [] };
  }
  const events = readEvents(capture).filter((event) => event.type === 'gap');
  const gaps = events.filter(({ reason }) => reason !== 'stdin'); // typed input is not output
  const counted = gaps.reduce((sum, gap) => sum + gap.lostBytes, 0);
  const lost = Math.max(counted, capture.final?.lostBytes ?? 0);
  const cut = cutBytes(capture, outputSize(capture));
  const unnamed = lost > counted ? ['its event is lost'] : [];
  const reasons = [...gaps.map((gap) => gap.reason), ...unnamed];
  return {
    bytes: lost + cut,
    reasons: [...new Set([...reasons, ...(cut > 0 ? ['output.bin was shortened'] : [])])],
  };
}

/** By how much output.bin is shorter than it was at the end of the run. */
export function cutBytes({ final }: Pick<Capture, 'final'>, outputBytes: number): number {
  return Math.max(0, (final?.outputBytes ?? 0) - outputBytes);
}

type Unread = Pick<Capture, 'final' | 'outputOpen' | 'meta'>;

/**
 * A note on output that a killed runner may not have read, from its command or from survivors; or
 * that was in memory, and is gone. Undefined for every other.
 */
export function unreadNote({ final, outputOpen, meta }: Unread): string | undefined {
  if (meta?.inMemory === true) return GONE_TEXT;
  const killed = meta?.child !== undefined && !outputOpen && final?.outputClosed !== true;
  return killed ? unreadText(meta.transport) : undefined;
}
