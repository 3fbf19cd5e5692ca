// A file of a session as the lines that were written into it, wherever they lie by now: the one
// place that knows how such files are stored. The older lines may be packed in segments that are
// encrypted (`stub.ts`); the others stand plain behind the stub. Offsets are those that the lines
// had when all of them were plain.
import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { decrypted } from '../../age/decryption.ts';
import type { ByteSource } from '../../bgzf/bytes.ts';
import { packedSource } from '../../bgzf/source.ts';
import { isAppError } from '../../errors.ts';
import { printable } from '../../text/printable.ts';
import { openToRead, plainFile } from '../files.ts';
import { EDITS, LATER } from '../ids.ts';
import { decodeStub, numberOf, type Segment, STUB_START, type Stub, segmentName } from './stub.ts';

const BLOCK_BYTES = 65_536;
const STUB_BYTES_MAX = 134_217_728;
const NEWLINE = 0x0a;

export type LineSource = {
  /** Of all its lines, as it was opened. */
  readonly size: number;
  /** Undefined where all lines are plain. */
  readonly stub: Stub | undefined;
  /** Of the lines that are packed: what is behind them is plain. */
  readonly packedBytes: number;
  readonly stat: fs.Stats;
  /**
   * At most `length` bytes from `position`; fewer at the end, and where the disk fails. Throws
   * `decryption_failed` for packed lines that no identity here reads.
   */
  read(position: number, length: number): Uint8Array;
  close(): void;
};

export type SourceOptions = {
  /** Damaged segments are errors. Otherwise they read as NULs, which no line has. */
  readonly strict?: boolean;
};

/** Undefined where there is no regular file that may be read. */
export function openLines(path: string, options: SourceOptions = {}): LineSource | undefined {
  const fd = openToRead(path);
  if (fd === undefined) return undefined;
  try {
    return linesFrom(fd, path, options);
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
}

function linesFrom(fd: number, path: string, { strict = false }: SourceOptions): LineSource {
  const stat = fs.fstatSync(fd);
  const head = headOf(fd, basename(path));
  const segments = (head?.stub.segments ?? []).map((one) => bounded(one, path));
  const packedBytes = segments.reduce((sum, { bytes }) => sum + bytes, 0);
  const skip = head?.length ?? 0;
  const packed = new Segments(path, segments, strict);
  let open = true;
  return {
    size: packedBytes + stat.size - skip,
    stub: head?.stub,
    packedBytes,
    stat,
    read: (position, length) =>
      position < packedBytes
        ? packed.read(position, Math.min(length, packedBytes - position))
        : readAt(fd, position - packedBytes + skip, length),
    close() {
      if (!open) return; // generators close what they read, and callers what they opened
      open = false;
      packed.close();
      fs.closeSync(fd);
    },
  };
}

/** A stub may say anything of a segment; no file has so many lines in so few bytes. */
function bounded({ name, bytes }: Segment, path: string): Segment {
  const size = plainFile(join(dirname(path), name))?.size ?? 0;
  return { name, bytes: Math.min(bytes, 2 + size * RATIO_MAX) };
}

const RATIO_MAX = 1100; // what deflating can save at most

/** What it says of lines that are packed, and the size of all; undefined where there is no file. */
export function lineState(path: string): Pick<LineSource, 'size' | 'stub'> | undefined {
  const source = openLines(path);
  source?.close();
  return source && { size: source.size, stub: source.stub };
}

/** Where its packed lines lie, and where a packer would put the next ones. */
export function segmentPaths(path: string): string[] {
  const { segments = [] } = lineState(path)?.stub ?? {};
  const names = [...segments.map(({ name }) => name), nextName(segments, basename(path))];
  return names.map((name) => join(dirname(path), name));
}

/** Numbers are not used again: a reader may still look for the segment of an old stub. */
export function nextName(segments: readonly Segment[], base: string): string {
  return segmentName(base, 1 + Math.max(0, ...segments.map(({ name }) => numberOf(name, base))));
}

/** All of it; undefined where there is no file. */
export function readAllLines(path: string): Buffer | undefined {
  const source = openLines(path);
  try {
    return source && readAll(source, 0);
  } finally {
    source?.close();
  }
}

/** From `position` on, as far as the disk gives it. */
export function readAll(source: LineSource, position: number): Buffer {
  const parts: Uint8Array[] = [];
  for (let at = position; at < source.size; ) {
    const bytes = source.read(at, source.size - at);
    if (bytes.length === 0) break;
    parts.push(bytes);
    at += bytes.length;
  }
  return Buffer.concat(parts);
}

function headOf(fd: number, base: string): { stub: Stub; length: number } | undefined {
  const start = readAt(fd, 0, STUB_START.length);
  if (Buffer.from(start).toString('latin1') !== STUB_START) return undefined;
  const parts: Uint8Array[] = [];
  for (let at = 0; at < STUB_BYTES_MAX; ) {
    const block = readAt(fd, at, BLOCK_BYTES);
    const end = block.indexOf(NEWLINE);
    if (end >= 0 || block.length === 0) {
      const line = Buffer.concat([...parts, block.subarray(0, Math.max(0, end))]);
      const stub = end < 0 ? undefined : decodeStub(line.toString('utf8'), base);
      return stub && { stub, length: line.length + 1 };
    }
    parts.push(block);
    at += block.length;
  }
  return undefined;
}

function readAt(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.max(0, length));
  try {
    return bytes.subarray(0, fs.readSync(fd, bytes, 0, bytes.length, position));
  } catch {
    return bytes.subarray(0, 0); // EIO: what lies behind a bad sector is out of reach
  }
}

