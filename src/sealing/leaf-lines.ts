// The lines of the file `leaves`, as bytes: what a leaf says is read by those who need to know.

import * as fs from 'node:fs';

const BLOCK_BYTES = 262_144;
const NEWLINE = 0x0a;

export type LeafLine = {
  /** With its `\n`. */
  readonly bytes: Buffer;
  /** Behind it. */
  readonly end: number;
};

/** Whole lines from a byte on, which must be the start of a line, up to `to`. */
export function* leafLines(fd: number, from: number, to: number): Generator<LeafLine, void, void> {
  let rest: Buffer = Buffer.alloc(0);
  let start = from;
  for (let position = from; position < to; ) {
    const block = Buffer.alloc(Math.min(BLOCK_BYTES, to - position));
    const count = fs.readSync(fd, block, 0, block.length, position);
    if (count === 0) return;
    position += count;
    rest = Buffer.concat([rest, block.subarray(0, count)]);
    let at = 0;
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE, at)) {
      const bytes = rest.subarray(at, end + 1);
      start += bytes.length;
      at = end + 1;
      yield { bytes, end: start };
    }
    rest = rest.subarray(at);
  }
}
