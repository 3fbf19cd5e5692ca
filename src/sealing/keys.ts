// The key of a ledger: made on first use, kept beside it, closed to others. Its name is the origin
// of the ledger. It has no host name in it, because checkpoints are published.

import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { DISK, type Disk } from '../journal/files.ts';
import {
  formatSignerKey,
  formatVerifierKey,
  parseSignerKey,
  type SignerKey,
  signerKey,
} from '../ledger/note-keys.ts';
import { createWhole, ensureSealDir, readSmall, replaceDurably, sealFile } from './place.ts';

export const SEED_BYTES = 32;
const ORIGIN_LETTERS = 13;
const JOURNAL_LETTERS = 26;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** The origin, with a new key where there is none. `made` says whether this call has made it. */
export function ensureKey(
  stateRoot: string,
  disk: Disk = DISK,
): { readonly origin: string; readonly vkey: string; readonly made: boolean } {
  const there = vkeyOf(stateRoot);
  if (there !== undefined) return { ...there, made: false };
  ensureSealDir(stateRoot);
  const fresh = signerKey(`cuff.local/${randomName(ORIGIN_LETTERS)}`, randomBytes(SEED_BYTES));
  const made = createWhole(sealFile(stateRoot, 'key'), `${formatSignerKey(fresh)}\n`, disk);
  // Of two processes one has made the key. Either writes what belongs to that one.
  const signer = made ? fresh : signerOf(stateRoot);
  if (signer === undefined) throw new Error('the key of the ledger cannot be read');
  const vkey = formatVerifierKey(signer.verifier);
  createWhole(sealFile(stateRoot, 'vkey'), `${vkey}\n`, disk);
  return { origin: signer.verifier.name, vkey, made };
}

function vkeyOf(stateRoot: string) {
  const vkey = readSmall(sealFile(stateRoot, 'vkey'))?.trim();
  const origin = vkey?.split('+')[0] ?? '';
  return vkey === undefined || origin === '' ? undefined : { origin, vkey };
}

/** Undefined where there is no key, or what is there is none. */
export function signerOf(stateRoot: string): SignerKey | undefined {
  return parseSignerKey(readSmall(sealFile(stateRoot, 'key'))?.trim() ?? '');
}

/** Of the same ledger as `old`. */
export function newSigner({ verifier: { name } }: SignerKey): SignerKey {
  return signerKey(name, randomBytes(SEED_BYTES));
}

/**
 * The new key in the place of the old one, whose bytes are overwritten as far as the disk does
 * what it is told: an SSD may keep them.
 */
export async function replaceKey(stateRoot: string, key: SignerKey, disk: Disk): Promise<void> {
  const path = sealFile(stateRoot, 'key');
  const old = fs.openSync(path, fs.constants.O_RDWR | (fs.constants.O_NOFOLLOW ?? 0));
  try {
    await replaceDurably(path, `${formatSignerKey(key)}\n`, disk, true);
    fs.writeSync(old, Buffer.alloc(fs.fstatSync(old).size), 0, undefined, 0);
    fs.fsyncSync(old);
  } finally {
    fs.closeSync(old);
  }
  const vkey = `${formatVerifierKey(key.verifier)}\n`;
  await replaceDurably(sealFile(stateRoot, 'vkey'), vkey, disk, true);
}

/** The name of a journal. */
export function newJournalName(): string {
  return randomName(JOURNAL_LETTERS);
}

/** Base32 without a name's worth of meaning: five random bits a letter. */
function randomName(letters: number): string {
  return [...randomBytes(letters)].map((byte) => ALPHABET[byte % 32]).join('');
}