/** The segment that was read last stays open: lines are read in order. */
class Segments {
  readonly #path: string;
  readonly #segments: readonly Segment[];
  readonly #strict: boolean;
  #open: { readonly segment: Segment; readonly source: ByteSource | undefined } | undefined;

  constructor(path: string, segments: readonly Segment[], strict: boolean) {
    this.#path = path;
    this.#segments = segments;
    this.#strict = strict;
  }

  /** Of the segment in which `position` lies. */
  read(position: number, length: number): Uint8Array {
    let from = 0;
    for (const segment of this.#segments) {
      const inside = position - from;
      if (inside < segment.bytes) {
        return this.#readIn(segment, inside, Math.min(length, segment.bytes - inside, BLOCK_MAX));
      }
      from += segment.bytes;
    }
    return new Uint8Array();
  }

  #readIn(segment: Segment, at: number, length: number): Uint8Array {
    try {
      const bytes = this.#sourceOf(segment)?.read(at, length);
      if (bytes?.length === length) return bytes;
    } catch (error) {
      if (this.#strict || !isAppError(error) || error.code !== 'capture_damaged') throw error;
    }
    if (this.#strict) throw damagedSegment(this.#path, segment);
    const nothing = Buffer.alloc(length);
    if (at + length === segment.bytes) nothing[length - 1] = NEWLINE; // the next line is whole
    return nothing;
  }

  /** Undefined for one that is gone. */
  #sourceOf(segment: Segment): ByteSource | undefined {
    if (this.#open?.segment === segment) return this.#open.source;
    this.close();
    const source = openSegment(join(dirname(this.#path), segment.name), this.#path);
    this.#open = { segment, source };
    return source?.size === segment.bytes ? source : undefined;
  }

  close(): void {
    this.#open?.source?.close();
    this.#open = undefined;
  }
}

const BLOCK_MAX = 1_048_576; // decrypted at a time

const BESIDE = new RegExp(`(\\${LATER}|\\${EDITS})?\\.jsonl$`);

function openSegment(path: string, of: string): ByteSource | undefined {
  const fd = openToRead(path);
  if (fd === undefined) return undefined;
  try {
    const file = fileSource(fd);
    const what = `The session ${printable(basename(of).replace(BESIDE, ''))}`;
    // The identities are those of the user of this process, as its environment names them.
    const bytes = decrypted(file, path, what, process.env);
    return packedSource({ ...file, size: bytes.size, read: bytes.read }, undefined, path);
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
}

export function fileSource(fd: number): ByteSource {
  const { size, mtimeMs } = fs.fstatSync(fd);
  return {
    size,
    changedAt: mtimeMs,
    read: (position, length) => readAt(fd, position, Math.min(length, size - position)),
    close: () => fs.closeSync(fd),
  };
}

function damagedSegment(path: string, { name }: Segment): Error {
  return Object.assign(new Error(`EIO: ${join(dirname(path), name)} is damaged or gone`), {
    code: 'EIO',
  });
}
