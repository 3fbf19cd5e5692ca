// The lines of a file with their numbers and places, and what the whole file hashes to. Only one
// line is in memory at a time; one that is longer than any real one is passed over as too long.

import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { AppError, errnoOf } from '../errors.ts';
import { printable } from '../text/printable.ts';

const BLOCK_BYTES = 262_144;
const LINE_BYTES_MAX = 134_217_728; // what the journal itself reads as one line
const NEWLINE = 0x0a;

export type FileLine = {
  /** From 1. */
  readonly number: number;
  readonly offset: number;
  readonly length: number;
  /** Without its `\n`; undefined when it is too long. */
  readonly bytes: Buffer | undefined;
};

export class LineSource {
  readonly path: string;
  readonly size: number;
  readonly modifiedAt: number;
  readonly #fd: number;
  readonly #lineBytesMax: number;

  /** Throws `usage` for what is no regular file. A line longer than `lineBytesMax` is too long. */
  constructor(path: string, lineBytesMax = LINE_BYTES_MAX) {
    this.path = path;
    this.#lineBytesMax = lineBytesMax;
    this.#fd = openRegular(path);
    const { size, mtimeMs } = fstatSync(this.#fd);
    this.size = size;
    this.modifiedAt = mtimeMs;
  }

  close(): void {
    closeSync(this.#fd);
  }

  hash(): string {
    const hash = createHash('sha256');
    for (const block of this.#blocks()) hash.update(block);
    return hash.digest('hex');
  }

  /** The bytes of a line that was seen before. */
  at({ offset, length }: Pick<FileLine, 'offset' | 'length'>): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    let done = 0;
    while (done < length) {
      const count = readSync(this.#fd, bytes, done, length - done, offset + done);
      if (count === 0) break; // the file was cut
      done += count;
    }
    return bytes.subarray(0, done);
  }

  *lines(): Generator<FileLine, void, undefined> {
    let number = 0;
    let offset = 0;
    let length = 0;
    let pending: Buffer[] = [];
    const line = (): FileLine => {
      const long = length > this.#lineBytesMax;
      number += 1;
      return { number, offset, length, bytes: long ? undefined : Buffer.concat(pending) };
    };
    for (const block of this.#blocks()) {
      let at = 0;
      for (let end = block.indexOf(NEWLINE); end >= 0; end = block.indexOf(NEWLINE, at)) {
        length += end - at;
        pending.push(block.subarray(at, end));
        yield line();
        offset += length + 1;
        length = 0;
        pending = [];
        at = end + 1;
      }
      length += block.length - at;
      // What is too long is only counted.
      pending = length > this.#lineBytesMax ? [] : [...pending, block.subarray(at)];
    }
    if (length > 0) yield line();
  }

  *#blocks(): Generator<Buffer, void, undefined> {
    for (let position = 0; ; ) {
      const block = Buffer.allocUnsafe(BLOCK_BYTES);
      const count = readSync(this.#fd, block, 0, block.length, position);
      if (count === 0) return;
      yield block.subarray(0, count);
      position += count;
    }
  }
}

function openRegular(path: string): number {
  let fd: number;
  try {
    // Without O_NONBLOCK a FIFO would hold us until another process writes to it.
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const missing = errnoOf(error) === 'ENOENT';
    if (!missing) throw error;
    throw new AppError('usage', `There is no file '${printable(path)}'`);
  }
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw new AppError('usage', `'${printable(path)}' is not a regular file`, {
    hint: 'Hint: Save it to a file first; it is read twice',
  });
}
