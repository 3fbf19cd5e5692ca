// Where a secret is in files, a block at a time.

import * as fs from 'node:fs';
import { openToRead } from '../../journal/files.ts';
import type { OneSecret, Range } from '../../text/secrets/one-secret.ts';

const BLOCK_BYTES = 1_048_576;
/** A document that is longer is searched as bytes. */
const JSON_BYTES_MAX = 67_108_864;

/** Empty for what is no regular file, or cannot be read. */
export function secretRanges(path: string, secret: OneSecret): readonly Range[] {
  const fd = openToRead(path);
  if (fd === undefined) return [];
  try {
    const { size } = fs.fstatSync(fd);
    const found: Range[] = [];
    const block = Buffer.alloc(BLOCK_BYTES + secret.lengthMax);
    for (let at = 0; at < size; at += BLOCK_BYTES) {
      const count = fs.readSync(fd, block, 0, block.length, at);
      for (const [from, to] of secret.rangesIn(block.toString('latin1', 0, count))) {
        // One that begins behind the block belongs to the next.
        const last = found.at(-1)?.[1] ?? 0;
        if (from < BLOCK_BYTES && at + from >= last) found.push([at + from, at + to]);
      }
    }
    const json = /\.(?:jsonl?|intent)$/.test(path) && size <= JSON_BYTES_MAX && found.length > 0;
    return json ? insideStrings(fd, size, found) : found;
  } finally {
    fs.closeSync(fd);
  }
}

/** Digits of a number are no secret, and a `*` among them would spoil the document. */
function insideStrings(fd: number, size: number, ranges: readonly Range[]): readonly Range[] {
  const bytes = Buffer.alloc(size);
  fs.readSync(fd, bytes, 0, size, 0);
  const strings = [...bytes.toString('latin1').matchAll(/"(?:[^"\\\n]|\\.)*"/g)];
  let next = 0;
  return ranges.filter(([from, to]) => {
    while (next < strings.length && endOf(strings[next]) < to) next += 1;
    const one = strings[next];
    return one !== undefined && one.index < from && to < endOf(one);
  });
}

function endOf(match: RegExpMatchArray | undefined): number {
  return match === undefined ? 0 : (match.index ?? 0) + match[0].length;
}
