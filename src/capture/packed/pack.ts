// Packs the files of a capture that is over, one after the other, and removes the copies that were
// made of them for answers. A file is written beside the
// plain one, synced, given its name, read back and compared, and only then is the plain file
// removed. At every moment in between readers find all bytes, and the next call does the rest: what
// a killed packer left is written anew.
import * as nodeFs from 'node:fs';
import { join } from 'node:path';
import { type ByteSource, isSame } from '../../bgzf/bytes.ts';
import { encodeTable } from '../../bgzf/table.ts';
import { writeMembers } from '../../bgzf/write.ts';
import { namesIn } from '../../directories.ts';
import { AppError } from '../../errors.ts';
import { PACKABLE } from '../format.ts';
import { fileIn, PACKED, packedIn, TABLE } from '../open-source.ts';
import { checkCaptureDir, type FileOps, hasIn, openIn } from '../paths.ts';

/** A file of one block takes as much room packed as plain. */
const BLOCK_BYTES = 4096;

// The hole in a capture takes no room on the disk. Packed it would, and hours to be read.
export const PLAIN_BYTES_MAX = 8 * 1024 * 1024 * 1024;

/** Streams as clean text, which an answer named: see src/agent/output-copy.ts. */
export const COPIES = 'text';

export const TEMP = '.tmp';
const { O_WRONLY, O_CREAT, O_TRUNC } = nodeFs.constants;

/** The disk operations of packing, so that tests can make each of them fail. */
export type PackOps = FileOps & Pick<typeof nodeFs, 'unlinkSync'>;

/** True if it has files that would be packed, or removed. */
export function hasPlainFiles(dir: string): boolean {
  return hasIn(dir, COPIES) || PACKABLE.some((name) => isPackable(dir, name));
}

function isPackable(dir: string, name: string): boolean {
  const stat = nodeFs.lstatSync(join(dir, name), { throwIfNoEntry: false });
  if (stat?.isFile() !== true) return false;
  return stat.size > BLOCK_BYTES && stat.size <= PLAIN_BYTES_MAX;
}

/** Of a capture that is over. Throws the error of the system call; every byte is still there. */
export function packCapture(dir: string, io: PackOps = nodeFs): void {
  if (!checkCaptureDir(dir, io)) return; // swept away
  for (const name of PACKABLE) if (isPackable(dir, name)) packFile(dir, name, io);
  nodeFs.rmSync(join(dir, COPIES), { recursive: true, force: true });
}

/** What killed processes left half written. No reader sees it, and it may have plain bytes. */
export function removeTemps(dir: string): void {
  for (const name of namesIn(dir).filter((one) => one.endsWith(TEMP))) {
    nodeFs.rmSync(join(dir, name), { recursive: true, force: true });
  }
}

function packFile(dir: string, name: string, io: PackOps): void {
  const plain = fileIn(dir, name);
  if (plain === undefined) return;
  const [packed, table] = [`${name}${PACKED}`, `${name}${PACKED}${TABLE}`];
  try {
    const places = write(dir, packed, io, (fd) =>
      writeMembers((bytes) => writeAll(fd, bytes, io), plain),
    );
    const temps = [packed];
    if (places.length > 1) {
      write(dir, table, io, (fd) => writeAll(fd, encodeTable(places), io));
      temps.unshift(table); // a table without its file is passed over
    }
    for (const one of temps) io.renameSync(join(dir, `${one}${TEMP}`), join(dir, one));
    syncDirectory(dir, io);
    if (!holds(packedIn(dir, packed), plain)) throw changed(join(dir, packed));
    io.unlinkSync(join(dir, name));
    syncDirectory(dir, io);
  } catch (error) {
    for (const one of [packed, table]) nodeFs.rmSync(join(dir, `${one}${TEMP}`), { force: true });
    throw error;
  } finally {
    plain.close();
  }
}

/** Into a temporary file, which is on the disk when this returns. */
export function write<T>(dir: string, name: string, io: PackOps, fill: (fd: number) => T): T {
  const fd = openIn(dir, `${name}${TEMP}`, O_WRONLY | O_CREAT | O_TRUNC, 0o600, io);
  try {
    const filled = fill(fd);
    io.fsyncSync(fd);
    return filled;
  } finally {
    io.closeSync(fd);
  }
}

export function writeAll(fd: number, bytes: Uint8Array, io: PackOps): void {
  for (let done = 0; done < bytes.length; ) {
    done += io.writeSync(fd, bytes, done, bytes.length - done);
  }
}

/** Read back by the way that every reader takes. Closes what was found. */
export function holds(found: ByteSource | undefined, plain: ByteSource): boolean {
  try {
    return found !== undefined && isSame(found, plain);
  } finally {
    found?.close();
  }
}

/** Some file systems cannot. Then the names are as durable as they can be. */
export function syncDirectory(dir: string, io: PackOps): void {
  let fd: number | undefined;
  try {
    fd = io.openSync(dir, 'r');
    io.fsyncSync(fd);
  } catch (error) {
    if (process.platform === 'linux') throw error;
  } finally {
    if (fd !== undefined) io.closeSync(fd);
  }
}

export function changed(path: string): AppError {
  return new AppError('capture_damaged', `${path} does not read as it was written.`, {
    hint: 'The plain file stays. Look at the disk: it may be failing.',
  });
}
