// Captures are sealed when they are over and a process has time for it, never before an answer:
// their files are hashed, final.json gets the salt, and the ledger one leaf. A capture with a salt
// was sealed; should the machine crash between the salt and the leaf, it stays without one.

import { createHash, randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { finalText, saltedText, saltFinal, splitFinal } from '../capture/final-salt.ts';
import { type Decrypt, findSource } from '../capture/open-source.ts';
import { captureDir } from '../capture/paths.ts';
import { captureIds, readState, type Store } from '../capture/store.ts';
import { wholeText, wordsAreHidden } from '../capture/words.ts';
import { errnoOf, isAppError } from '../errors.ts';
import { claimIn } from '../journal/claim.ts';
import { SALT_BYTES } from '../journal/entry-parts.ts';
import { CAPTURE_PARTS, commitmentTo, partSalt, sha256 } from '../ledger/commitments.ts';
import type { Leaf } from '../ledger/leaf.ts';
import type { ProcessId } from '../types.ts';
import type { Ledger } from './ledger.ts';
import { ensureSealDir, sealDir } from './place.ts';

const PIECE_BYTES = 262_144; // a fifth of a millisecond of hashing

type CapturePart = (typeof CAPTURE_PARTS)[number];

export type CaptureOptions = {
  readonly ledger: Ledger;
  readonly store: Store;
  readonly owner: ProcessId;
  /** Ids that need not be looked at again; those that are sealed are added. */
  readonly done?: Set<string>;
  /** Instead of all. */
  readonly ids?: readonly string[];
  /** Asked before each capture and each piece of one. */
  readonly goOn?: () => boolean;
};

/** How many were sealed. Captures that cannot be read are passed over; other errors reject. */
export async function sealCaptures(options: CaptureOptions): Promise<number> {
  const { store, owner, ids, done = new Set(), goOn = () => true } = options;
  ensureSealDir(store.root);
  const claim = claimIn(sealDir(store.root), 'captures', owner, store.alive);
  if (claim === undefined) return 0;
  let count = 0;
  try {
    for (const id of ids ?? captureIds(store)) {
      if (done.has(id)) continue;
      if (!goOn()) break;
      const result = await sealCapture(id, { ...options, goOn });
      if (result !== 'later') done.add(id);
      if (result === 'sealed') count += 1;
    }
    return count;
  } finally {
    claim.release();
  }
}

/**
 * The leaf of a capture that is over, with this salt; undefined while it is not. `decrypt`: also
 * of one that is encrypted; throws what decrypting throws.
 */
async function captureLeaf(
  store: Store,
  id: string,
  salt: Uint8Array,
  { goOn = () => true, decrypt }: LeafOptions = {},
): Promise<Extract<Leaf, { kind: 'capture' }> | undefined> {
  const dir = captureDir(store.root, id);
  const { meta, final } = readState(dir);
  if (meta === undefined || final?.outputClosed !== true) return undefined;
  const parts: Partial<Record<CapturePart, string | null>> = {};
  for (const [place, part] of CAPTURE_PARTS.entries()) {
    const hidden = meta.encrypted === true;
    if (hidden && decrypt === undefined) break; // an earlier leaf has them, and we cannot read it
    const digest =
      part === 'final' || (part === 'meta' && hidden)
        ? wordsDigest(dir, FILES[part], decrypt)
        : await fileDigest(dir, FILES[part], { goOn, decrypt });
    if (digest === 'stopped') return undefined;
    parts[part] = digest === undefined ? null : commitmentTo(digest, partSalt(salt, place));
  }
  const { meta: of, output, index, events, trace, final: end } = parts;
  return {
    kind: 'capture',
    run: id,
    at: final.at,
    until: final.at + meta.retentionSeconds * 1000,
    bytes: final.outputBytes,
    output_end: 'closed',
    meta: of ?? null,
    output: output ?? null,
    index: index ?? null,
    events: events ?? null,
    trace: trace ?? null,
    final: end ?? null,
  };
}

type LeafOptions = {
  readonly goOn?: (() => boolean) | undefined;
  readonly decrypt?: Decrypt | undefined;
};

/**
 * A capture is about to be removed before its time, for a lawful reason: a new leaf says that it
 * may be missing from now on. False when the caller stopped that. A capture that was never sealed
 * needs none. Throws as reading its files does.
 */
export async function releaseCapture(
  ledger: Ledger,
  store: Store,
  id: string,
  goOn: () => boolean,
): Promise<boolean> {
  const salt = finalText(captureDir(store.root, id))?.salt;
  if (salt === undefined) return true;
  const leaf = await captureLeaf(store, id, salt, { goOn });
  if (leaf === undefined) return false;
  ledger.note({ ...leaf, until: Math.min(leaf.until, ledger.now()) });
  await ledger.sign();
  return true;
}

/** The files of the parts; `final` is final.json without its salt. */
const FILES: Readonly<Record<CapturePart, string>> = {
  meta: 'meta.json',
  output: 'output.bin',
  index: 'index.jsonl',
  events: 'events.jsonl',
  trace: 'trace.bin',
  final: 'final.json',
};

async function sealCapture(
  id: string,
  { ledger, store, goOn }: CaptureOptions,
): Promise<'sealed' | 'was sealed' | 'later'> {
  const dir = captureDir(store.root, id);
  try {
    const final = finalText(dir);
    if (final === undefined) return 'later';
    // One that was encrypted before there was a ledger stays without a leaf.
    if (final.salt !== undefined || wordsAreHidden(dir)) return 'was sealed';
    const salt = randomBytes(SALT_BYTES);
    const leaf = await captureLeaf(store, id, salt, { goOn });
    if (leaf === undefined) return 'later';
    saltFinal(dir, final, salt);
    ledger.note(leaf);
    return 'sealed';
  } catch (error) {
    // Gone meanwhile, not ours, or on a disk that fails: it may work another time.
    if (errnoOf(error) === undefined && !isAppError(error)) throw error;
    return 'later';
  }
}

/**
 * Gives a capture that was changed on purpose a new salt and a new leaf: with the old salt, what
 * was there could be guessed from the old leaf. `write` puts final.json in its place, and is to be
 * durable. False while the capture has no end.
 */
export async function sealAnew(
  id: string,
  { ledger, store }: Pick<CaptureOptions, 'ledger' | 'store'>,
  write: (final: string) => void,
): Promise<boolean> {
  const { decrypt } = store;
  const final = wholeText(captureDir(store.root, id), 'final.json', decrypt);
  const salt = randomBytes(SALT_BYTES);
  if (final === undefined) return false;
  const leaf = await captureLeaf(store, id, salt, { decrypt });
  if (leaf === undefined) return false;
  write(saltedText(splitFinal(final), salt));
  ledger.note(leaf);
  return true;
}

/** Of a document as it was before it was encrypted; of final.json, before it had its salt. */
function wordsDigest(dir: string, name: string, decrypt?: Decrypt): Buffer | undefined {
  const text = wholeText(dir, name, decrypt);
  return text === undefined ? undefined : sha256(Buffer.from(splitFinal(text).text));
}

/** Undefined where there is no such file. */
async function fileDigest(
  dir: string,
  name: string,
  { goOn = () => true, decrypt }: LeafOptions,
): Promise<Buffer | 'stopped' | undefined> {
  const source = findSource(dir, name, decrypt);
  if (source === undefined) return undefined;
  try {
    const hash = createHash('sha256');
    for (let at = 0; at < source.size; at += PIECE_BYTES) {
      hash.update(source.read(at, PIECE_BYTES));
      await setImmediate();
      if (!goOn()) return 'stopped';
    }
    return hash.digest();
  } finally {
    source.close();
  }
}
