// Signs what is new: the leaves are synced, the tree extended and the checkpoint replaced. One
// process at a time does it. What was signed before is never signed away: where the leaves or the
// checkpoint are not those that were signed, nothing is written, and `cuff verify` says what it is.

import * as fs from 'node:fs';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { claimIn } from '../journal/claim.ts';
import { DISK, type Disk } from '../journal/files.ts';
import { type Checkpoint, checkpointOf, checkpointText } from '../ledger/checkpoint.ts';
import { formatLeaf, LEAF_BYTES_MAX } from '../ledger/leaf.ts';
import { checkSignature, formatNote, parseNote, signNote } from '../ledger/note.ts';
import { formatVerifierKey, type SignerKey } from '../ledger/note-keys.ts';
import type { ProcessId } from '../types.ts';
import { Appender } from './appender.ts';
import { beginEpoch, epochAt } from './epochs.ts';
import { appendIntroduction } from './introductions.ts';
import { replaceKey, signerOf } from './keys.ts';
import { leafLines } from './leaf-lines.ts';
import { openForChanges, readSmall, replaceDurably, sealDir, sealFile } from './place.ts';
import { TreeFile } from './tree-file.ts';

const CLAIM_TRIES = 5;
const CLAIM_PAUSE_MS = 20;
const TURN_LEAVES = 512; // 2 ms; then others have their turn
const NEWLINE = 0x0a;

export type SealerOptions = {
  readonly stateRoot: string;
  readonly owner: ProcessId;
  readonly alive: (one: ProcessId) => boolean;
  readonly disk?: Disk | undefined;
  /** A key that signs, too, and alone from then on; its `key` leaf is among the leaves. */
  readonly introduce?: SignerKey | undefined;
  readonly now?: (() => number) | undefined;
};

export type SealResult =
  | { readonly kind: 'signed'; readonly checkpoint: Checkpoint }
  /** Nothing was new; undefined: there is nothing at all. */
  | { readonly kind: 'current'; readonly checkpoint: Checkpoint | undefined }
  /** Another process is signing. */
  | { readonly kind: 'busy' }
  /** What is there is not what was signed. */
  | { readonly kind: 'refused'; readonly why: SealRefusal };

export type SealRefusal = 'key_gone' | 'checkpoint_bad' | 'ledger_truncated' | 'ledger_edited';

class Refused extends Error {
  readonly why: SealRefusal;

  constructor(why: SealRefusal) {
    super(why);
    this.why = why;
  }
}

/** Rejects with the error of the system call; what was signed before stays as it is. */
export async function signLeaves(options: SealerOptions): Promise<SealResult> {
  const { stateRoot, owner, alive, disk = DISK, introduce, now = Date.now } = options;
  if (!fs.existsSync(sealFile(stateRoot, 'leaves'))) {
    if (fs.existsSync(sealFile(stateRoot, 'checkpoint'))) {
      return { kind: 'refused', why: 'ledger_truncated' };
    }
    return { kind: 'current', checkpoint: undefined };
  }
  for (let tries = 1; ; tries += 1) {
    const claim = claimIn(sealDir(stateRoot), 'sealer', owner, alive, disk);
    if (claim === undefined) {
      if (tries === CLAIM_TRIES) return { kind: 'busy' };
      await delay(Math.random() * CLAIM_PAUSE_MS);
      continue;
    }
    try {
      return await sign(stateRoot, disk, introduce, now());
    } catch (error) {
      if (error instanceof Refused) return { kind: 'refused', why: error.why };
      throw error;
    } finally {
      claim.release();
    }
  }
}

async function sign(
  stateRoot: string,
  disk: Disk,
  introduce: SignerKey | undefined,
  now: number,
): Promise<SealResult> {
  const signer = signerOf(stateRoot);
  if (signer === undefined) throw new Refused('key_gone');
  const before = signedCheckpoint(stateRoot, signer);
  const leaves = openForChanges(sealFile(stateRoot, 'leaves'), disk);
  let hashes: number | undefined;
  try {
    let to = wholeEnd(leaves, disk.fstatSync(leaves).size);
    const position = positionOf(stateRoot);
    const reached = before?.size === position?.size ? position?.bytes : undefined;
    const current = before !== undefined && reached === to && introduce === undefined;
    if (current) return { kind: 'current', checkpoint: before };
    const epoch = await epochAt(stateRoot, signer, now, disk);
    if (epoch.next !== undefined) {
      appendKey(stateRoot, epoch.next, disk);
      to = wholeEnd(leaves, disk.fstatSync(leaves).size);
    }
    await disk.sync(leaves);
    hashes = openForChanges(sealFile(stateRoot, 'hashes'), disk);
    const tree = await extended({ stateRoot, leaves, hashes, before, reached, to, disk });
    const root = tree.root();
    if (root === undefined) throw new Error('EIO: the hashes that were written are not there');
    const checkpoint = { origin: signer.verifier.name, size: tree.size, root };
    if (before?.size === tree.size && introduce === undefined) {
      await replaceDurably(sealFile(stateRoot, 'position'), `${tree.size} ${to}\n`, disk, false);
      return { kind: 'current', checkpoint: before };
    }
    if (tree.size === 0) return { kind: 'current', checkpoint: undefined };
    const signers = [signer, introduce, epoch.current, epoch.next];
    const known = signers.filter((one) => one !== undefined);
    const note = formatNote(signNote(checkpointText(checkpoint), known));
    const introduces = introduce !== undefined || epoch.next !== undefined;
    if (introduces) await appendIntroduction(stateRoot, note, disk);
    await replaceDurably(sealFile(stateRoot, 'checkpoint'), note, disk, true);
    await replaceDurably(sealFile(stateRoot, 'position'), `${tree.size} ${to}\n`, disk, false);
    if (epoch.next !== undefined) beginEpoch(stateRoot, disk);
    if (introduce !== undefined) await replaceKey(stateRoot, introduce, disk);
    return { kind: 'signed', checkpoint };
  } finally {
    if (hashes !== undefined) disk.closeSync(hashes);
    disk.closeSync(leaves);
  }
}

