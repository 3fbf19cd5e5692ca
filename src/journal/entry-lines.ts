// The entries in the lines of one file that a crash, a full disk or a careless hand may have
// damaged. A line counts if it ends in `\n` and is an entry. In a line that is not, the entries
// that are whole are found again (two lines without a newline between them, runs of NUL, half a
// line before a whole one); one that is there twice counts once. Nothing is repaired, nothing
// throws.
import { isUtf8 } from 'node:buffer';
import * as fs from 'node:fs';
import { errnoOf } from '../errors.ts';
import type { Entry } from '../types.ts';
import { decodeEntry, ENTRY_START } from './entry.ts';
import { openToRead } from './files.ts';
import { Tally } from './metadata.ts';
import { type LineSource, lineState, openLines } from './packed/source.ts';
import { SequenceCheck, type SequenceFaults } from './sequence.ts';

const BLOCK_BYTES = 262_144;
// No entry is that long. What is longer is a hole or rubbish and must not fill the memory.
const LINE_BYTES_MAX = 134_217_728;
const NEWLINE = 0x0a;
const START = Buffer.from(ENTRY_START);

export type PlacedEntry = {
  readonly entry: Entry;
  /** Where its line begins, and behind its `\n`. */
  readonly offset: number;
  readonly end: number;
};

/** What is found out about the lines while the entries are read. */
export type LineDamage = {
  /** How many are no entries. */
  lines: number;
  /** One of them is the last one, which has no end. */
  torn?: boolean;
  /** Behind the last line that has an end. */
  end?: number;
  /** Follows the numbers of all entries, also of those that are there twice. */
  readonly sequence?: SequenceCheck;
};

export function* entriesOf(
  path: string,
  fromByte: number,
  damage: LineDamage,
): Generator<PlacedEntry, void, undefined> {
  const source = openLines(path);
  if (source !== undefined) yield* entriesIn(source, fromByte, damage);
}

/** Closes the source. */
export function* entriesIn(
  source: LineSource,
  fromByte: number,
  damage: LineDamage,
): Generator<PlacedEntry, void, undefined> {
  const seen = new Set<string>();
  for (const { bytes, offset, end, complete } of linesIn(source, fromByte)) {
    const whole = complete ? decodeBytes(bytes) : undefined;
    if (whole === undefined && bytes.length > 0) damage.lines += 1;
    if (!complete) {
      damage.torn = true;
      return;
    }
    const found = whole === undefined ? salvaged(bytes) : [{ entry: whole, length: bytes.length }];
    for (const { entry, length } of found) {
      damage.sequence?.add(entry.sequence_number);
      // The id alone would let a line put together from two hide the true one.
      const key = `${entry.entry_id} ${length}`;
      if (seen.has(key)) continue;
      seen.add(key);
      yield { entry, offset, end };
    }
    damage.end = end;
  }
}

/** Of packed entries only the facts are looked at: no key is needed. */
export function tallyOf(path: string): Tally {
  const source = openLines(path);
  const tally = new Tally(source?.stub?.facts);
  if (source === undefined) return tally;
  for (const { entry } of entriesIn(source, source.packedBytes, { lines: 0 })) tally.add(entry);
  return tally;
}

const NUMBER = /"sequence_number":\s*(\d+)/;
const NUMBER_BYTES = 4_096; // of a line, in which its number stands

/** Faults in the numbers of a file, without decoding its entries; damaged lines do not count. */
export function sequenceOf(path: string, expected: number): SequenceFaults | undefined {
  const source = openLines(path);
  if (source === undefined) return new SequenceCheck(expected).found;
  const check = new SequenceCheck(expected, source.stub?.facts.sequence);
  for (const { bytes, complete } of linesIn(source, source.packedBytes)) {
    const [, number] = NUMBER.exec(bytes.toString('latin1', 0, NUMBER_BYTES)) ?? [];
    if (complete && number !== undefined) check.add(Number(number));
  }
  return check.found;
}

/** The run has an entry in this file. */
export function hasEntryOfRun(path: string, runId: string): boolean {
  const { ids = [] } = lineState(path)?.stub?.facts ?? {};
  return ids.includes(runId) || entryOfRun(path, runId) !== undefined;
}

/** The entry that a run has in this file. */
export function entryOfRun(path: string, runId: string | null): Entry | undefined {
  const source = runId === null ? undefined : openLines(path);
  if (source === undefined) return undefined;
  const packed = source.stub?.facts.ids.includes(runId ?? '') === true;
  for (const { entry } of entriesIn(source, packed ? 0 : source.packedBytes, { lines: 0 })) {
    if (entry.run_id === runId) return entry;
  }
  return undefined;
}

