// A capture that is encrypted: what goes is taken out of its bytes on their way from the old
// encrypted file to a new one, for the same recipients. So no plain byte is ever on the disk, and
// each file is the old or the new one, whenever this is killed.

import { join } from 'node:path';
import { Encryption, recipientsOf } from '../../age/file.ts';
import { type Recipient, recipientOf } from '../../age/recipients.ts';
import type { ByteSource } from '../../capture/byte-source.ts';
import { PACKABLE } from '../../capture/format.ts';
import {
  type Decrypt,
  decryptedIn,
  ENCRYPTED,
  fileIn,
  findSource,
  PACKED,
  packedNames,
} from '../../capture/open-source.ts';
import { encryptCapture, encryptFile, encryptText } from '../../capture/packed/encrypt.ts';
import { type PackOps, syncDirectory } from '../../capture/packed/pack.ts';
import { hasIn } from '../../capture/paths.ts';
import type { Capture } from '../../capture/store.ts';
import { hideText } from '../../capture/words.ts';
import { AppError, isAppError } from '../../errors.ts';
import { printable } from '../../text/printable.ts';

const WORDS = ['meta.json', 'final.json'] as const;

/** Names of its encrypted files; none where it is plain or packed. */
export function encryptedNames(dir: string): string[] {
  const packed = PACKABLE.flatMap(packedNames).filter((name) => name.endsWith(ENCRYPTED));
  return [...WORDS.map((name) => `${name}${ENCRYPTED}`), ...packed].filter((name) =>
    hasIn(dir, name),
  );
}

/** Throws as reading them does: `decryption_failed` where there is no identity for it. */
export function checkReadable({ dir, decrypt }: Pick<Capture, 'dir' | 'decrypt'>): void {
  for (const name of encryptedNames(dir)) decryptedIn(dir, bare(name), decrypt)?.close();
}

/** For whom they are encrypted, as far as they say. */
export function recipientTexts(dir: string): string[] {
  const all = encryptedNames(dir).flatMap((name) => {
    try {
      return textsIn(dir, name);
    } catch (error) {
      if (!isAppError(error)) throw error;
      return []; // its header is damaged
    }
  });
  return [...new Set(all)];
}

/** Writes the files of one capture, each for those who could read it before. */
export class EncryptedFiles {
  readonly #dir: string;
  readonly #decrypt: Decrypt | undefined;
  readonly #io: PackOps;
  readonly #recipients: ReadonlyMap<string, readonly Recipient[]>;

  /** Throws `encryption_failed` where one of them needs a program that is not there. */
  constructor({ dir, decrypt }: Pick<Capture, 'dir' | 'decrypt'>, io: PackOps) {
    this.#dir = dir;
    this.#decrypt = decrypt;
    this.#io = io;
    const found = encryptedNames(dir).map((name) => [bare(name), recipientsIn(dir, name)] as const);
    this.#recipients = new Map(found);
    const distinct = new Map(found.map(([, whom]) => [whom.map(({ text }) => text).join(), whom]));
    for (const whom of distinct.values()) new Encryption(whom);
  }

  /** Encrypts what a packer that was killed left plain. */
  finish(): void {
    encryptCapture(this.#dir, this.#for('meta.json'), this.#io);
  }

  words(name: 'meta.json' | 'final.json', text: string): void {
    const keep = (): void => encryptText(this.#dir, name, text, this.#for(name), this.#io);
    hideText(this.#dir, name, text, keep, this.#io);
  }

  /** Of a file, as `change` makes it of what it is. */
  bytes(name: string, change: (source: ByteSource) => ByteSource): void {
    const source = findSource(this.#dir, name, this.#decrypt);
    if (source === undefined) return;
    const whom = this.#for(`${name}${PACKED}`);
    encryptFile(this.#dir, name, change(source), whom, this.#io);
  }

  remove(name: string): void {
    const names = packedNames(name).filter((one) => hasIn(this.#dir, one));
    for (const one of names) this.#io.unlinkSync(join(this.#dir, one));
    syncDirectory(this.#dir, this.#io);
  }

  /** Of one that was plain, those of the others. */
  #for(name: string): readonly Recipient[] {
    const [any = []] = this.#recipients.values();
    return this.#recipients.get(name) ?? any;
  }
}

function bare(name: string): string {
  return name.slice(0, -ENCRYPTED.length);
}

function recipientsIn(dir: string, name: string): readonly Recipient[] {
  const path = join(dir, name);
  return textsIn(dir, name).map((text) => {
    const recipient = recipientOf(text);
    if (recipient !== undefined) return recipient;
    throw new AppError('encryption_failed', `${path} is encrypted for ${printable(text)}.`, {
      hint: 'It was not written by cuff, so for whom it would be encrypted again is not known.',
    });
  });
}

function textsIn(dir: string, name: string): string[] {
  const file = fileIn(dir, name);
  if (file === undefined) return [];
  try {
    return recipientsOf(file, join(dir, name));
  } finally {
    file.close();
  }
}
