// Opens a file of a capture, plain, packed, or packed and encrypted: the reader of its bytes
// need not know which. The packer puts the packed file in its place before it removes the plain
// one, so that a reader that finds no plain file finds a packed one; where both are there, the
// plain one counts.
import { closeSync, constants, fstatSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { packedSource } from '../bgzf/source.ts';
import { AppError, errnoOf } from '../errors.ts';
import type { ByteSource } from './byte-source.ts';
import { openIn } from './paths.ts';

/** What the packer adds to the name of a file, and to that for its table. */
export const PACKED = '.gz';
export const TABLE = '.gzi';

/** What is added to these names where the files are encrypted. */
export const ENCRYPTED = '.age';

/** The names that a file may have besides its own. */
export function packedNames(name: string): string[] {
  const packed = [`${name}${PACKED}`, `${name}${PACKED}${TABLE}`];
  return [...packed, ...packed.map((one) => `${one}${ENCRYPTED}`)];
}

/** The bytes of an encrypted file, whose path is for messages; throws where it cannot be read. */
export type Decrypt = (file: ByteSource, path: string) => ByteSource;

/** A missing file is an empty one: writers make their files when they have something to say. */
export function openSource(dir: string, name: string, decrypt?: Decrypt): ByteSource {
  return findSource(dir, name, decrypt) ?? EMPTY;
}

/**
 * Undefined where there is no such file. Throws as `openIn` does, `capture_damaged`, and
 * `decryption_failed`.
 */
export function findSource(dir: string, name: string, decrypt?: Decrypt): ByteSource | undefined {
  return openFile(dir, name, decrypt)?.source(true);
}

export type KeptFiles = {
  /** As `openSource`, of a file that stays open behind it. */
  open(name: string): ByteSource;
  close(): void;
};

/** For a caller that reads the same growing files again and again. */
export function keepOpen(dir: string, decrypt?: Decrypt): KeptFiles {
  const files = new Map<string, OpenFile>();
  return {
    open(name) {
      const file = files.get(name) ?? openFile(dir, name, decrypt);
      if (file === undefined) return EMPTY;
      files.set(name, file);
      return file.source(false);
    },
    close() {
      for (const file of files.values()) file.source(true).close();
    },
  };
}

/** For a caller that reads the same files several times: a small one is opened and read once. */
export function readOnce(dir: string, bytesMax: number, decrypt?: Decrypt): KeptFiles {
  const files = new Map<string, ByteSource>();
  return {
    open(name) {
      const source = files.get(name) ?? openSource(dir, name, decrypt);
      if (files.has(name) || source.size > bytesMax) return source;
      const small = inMemory(source, source.read(0, source.size));
      files.set(name, small);
      return small;
    },
    close() {},
  };
}

/** These bytes in the place of those of a source, which is read no more. */
export function inMemory(source: ByteSource, bytes: Uint8Array): ByteSource {
  source.close();
  return {
    size: bytes.length,
    changedAt: source.changedAt,
    read: (position, length) => bytes.subarray(position, position + Math.max(0, length)),
    close() {},
  };
}

type OpenFile = {
  /** The file as it is now. `closing`: its `close` closes the file. */
  source(closing: boolean): ByteSource;
};

function openFile(dir: string, name: string, decrypt?: Decrypt): OpenFile | undefined {
  const fd = openIfThere(dir, name);
  if (fd === undefined) return openPacked(dir, `${name}${PACKED}`, decrypt);
  return { source: (closing) => sourceOf(fd, closing ? () => closeSync(fd) : () => undefined) };
}

function openPacked(dir: string, name: string, decrypt?: Decrypt): OpenFile | undefined {
  const source = packedIn(dir, name, decrypt);
  return source && { source: (closing) => (closing ? source : { ...source, close() {} }) };
}

/** The plain bytes of a packed file, encrypted or not; undefined where there is none. */
export function packedIn(dir: string, name: string, decrypt?: Decrypt): ByteSource | undefined {
  const packed = fileIn(dir, name) ?? decryptedIn(dir, name, decrypt);
  if (packed === undefined) return undefined;
  let table: ByteSource | undefined;
  try {
    const named = `${name}${TABLE}`;
    table = fileIn(dir, named) ?? decryptedIn(dir, named, decrypt);
    return packedSource(packed, table, join(dir, name));
  } catch (error) {
    packed.close();
    table?.close();
    throw error;
  }
}

/** The bytes of NAME.age; undefined where there is none. */
export function decryptedIn(
  dir: string,
  name: string,
  decrypt: Decrypt = withoutKeys,
): ByteSource | undefined {
  const file = fileIn(dir, `${name}${ENCRYPTED}`);
  if (file === undefined) return undefined;
  try {
    return decrypt(file, join(dir, `${name}${ENCRYPTED}`));
  } catch (error) {
    file.close();
    throw error;
  }
}

function withoutKeys(_: ByteSource, path: string): never {
  throw new AppError('decryption_failed', `${path} is encrypted.`, {
    hint: 'Read it with `cuff cat`, where there is an identity.',
  });
}

/** The bytes of a file as they lie on the disk. */
export function fileIn(dir: string, name: string): ByteSource | undefined {
  const fd = openIfThere(dir, name);
  return fd === undefined ? undefined : sourceOf(fd, () => closeSync(fd));
}

function openIfThere(dir: string, name: string): number | undefined {
  try {
    return openIn(dir, name, constants.O_RDONLY);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function sourceOf(fd: number, close: () => void): ByteSource {
  const { size, mtimeMs } = fstatSync(fd);
  return {
    size,
    changedAt: mtimeMs,
    read: (position, length) => readAt(fd, position, Math.min(length, size - position)),
    close,
  };
}

const EMPTY: ByteSource = {
  size: 0,
  changedAt: 0,
  read: () => new Uint8Array(),
  close: () => {},
};

function readAt(fd: number, position: number, length: number): Uint8Array {
  if (length <= 0) return new Uint8Array();
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const count = readSync(fd, bytes, done, length - done, position + done);
    // Another process truncated the file: the rest cannot be read.
    if (count === 0) break;
    done += count;
  }
  return bytes.subarray(0, done);
}
