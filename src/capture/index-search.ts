// Finds records of index.jsonl without reading all of it: every number in it only grows, so a
// binary search over blocks of the file finds where one of them passes a value. A block is judged
// by its middle record, so that a few repeated or misplaced lines do no harm.
import { readLines } from '../text/line-reader.ts';
import { type ByteSource, recordsFrom } from './byte-source.ts';
import type { IndexRecord } from './format.ts';
import { INDEX_LINES } from './index-line.ts';

const BLOCK_BYTES = 4096;
const RECORD_BYTES_MAX = 1024; // ours are below 400
const LINE_BYTES_MAX = 1_048_576; // NULs beyond this are taken for the end of what can be found
const TRUSTED_MIN = 8; // an intact block has at least ten records, and mostly thirty
const NEWLINE = 0x0a;

/** A number of a record that never falls from one record to the next. */
export type Key = (record: IndexRecord) => number;

export const endOf: Key = (record) => record.offset + record.length;

/** The records from where `key` is about to pass `target`, in the order of the file. */
export function* recordsAround(
  index: ByteSource,
  key: Key,
  target: number,
): Generator<IndexRecord> {
  const block = blockBefore(index, key, target);
  const start = block * BLOCK_BYTES;
  yield* recordsFrom(index, start === 0 ? 0 : lineStart(index, start), INDEX_LINES);
}

export type Neighbours = {
  /** The last record whose key is at most the target. */
  readonly before: IndexRecord | undefined;
  /** The first record whose key is above it. */
  readonly after: IndexRecord | undefined;
};

export function neighbours(index: ByteSource, key: Key, target: number): Neighbours {
  let before: IndexRecord | undefined;
  let after: IndexRecord | undefined;
  const count = blockCount(index);
  // One block more than needed: the record before may be the last one there.
  for (let block = Math.max(0, blockBefore(index, key, target) - 1); block < count; block += 1) {
    const records = blockRecords(index, block);
    for (const record of records) {
      if (key(record) <= target) before = before && later(before, record, key) ? before : record;
      else after = after && !later(after, record, key) ? after : record;
    }
    if ((middle(records, key) ?? Number.NEGATIVE_INFINITY) > target) break;
  }
  return { before, after };
}

/** `a` stands behind `b`: by key, and where that says nothing, by offset. */
function later(a: IndexRecord, b: IndexRecord, key: Key): boolean {
  return key(a) === key(b) ? a.offset > b.offset : key(a) > key(b);
}

/** The last block that is mostly not above the target; the first one when there is none. */
function blockBefore(index: ByteSource, key: Key, target: number): number {
  let low = 0;
  let high = blockCount(index);
  // Most questions are about the end.
  let probe = high - 1;
  while (high - low > 1) {
    let found = probe;
    let value = middle(blockRecords(index, found), key);
    while (value === undefined && found + 1 < high) {
      found += 1;
      value = middle(blockRecords(index, found), key);
    }
    if (value === undefined || value > target) high = probe;
    else low = found;
    probe = (low + high) >> 1;
  }
  return low;
}

/** The last block also has what is too little for one of its own. */
function blockCount(index: ByteSource): number {
  return Math.max(1, Math.floor(index.size / BLOCK_BYTES));
}

/** The intact records of the lines that start in a block. */
function blockRecords(index: ByteSource, block: number): IndexRecord[] {
  const start = block * BLOCK_BYTES;
  const last = block === blockCount(index) - 1;
  const end = last ? index.size : start + BLOCK_BYTES;
  const from = Math.max(0, start - 1);
  const bytes = wholeLines(index, from, end);
  const first = start === 0 ? 0 : bytes.indexOf(NEWLINE) + 1;
  const limit = end - from;
  if ((start > 0 && first === 0) || first >= limit) return [];
  // The line that holds the block's last byte is the last one that starts in it.
  const newline = bytes.indexOf(NEWLINE, limit - 1);
  const lines = bytes.subarray(first, newline < 0 ? bytes.length : newline + 1);
  return [...readLines(lines, INDEX_LINES).records];
}

/**
 * From `from` to behind the line that holds the byte before `end`. Nearly always that ends soon;
 * where NULs took newlines away, it is as long as they are, and has whole records at both ends.
 */
function wholeLines(index: ByteSource, from: number, end: number): Uint8Array {
  const bytes = index.read(from, end + RECORD_BYTES_MAX - from);
  const behind = from + bytes.length;
  if (behind >= index.size || bytes.indexOf(NEWLINE, end - from - 1) >= 0) return bytes;
  const next = lineStart(index, behind + 1);
  return next - from > LINE_BYTES_MAX ? bytes : index.read(from, next - from);
}

/** Where the first line starts that starts at or behind `position`. */
function lineStart(index: ByteSource, position: number): number {
  for (let at = position - 1; at < index.size; at += BLOCK_BYTES) {
    const newline = index.read(at, BLOCK_BYTES).indexOf(NEWLINE);
    if (newline >= 0) return at + newline + 1;
  }
  return index.size;
}

/** Undefined for a block that damage has left too little of to be sure. */
function middle(records: readonly IndexRecord[], key: Key): number | undefined {
  if (records.length < TRUSTED_MIN) return undefined;
  const values = records.map(key).sort((a, b) => a - b);
  return values[(values.length - 1) >> 1];
}
