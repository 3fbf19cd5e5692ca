// Encrypts the files of a capture that is over: what is packed is also sealed for some
// recipients, as NAME.gz.age and NAME.gz.gzi.age. As with packing, what is plain is removed
// when what was written is on the disk and reads as it should, so that the next call goes on
// wherever this one was killed. The words of meta.json and final.json go with them
// (`words.ts`), last, because they say that all of it is done.
import * as nodeFs from 'node:fs';
import { join } from 'node:path';
import { Encryption } from '../../age/file.ts';
import type { Recipient } from '../../age/recipients.ts';
import type { ByteSource } from '../../bgzf/bytes.ts';
import { packedSource } from '../../bgzf/source.ts';
import { encodeTable } from '../../bgzf/table.ts';
import { writeMembers } from '../../bgzf/write.ts';
import { AppError } from '../../errors.ts';
import { PACKABLE } from '../format.ts';
import { ENCRYPTED, fileIn, findSource, PACKED, packedNames, TABLE } from '../open-source.ts';
import { checkCaptureDir } from '../paths.ts';
import { hideWords, wordsAreHidden } from '../words.ts';
import {
  COPIES,
  changed,
  holds,
  type PackOps,
  PLAIN_BYTES_MAX,
  removeTemps,
  syncDirectory,
  TEMP,
  write,
  writeAll,
} from './pack.ts';

/** True if it has files that are to be encrypted. */
export function hasPlainWords(dir: string): boolean {
  return PACKABLE.some((name) => isThere(dir, name)) || !wordsAreHidden(dir);
}

/** Of a capture that is over. Throws the error of the system call; every byte is still there. */
export function encryptCapture(
  dir: string,
  recipients: readonly Recipient[],
  io: PackOps = nodeFs,
): void {
  if (!checkCaptureDir(dir, io)) return; // swept away
  removeTemps(dir);
  for (const name of PACKABLE.filter((one) => isThere(dir, one))) {
    const plain = findSource(dir, name);
    if (plain !== undefined) encryptFile(dir, name, plain, recipients, io);
  }
  nodeFs.rmSync(join(dir, COPIES), { recursive: true, force: true });
  hideWords(dir, (name, text) => encryptText(dir, name, text, recipients, io), io);
}

/** A document as NAME.age, in the place of one that is there. */
export function encryptText(
  dir: string,
  name: string,
  text: string,
  recipients: readonly Recipient[],
  io: PackOps,
): void {
  const sealed = new Sealed(dir, name, recipients, io);
  try {
    sealed.write((put) => put(Buffer.from(text)));
    sealed.rename();
    syncDirectory(dir, io);
  } finally {
    sealed.forget();
  }
}

/** Plain or packed, and with something in it. */
function isThere(dir: string, name: string): boolean {
  const sizes = [name, `${name}${PACKED}`].map(
    (one) => nodeFs.lstatSync(join(dir, one), { throwIfNoEntry: false })?.size ?? 0,
  );
  return Math.max(...sizes) > 0;
}

/**
 * These bytes as NAME.gz.age, in the place of all that the file is there as. Closes `plain`, and
 * throws the error of the system call: what was there before is there then.
 */
export function encryptFile(
  dir: string,
  name: string,
  plain: ByteSource,
  recipients: readonly Recipient[],
  io: PackOps,
): void {
  const packed = new Sealed(dir, `${name}${PACKED}`, recipients, io);
  const table = new Sealed(dir, `${name}${PACKED}${TABLE}`, recipients, io);
  try {
    if (plain.size > PLAIN_BYTES_MAX) throw tooLarge(join(dir, name));
    const places = packed.write((put) => writeMembers(put, plain));
    const tabled = places.length > 1;
    if (tabled) table.write((put) => put(encodeTable(places)));
    if (tabled) table.rename(); // a table without its file is passed over
    packed.rename();
    syncDirectory(dir, io);
    const path = join(dir, packed.name);
    const found = packedSource(packed.read(), tabled ? table.read() : undefined, path);
    if (!holds(found, plain)) throw changed(path);
    const written = [packed.name, ...(tabled ? [table.name] : [])];
    const old = [name, ...packedNames(name)].filter((one) => !written.includes(one));
    for (const one of old) remove(join(dir, one), io);
    syncDirectory(dir, io);
  } finally {
    packed.forget();
    table.forget();
    plain.close();
  }
}

/** A new encrypted file, with a key of its own. */
class Sealed {
  readonly name: string;
  readonly #dir: string;
  readonly #io: PackOps;
  readonly #encryption: Encryption;

  constructor(dir: string, name: string, recipients: readonly Recipient[], io: PackOps) {
    this.name = `${name}${ENCRYPTED}`;
    this.#dir = dir;
    this.#io = io;
    this.#encryption = new Encryption(recipients);
  }

  /** Into a temporary file, which is on the disk when this returns. */
  write<T>(fill: (put: (bytes: Uint8Array) => void) => T): T {
    const io = this.#io;
    return write(this.#dir, this.name, io, (fd) => {
      writeAll(fd, this.#encryption.head, io);
      const filled = fill((bytes) => writeAll(fd, this.#encryption.push(bytes), io));
      writeAll(fd, this.#encryption.end(), io);
      return filled;
    });
  }

  rename(): void {
    this.#io.renameSync(this.#temp(), join(this.#dir, this.name));
  }

  read(): ByteSource {
    const file = fileIn(this.#dir, this.name);
    if (file === undefined) throw changed(join(this.#dir, this.name));
    const { size, read } = this.#encryption.open(file, join(this.#dir, this.name));
    return { ...file, size, read };
  }

  /** What a failure left. */
  forget(): void {
    nodeFs.rmSync(this.#temp(), { force: true });
  }

  #temp(): string {
    return join(this.#dir, `${this.name}${TEMP}`);
  }
}

function remove(path: string, io: PackOps): void {
  if (nodeFs.lstatSync(path, { throwIfNoEntry: false }) !== undefined) io.unlinkSync(path);
}

function tooLarge(path: string): AppError {
  return new AppError(
    'encryption_failed',
    `${path} is too large to be encrypted; it stays plain.`,
    {
      hint: 'Encrypt it yourself with `age`, or remove it.',
    },
  );
}