/** Throws where it cannot be written. */
function appendKey(stateRoot: string, { verifier }: SignerKey, disk: Disk): void {
  const appender = new Appender(stateRoot, disk);
  const leaf = formatLeaf({ kind: 'key', vkey: formatVerifierKey(verifier) });
  const written = appender.append(leaf);
  appender.close();
  if (!written) throw new Error(`${appender.trouble}: the leaf of a key was not written`);
}

function signedCheckpoint(stateRoot: string, { verifier }: SignerKey): Checkpoint | undefined {
  const text = readSmall(sealFile(stateRoot, 'checkpoint'));
  if (text === undefined) return undefined;
  const note = parseNote(text);
  const checkpoint = note && checkpointOf(note);
  if (note === undefined || checkpoint === undefined) throw new Refused('checkpoint_bad');
  if (checkSignature(note, verifier) !== 'verified') throw new Refused('checkpoint_bad');
  if (checkpoint.origin !== verifier.name) throw new Refused('checkpoint_bad');
  return checkpoint;
}

type Growth = {
  readonly stateRoot: string;
  readonly leaves: number;
  readonly hashes: number;
  readonly before: Checkpoint | undefined;
  /** Where the signed leaves end, if that is known. */
  readonly reached: number | undefined;
  readonly to: number;
  readonly disk: Disk;
};

/** The tree with all leaves up to `to`. */
async function extended(growth: Growth): Promise<TreeFile> {
  const { stateRoot, leaves, hashes, before, reached, to, disk } = growth;
  const path = sealFile(stateRoot, 'hashes');
  if (before !== undefined && reached !== undefined && reached <= to) {
    const tree = new TreeFile(path, hashes, before.size, disk);
    if (fits(tree, before, leaves, reached)) {
      await grow(tree, leaves, reached, to, undefined);
      return tree;
    }
  }
  // Nothing was signed, or what is derived does not fit what was.
  const tree = new TreeFile(path, hashes, 0, disk);
  await grow(tree, leaves, 0, to, before);
  if (before !== undefined && tree.size < before.size) throw new Refused('ledger_truncated');
  return tree;
}

/** The hashes are those that were signed, and the last signed leaf is where it should be. */
function fits(tree: TreeFile, before: Checkpoint, leaves: number, reached: number): boolean {
  const root = tree.root();
  if (root === undefined || Buffer.compare(root, before.root) !== 0) return false;
  if (before.size === 0) return reached === 0;
  const last = lastLine(leaves, reached);
  return last !== undefined && tree.endsWith(last);
}

async function grow(
  tree: TreeFile,
  leaves: number,
  from: number,
  to: number,
  signed: Checkpoint | undefined,
): Promise<void> {
  for (const { bytes } of leafLines(leaves, from, to)) {
    tree.append(bytes);
    if (tree.size === signed?.size) {
      const root = tree.root();
      if (root === undefined || Buffer.compare(root, signed.root) !== 0) {
        throw new Refused('ledger_edited');
      }
    }
    if (tree.size % TURN_LEAVES === 0) {
      tree.flush();
      await setImmediate();
    }
  }
  tree.flush();
}

/**
 * Where the last whole line ends. Bytes behind it are what a crash left of a leaf, or the beginning
 * of one that another process is writing at this moment: the two look alike, so they stay. The next
 * leaf begins on a line of its own, and what is no leaf says nothing.
 */
function wholeEnd(fd: number, size: number): number {
  for (let end = size; end > 0; ) {
    const block = before(fd, end);
    const newline = block.lastIndexOf(NEWLINE);
    if (newline >= 0) return end - block.length + newline + 1;
    end -= block.length;
  }
  return 0;
}

/** The line that ends at `end`; undefined where none does. */
function lastLine(fd: number, end: number): Buffer | undefined {
  const block = before(fd, end);
  if (block.at(-1) !== NEWLINE) return undefined;
  return block.subarray(block.lastIndexOf(NEWLINE, block.length - 2) + 1);
}

/** As many bytes before a place as one leaf can have. */
function before(fd: number, end: number): Buffer {
  const block = Buffer.alloc(Math.min(end, LEAF_BYTES_MAX + 1));
  fs.readSync(fd, block, 0, block.length, end - block.length);
  return block;
}

/** Where the signed leaves end, as far as that is known; 0 where it is not. */
export function signedBytes(stateRoot: string): number {
  return positionOf(stateRoot)?.bytes ?? 0;
}

function positionOf(stateRoot: string): { size: number; bytes: number } | undefined {
  const [, size, bytes] = /^(\d{1,15}) (\d{1,15})\n$/.exec(readDerived(stateRoot)) ?? [];
  return size === undefined || bytes === undefined
    ? undefined
    : { size: Number(size), bytes: Number(bytes) };
}

function readDerived(stateRoot: string): string {
  try {
    return readSmall(sealFile(stateRoot, 'position')) ?? '';
  } catch {
    return ''; // it is counted again
  }
}
