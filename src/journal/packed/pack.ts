// Packs the lines of a session's file. They go into a segment that is written beside it, synced,
// given its name, read back and compared; only then does a stub that names the segment take their
// place, in one rename. So whenever this is cut off, every line is there, and once: a segment that
// no stub names is not read, and is removed by the next call. The caller has the right to write
// the file.
import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Encryption } from '../../age/file.ts';
import type { Recipient } from '../../age/recipients.ts';
import { type ByteSource, isSame, pieces } from '../../bgzf/bytes.ts';
import { packedSource } from '../../bgzf/source.ts';
import { writeMembers } from '../../bgzf/write.ts';
import { AppError } from '../../errors.ts';
import { DISK, type Disk, errno, openTemp, openToRead, writeNow } from '../files.ts';
import { EDITS, LATER } from '../ids.ts';
import { replaceWith, syncFolder } from '../rewrite.ts';
import { factsOf, type LineKind } from './facts.ts';
import { fileSource, type LineSource, nextName, openLines } from './source.ts';
import { encodeStub, numberOf, type Segment, type Stub } from './stub.ts';

const NEWLINE = 0x0a;

export type PackTerms = {
  readonly recipients: readonly Recipient[];
  /** Lines up to here, which must be the start of one; all of them where nothing is said. */
  readonly upTo?: number | undefined;
  readonly disk?: Disk | undefined;
};

/** False where there is nothing to pack. Rejects with the error of the system call. */
export async function packLines(path: string, terms: PackTerms): Promise<boolean> {
  const { recipients, disk = DISK } = terms;
  const source = openLines(path);
  if (source === undefined) return false;
  try {
    const { stub, packedBytes, size } = source;
    removeStrays(path, stub);
    const end = Math.min(terms.upTo ?? size, size);
    if (end <= packedBytes) return false;
    const lines = wholeLines(source, packedBytes, end);
    const segment = await writeSegment(path, stub, lines, { recipients, disk });
    const facts = factsOf(linesUpTo(source, end), packedBytes, kindOf(path), stub?.facts);
    const segments = [...(stub?.segments ?? []), segment];
    const rest = partOf(source, end, size);
    await putStub(path, { segments, facts }, rest, source.stat, disk);
    return true;
  } finally {
    source.close();
  }
}

/**
 * Other lines in the place of all that a packed file has, packed as they were. The old segments go.
 */
export async function repackLines(
  path: string,
  changed: Uint8Array,
  { recipients, disk = DISK }: PackTerms,
): Promise<void> {
  const source = openLines(path);
  if (source === undefined) throw errno('ENOENT', 'it is gone');
  try {
    removeStrays(path, source.stub);
    const lines = bytesSource(changed);
    const segment = await writeSegment(path, source.stub, lines, { recipients, disk });
    const all = { ...source, stub: undefined, packedBytes: 0, ...bytesSource(changed) };
    const stub = { segments: [segment], facts: factsOf(all, 0, kindOf(path), undefined) };
    await putStub(path, stub, bytesSource(new Uint8Array()), source.stat, disk);
    removeStrays(path, stub);
    await syncFolder(dirname(path), disk);
  } finally {
    source.close();
  }
}

function kindOf(path: string): LineKind {
  if (path.endsWith(`${LATER}.jsonl`)) return 'later';
  return path.endsWith(`${EDITS}.jsonl`) ? 'edits' : 'entries';
}

async function putStub(
  path: string,
  stub: Stub,
  rest: ByteSource,
  stat: fs.Stats,
  disk: Disk,
): Promise<void> {
  const head = [Buffer.from(encodeStub(stub))];
  await replaceWith(path, [head, pieces(rest, 0, rest.size)], stat, disk);
}

async function writeSegment(
  path: string,
  stub: Stub | undefined,
  lines: ByteSource,
  { recipients, disk }: { readonly recipients: readonly Recipient[]; readonly disk: Disk },
): Promise<Segment> {
  const name = nextName(stub?.segments ?? [], basename(path));
  const target = join(dirname(path), name);
  const encryption = new Encryption(recipients);
  const { fd, temp } = openTemp(target, disk);
  try {
    try {
      const put = (bytes: Uint8Array): void => writeNow(fd, bytes, disk);
      put(encryption.head);
      writeMembers((bytes) => put(encryption.push(bytes)), lines);
      put(encryption.end());
      await disk.sync(fd);
    } finally {
      disk.closeSync(fd);
    }
    disk.renameSync(temp, target);
  } catch (error) {
    fs.rmSync(temp, { force: true });
    throw error;
  }
  await syncFolder(dirname(path), disk, { strict: true });
  if (!readsAs(target, encryption, lines)) throw unlike(target);
  return { name, bytes: lines.size };
}

/** Read back by the way that every reader takes. */
function readsAs(path: string, encryption: Encryption, lines: ByteSource): boolean {
  const fd = openToRead(path);
  if (fd === undefined) return false;
  try {
    const file = fileSource(fd);
    const { size, read } = encryption.open(file, path);
    return isSame(packedSource({ ...file, size, read }, undefined, path), lines);
  } finally {
    fs.closeSync(fd);
  }
}

function unlike(path: string): AppError {
  return new AppError('capture_damaged', `${path} does not read as it was written.`, {
    hint: 'The plain lines stay. Look at the disk: it may be failing.',
  });
}

/** What a killed packer left, encrypted or half written. */
function removeStrays(path: string, stub: Stub | undefined): void {
  const base = basename(path);
  const named = new Set(stub?.segments.map(({ name }) => name));
  for (const name of fs.readdirSync(dirname(path))) {
    if (!name.startsWith(`${base}.`) || named.has(name)) continue;
    const rest = name.slice(base.length).replace(/\.\d+-\d+\.tmp$/, '');
    const stray = rest === '' || numberOf(`${base}${rest}`, base) > 0;
    if (stray) fs.rmSync(join(dirname(path), name), { force: true });
  }
}

function linesUpTo(source: LineSource, end: number): LineSource {
  return { ...source, size: end, close: () => undefined };
}

/** A line that a crash cut off gets its end, as it does when a session is gone on with. */
function wholeLines(source: LineSource, from: number, to: number): ByteSource {
  const part = partOf(source, from, to);
  const [last] = part.read(part.size - 1, 1);
  if (last === NEWLINE) return part;
  const end = Buffer.from('\n');
  return {
    ...part,
    size: part.size + 1,
    read: (position, length) => {
      const bytes = part.read(position, length);
      return bytes.length < length && position + bytes.length === part.size
        ? Buffer.concat([bytes, end])
        : bytes;
    },
  };
}

/** Plain bytes; those that the disk does not give are an error. */
function partOf(source: LineSource, from: number, to: number): ByteSource {
  const size = to - from;
  const read = (position: number, length: number): Uint8Array => {
    const wanted = Math.max(0, Math.min(length, size - position));
    const parts: Uint8Array[] = [];
    for (let done = 0; done < wanted; ) {
      const bytes = source.read(from + position + done, wanted - done);
      if (bytes.length === 0) throw errno('EIO', 'the file became shorter');
      parts.push(bytes);
      done += bytes.length;
    }
    return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts);
  };
  return { size, changedAt: source.stat.mtimeMs, read, close: () => undefined };
}

function bytesSource(bytes: Uint8Array): ByteSource {
  const read = (position: number, length: number): Uint8Array =>
    bytes.subarray(position, position + Math.max(0, length));
  return { size: bytes.length, changedAt: 0, read, close: () => undefined };
}
