// Writes `*` over bytes where they stand, so that a file keeps its length and every place in it its
// meaning. Line ends stay: lines that were counted are as many afterwards. Pages that do not change
// are not written, so that the hole in a large capture stays one.

import * as fs from 'node:fs';
import type { ByteSource } from '../../capture/byte-source.ts';
import type { ByteRange } from '../../ledger/tokens.ts';

const BLOCK_BYTES = 262_144;
const PAGE_BYTES = 4_096;
const [STAR, LINE_FEED, RETURN] = [0x2a, 0x0a, 0x0d];

/** The calls that write, so that tests can make each of them fail. */
export type BytesDisk = Pick<typeof fs, 'openSync' | 'writeSync' | 'fsyncSync' | 'closeSync'>;

/** On the disk when it returns. Throws the error of the system call; no link is followed. */
export function overwriteBytes(
  path: string,
  ranges: readonly ByteRange[],
  disk: BytesDisk = fs,
): void {
  rewriteBytes(path, (block, at) => starred(block, at, ranges), { disk });
}

/** The same bytes as they would be then, for a file that is not changed where it stands. */
export function overwritten(source: ByteSource, ranges: readonly ByteRange[]): ByteSource {
  const read = (position: number, length: number): Uint8Array => {
    const before = position % PAGE_BYTES; // whole pages, so that every read finds the same holes
    const pages = Math.ceil((before + Math.max(0, length)) / PAGE_BYTES) * PAGE_BYTES;
    const block = Buffer.from(source.read(position - before, pages));
    starred(block, position - before, ranges);
    return block.subarray(before, before + length);
  };
  return { ...source, read };
}

/**
 * `change` makes a block of bytes, which begins at a place in the file, what it shall be.
 * `whole`: all of the file is one block.
 */
export function rewriteBytes(
  path: string,
  change: (block: Buffer, at: number) => void,
  { disk = fs, whole = false }: { readonly disk?: BytesDisk; readonly whole?: boolean } = {},
): void {
  const { O_RDWR, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants;
  const fd = disk.openSync(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  try {
    const { size } = fs.fstatSync(fd);
    for (let at = 0; at < size; ) {
      const before = Buffer.alloc(Math.min(whole ? size : BLOCK_BYTES, size - at));
      const count = fs.readSync(fd, before, 0, before.length, at);
      if (count === 0) break; // it became shorter
      const after = Buffer.from(before.subarray(0, count));
      change(after, at);
      writePages(fd, at, before, after, disk);
      at += count;
    }
    disk.fsyncSync(fd);
  } finally {
    disk.closeSync(fd);
  }
}

function writePages(fd: number, at: number, before: Buffer, after: Buffer, disk: BytesDisk): void {
  for (let from = 0; from < after.length; from += PAGE_BYTES) {
    const page = after.subarray(from, from + PAGE_BYTES);
    if (page.equals(before.subarray(from, from + page.length))) continue;
    for (let done = 0; done < page.length; ) {
      done += disk.writeSync(fd, page, done, page.length - done, at + from + done);
    }
  }
}

function starred(block: Buffer, at: number, ranges: readonly ByteRange[]): void {
  for (const [from, to] of ranges) {
    const end = Math.min(to - at, block.length);
    for (let place = Math.max(from - at, 0); place < end; place += 1) {
      const page = place - (place % PAGE_BYTES);
      if (place === page && isEmpty(block.subarray(page, page + PAGE_BYTES))) {
        place = page + PAGE_BYTES - 1; // of a hole, or as good as one
      } else if (!isLineEnd(block[place])) block[place] = STAR;
    }
  }
}

const EMPTY = Buffer.alloc(PAGE_BYTES);

function isEmpty(page: Buffer): boolean {
  return page.equals(EMPTY.subarray(0, page.length));
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === LINE_FEED || byte === RETURN;
}

/** A byte that is there to be overwritten. */
export function isPlain(byte: number): boolean {
  return byte !== STAR && byte !== 0 && !isLineEnd(byte);
}
