// The lines of the file `leaves`, as bytes: what a leaf says is read by those who need to know.

import * as fs from 'node:fs';
import { openForReading, sealFile } from './place.ts';

const BLOCK_BYTES = 262_144;
const NEWLINE = 0x0a;

export type LeafLine = {
  /** With its `\n`. */
  readonly bytes: Buffer;
  /** Behind it. */
  readonly end: number;
};

/** Of the whole ledger; none where there is none. */
export function* ledgerLines(stateRoot: string): Generator<LeafLine, void, void> {
  const path = sealFile(stateRoot, 'leaves');
  if (!fs.existsSync(path)) return;
  const fd = openForReading(path);
  try {
    yield* leafLines(fd, 0, fs.fstatSync(fd).size);
  } finally {
    fs.closeSync(fd);
  }
}

/** Whole lines from a byte on, which must be the start of a line, up to `to`. */
export function* leafLines(fd: number, from: number, to: number): Generator<LeafLine, void, void> {
  /** Of a line whose end was not read yet. */
  let begun: Buffer[] = [];
  let start = from;
  for (let position = from; position < to; ) {
    const block = Buffer.alloc(Math.min(BLOCK_BYTES, to - position));
    const count = fs.readSync(fd, block, 0, block.length, position);
    if (count === 0) return;
    position += count;
    const read = block.subarray(0, count);
    let at = 0;
    for (let end = read.indexOf(NEWLINE); end >= 0; end = read.indexOf(NEWLINE, at)) {
      const bytes = Buffer.concat([...begun, read.subarray(at, end + 1)]);
      begun = [];
      start += bytes.length;
      at = end + 1;
      yield { bytes, end: start };
    }
    begun.push(read.subarray(at));
  }
}