/** The same; one that is encrypted for others is as if it were not there. */
export function readableEntryOfRun(path: string, runId: string): Entry | undefined {
  try {
    return entryOfRun(path, runId);
  } catch (error) {
    if (errnoOf(error) !== 'decryption_failed') throw error;
    return undefined;
  }
}

/** The entries whose ids begin with `start`. Other lines are not decoded. */
export function* entriesNamed(path: string, start: string): Generator<Entry, void, undefined> {
  const words = Buffer.from(`${ENTRY_START}${start}`);
  for (const { bytes, complete } of linesOf(path, 0)) {
    if (!complete || !bytes.includes(words)) continue;
    const whole = decodeBytes(bytes);
    const found = whole === undefined ? salvaged(bytes).map(({ entry }) => entry) : [whole];
    for (const entry of found) if (entry.entry_id.startsWith(start)) yield entry;
  }
}

/** The last line of a file has no `\n`: its writer died within it. */
export function endsTorn(path: string): boolean {
  const fd = openToRead(path);
  if (fd === undefined) return false;
  try {
    const { size } = fs.fstatSync(fd);
    const last = Buffer.alloc(1);
    return size > 0 && fs.readSync(fd, last, 0, 1, size - 1) === 1 && last[0] !== NEWLINE;
  } finally {
    fs.closeSync(fd);
  }
}

export type Line = {
  /** Without its `\n`. */
  readonly bytes: Buffer;
  readonly offset: number;
  readonly end: number;
  readonly complete: boolean;
};

/** The lines of a file as they are, the unfinished last one included. */
export function* linesOf(path: string, fromByte: number): Generator<Line, void, undefined> {
  const source = openLines(path);
  if (source !== undefined) yield* linesIn(source, fromByte);
}

/** Closes the source. */
export function* linesIn(source: LineSource, fromByte: number): Generator<Line, void, undefined> {
  try {
    let offset = fromByte;
    let pending: Buffer[] = [];
    let length = 0;
    for (const block of blocksOf(source, fromByte)) {
      let at = 0;
      for (let newline = block.indexOf(NEWLINE); newline >= 0; ) {
        const bytes = joined(pending, block.subarray(at, newline));
        const end = offset + bytes.length + 1;
        yield { bytes, offset, end, complete: true };
        offset = end;
        pending = [];
        length = 0;
        at = newline + 1;
        newline = block.indexOf(NEWLINE, at);
      }
      pending.push(block.subarray(at));
      length += block.length - at;
      if (length > LINE_BYTES_MAX) {
        yield { bytes: joined(pending), offset, end: offset + length, complete: true };
        offset += length;
        pending = [];
        length = 0;
      }
    }
    const bytes = joined(pending);
    if (length > 0) yield { bytes, offset, end: offset + length, complete: false };
  } finally {
    source.close();
  }
}

function joined(pending: readonly Buffer[], last: Buffer = Buffer.alloc(0)): Buffer {
  return pending.length === 0 ? last : Buffer.concat([...pending, last]);
}

/** Up to where the file ended when it was opened; what is appended is for the next reader. */
function* blocksOf(source: LineSource, from: number): Generator<Buffer, void, undefined> {
  for (let position = from; position < source.size; ) {
    const bytes = source.read(position, Math.min(BLOCK_BYTES, source.size - position));
    if (bytes.length === 0) return;
    yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    position += bytes.length;
  }
}

function decodeBytes(bytes: Buffer): Entry | undefined {
  return isUtf8(bytes) ? decodeEntry(bytes.toString('utf8')) : undefined;
}

/** The whole entries inside a damaged line: each from where an entry starts to its last brace. */
function salvaged(bytes: Buffer): { entry: Entry; length: number }[] {
  const found: { entry: Entry; length: number }[] = [];
  for (let start = bytes.indexOf(START); start >= 0; ) {
    const next = bytes.indexOf(START, start + 1);
    const end = objectEnd(bytes, start, next < 0 ? bytes.length : next);
    const entry = end < 0 ? undefined : decodeBytes(bytes.subarray(start, end));
    if (entry !== undefined) found.push({ entry, length: end - start });
    start = next;
  }
  return found;
}

const [QUOTE, BACKSLASH, OPEN, CLOSE] = [0x22, 0x5c, 0x7b, 0x7d];

/** Behind the brace that closes the one at `start`, or -1. */
function objectEnd(bytes: Buffer, start: number, limit: number): number {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < limit; at += 1) {
    const byte = bytes[at];
    if (quoted) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) quoted = false;
    } else if (byte === QUOTE) quoted = true;
    else if (byte === OPEN) depth += 1;
    else if (byte === CLOSE) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}
