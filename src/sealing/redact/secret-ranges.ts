// Where a secret is in files, a block at a time.

import * as fs from 'node:fs';
import type { ByteSource } from '../../capture/byte-source.ts';
import { openToRead } from '../../journal/files.ts';
import type { OneSecret, Range } from '../../text/secrets/one-secret.ts';

const BLOCK_BYTES = 1_048_576;
/** A document that is longer is searched as bytes. */
const JSON_BYTES_MAX = 67_108_864;

/** Empty for what is no regular file, or cannot be read. */
export function secretRanges(path: string, secret: OneSecret): readonly Range[] {
  const source = fileSource(path);
  if (source === undefined) return [];
  try {
    const found = secretRangesIn(source, secret);
    const json = /\.(?:jsonl?|intent)$/.test(path) && source.size <= JSON_BYTES_MAX;
    return json && found.length > 0 ? insideStrings(source, found) : found;
  } finally {
    source.close();
  }
}

type Source = Pick<ByteSource, 'size' | 'read'>;

export function secretRangesIn(source: Source, secret: OneSecret): readonly Range[] {
  const found: Range[] = [];
  for (let at = 0; at < source.size; at += BLOCK_BYTES) {
    const block = Buffer.from(source.read(at, BLOCK_BYTES + secret.lengthMax));
    for (const [from, to] of secret.rangesIn(block.toString('latin1'))) {
      // One that begins behind the block belongs to the next.
      const last = found.at(-1)?.[1] ?? 0;
      if (from < BLOCK_BYTES && at + from >= last) found.push([at + from, at + to]);
    }
  }
  return found;
}

/** Undefined for what is no regular file, or cannot be read. */
export function fileSource(path: string): (Source & Pick<ByteSource, 'close'>) | undefined {
  const fd = openToRead(path);
  if (fd === undefined) return undefined;
  const read = (position: number, length: number): Uint8Array => {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, fs.readSync(fd, bytes, 0, length, position));
  };
  return { size: fs.fstatSync(fd).size, read, close: () => fs.closeSync(fd) };
}

/** Digits of a number are no secret, and a `*` among them would spoil the document. */
function insideStrings(source: Source, ranges: readonly Range[]): readonly Range[] {
  const text = Buffer.from(source.read(0, source.size)).toString('latin1');
  const strings = [...text.matchAll(/"(?:[^"\\\n]|\\.)*"/g)];
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
