// The keys of days (src/ledger/epoch.ts), for the process that has the claim to sign. One that
// begins is on the disk as `epoch.next` before its leaf is written, and takes the place of `epoch`
// when the old key has signed with it: wherever that is cut off, the next signature goes on with
// the same key. Days never go back: with a clock that does, the key that is there stays.

import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import type { Disk } from '../journal/files.ts';
import { dayOf, epochDay, epochName } from '../ledger/epoch.ts';
import { formatSignerKey, parseSignerKey, type SignerKey, signerKey } from '../ledger/note-keys.ts';
import { SEED_BYTES } from './keys.ts';
import { readSmall, replaceDurably, type SealFile, sealFile } from './place.ts';

export type Epoch = {
  readonly current: SignerKey;
  /** The key of a day that begins; its leaf is to be written, and both are to sign. */
  readonly next: SignerKey | undefined;
};

/** Throws the error of the system call. */
export async function epochAt(
  stateRoot: string,
  { verifier: { name: origin } }: SignerKey,
  now: number,
  disk: Disk,
): Promise<Epoch> {
  const today = dayOf(now);
  const current = keyIn(stateRoot, 'epoch', origin);
  if (current === undefined) {
    return { current: await newKey(stateRoot, 'epoch', origin, today, disk), next: undefined };
  }
  const day = dayIn(current, origin);
  const begun = keyIn(stateRoot, 'epoch.next', origin);
  // The old key may have introduced it by now, so there is no way back, whatever the clock says.
  if (begun !== undefined && dayIn(begun, origin) > day) return { current, next: begun };
  if (today <= day) return { current, next: undefined };
  return { current, next: await newKey(stateRoot, 'epoch.next', origin, today, disk) };
}

/** The key that signs on this day; undefined before anything was signed. */
export function epochOf(stateRoot: string, origin: string): SignerKey | undefined {
  return keyIn(stateRoot, 'epoch', origin);
}

/**
 * The next key in the place of the one before, whose bytes are overwritten as far as the disk does
 * what it is told.
 */
export function beginEpoch(stateRoot: string, disk: Disk): void {
  const path = sealFile(stateRoot, 'epoch');
  const old = fs.openSync(path, fs.constants.O_RDWR | (fs.constants.O_NOFOLLOW ?? 0));
  try {
    disk.renameSync(sealFile(stateRoot, 'epoch.next'), path);
    fs.writeSync(old, Buffer.alloc(fs.fstatSync(old).size), 0, undefined, 0);
    fs.fsyncSync(old);
  } finally {
    fs.closeSync(old);
  }
}

async function newKey(
  stateRoot: string,
  file: SealFile,
  origin: string,
  day: string,
  disk: Disk,
): Promise<SignerKey> {
  const key = signerKey(epochName(origin, day), randomBytes(SEED_BYTES));
  await replaceDurably(sealFile(stateRoot, file), `${formatSignerKey(key)}\n`, disk, true);
  return key;
}

/** Undefined where there is none of this ledger. */
function keyIn(stateRoot: string, file: SealFile, origin: string): SignerKey | undefined {
  const key = parseSignerKey(readSmall(sealFile(stateRoot, file))?.trim() ?? '');
  return key && epochDay(key.verifier.name, origin) !== undefined ? key : undefined;
}

function dayIn({ verifier: { name } }: SignerKey, origin: string): string {
  return epochDay(name, origin) ?? '';
}
