// Decodes trace.bin into frames. Any process that may write to the file may also spoil it, and a
// full disk tears frames in two: frames whose check fails are skipped, and the next frame is found
// by its magic. Never throws, and looks at every byte a bounded number of times.

import { decodeFrame, type Wanted } from './decode-frame.ts';
import {
  FRAME_BYTES_MAX,
  FRAME_HEAD_BYTES,
  FRAME_MAGIC,
  type Frame,
  HEADER_BYTES,
  HEADER_MAGIC,
  TRACE_VERSION,
  type TraceHeader,
  type TraceMode,
} from './format.ts';

export type DecodedTrace = {
  /** Undefined when the file does not begin as one of this version does. */
  readonly header: TraceHeader | undefined;
  /** In the order of the file. Without a header their times count from the start of the system. */
  readonly frames: Frame[];
  /** Bytes that belong to neither. */
  readonly damagedBytes: number;
};

const MODES: Readonly<Record<number, TraceMode>> = { 1: 'socket', 2: 'pipe', 3: 'pty' };
const FOLLOWS = 1;
const VERSION_AT = 8;
const ID_AT = 104;
const ID_BYTES = 128;
const ENV_AT = ID_AT + ID_BYTES;
const MAGIC = Buffer.alloc(4);
MAGIC.writeUInt32LE(FRAME_MAGIC);

export const CHECK_AT = 12;

export function decodeTrace(bytes: Uint8Array, wanted: Wanted = 'everything'): DecodedTrace {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const header = decodeHeader(file);
  if (header === undefined && isOtherVersion(file)) {
    return { header, frames: [], damagedBytes: file.length };
  }
  const frames: Frame[] = [];
  const offsetNs = header?.offsetNs ?? 0n;
  const start = header === undefined ? 0 : HEADER_BYTES;
  let known = start;
  for (const [at, length] of wholeFrames(file, start)) {
    const frame = decodeFrame(file.subarray(at, at + length), offsetNs, wanted);
    if (frame === undefined) continue;
    frames.push(frame);
    known += length;
  }
  return { header, frames, damagedBytes: file.length - known };
}

function decodeHeader(file: Buffer): TraceHeader | undefined {
  if (file.length < HEADER_BYTES || !hasMagic(file)) return undefined;
  const [version, headerBytes] = [file.readUInt32LE(VERSION_AT), file.readUInt32LE(12)];
  const mode = MODES[file.readUInt32LE(32)];
  if (version !== TRACE_VERSION || headerBytes !== HEADER_BYTES) return undefined;
  if (mode === undefined) return undefined;
  const wallNs = file.readBigUInt64LE(16);
  const stream = (at: number): string =>
    `${file.readBigUInt64LE(at)}:${file.readBigUInt64LE(at + 8)}`;
  return {
    captureId: textOf(file.subarray(ID_AT, ID_AT + ID_BYTES)),
    mode,
    runnerPid: file.readUInt32LE(36),
    offsetNs: wallNs - file.readBigUInt64LE(24),
    startedNs: wallNs,
    follows: (file.readUInt32LE(88) & FOLLOWS) !== 0,
    merged: stream(56) === stream(72),
    pidNamespace: file.readUInt32LE(92),
    envNames: namesOf(file.subarray(ENV_AT, HEADER_BYTES), file.readUInt32LE(96)),
  };
}

/** At most `count` texts, each with a NUL behind it; the field is mostly empty. */
function namesOf(field: Buffer, count: number): string[] {
  const names: string[] = [];
  for (let at = 0; names.length < count; ) {
    const end = field.indexOf(0, at);
    names.push(field.toString('utf8', at, end < 0 ? field.length : end));
    if (end < 0) break;
    at = end + 1;
  }
  return names;
}

function hasMagic(file: Buffer): boolean {
  return file.toString('latin1', 0, HEADER_MAGIC.length) === HEADER_MAGIC;
}

/** Its frames may mean something else. */
function isOtherVersion(file: Buffer): boolean {
  return file.length >= 12 && hasMagic(file) && file.readUInt32LE(VERSION_AT) !== TRACE_VERSION;
}

function textOf(field: Buffer): string {
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? field.length : end);
}

/**
 * Places and lengths of what holds its check. A false head may claim 64 KiB, and a file full of
 * false heads would make every one of them cost so much: after as much wasted work as the file is
 * long, only frames with no other head inside are looked at.
 */
export function* wholeFrames(file: Buffer, start: number): Generator<readonly [number, number]> {
  let wasteMax = file.length + FRAME_BYTES_MAX;
  let at = file.indexOf(MAGIC, start);
  while (at >= 0) {
    const length = claimedLength(file, at);
    const next = length === 0 || wasteMax > 0 ? -1 : file.indexOf(MAGIC, at + 1);
    const looked = length > 0 && (next < 0 || next >= at + length);
    if (looked && holdsCheck(file, at, length)) {
      yield [at, length];
      at = file.indexOf(MAGIC, at + length);
    } else {
      if (looked) wasteMax -= length;
      at = next >= 0 ? next : file.indexOf(MAGIC, at + 1);
    }
  }
}

/** 0 when there cannot be a whole frame. */
function claimedLength(file: Buffer, at: number): number {
  if (at + FRAME_HEAD_BYTES > file.length) return 0;
  const length = file.readUInt32LE(at + 8);
  const possible = length >= FRAME_HEAD_BYTES && length <= FRAME_BYTES_MAX && length % 8 === 0;
  return possible && at + length <= file.length ? length : 0;
}

function holdsCheck(file: Buffer, at: number, length: number): boolean {
  return frameCheck(file.subarray(at, at + length)) === file.readUInt32LE(at + CHECK_AT);
}

/** FNV-1a, 32 bit, over a frame, with 0 for the check itself. */
export function frameCheck(frame: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < frame.length; i += 1) {
    const byte = i >= CHECK_AT && i < CHECK_AT + 4 ? 0 : (frame[i] ?? 0);
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  return hash >>> 0;
}
