// Reads files that may have come with a cloned repository. The size that the system tells is not
// believed: files below /proc have none and may go on for ever, and a link can lead to them.

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

const PIECE_BYTES = 64 * 1024;

/** Undefined when there is more than that. */
export function readAtMost(fd: number, bytesMax: number): Buffer | undefined {
  const pieces: Buffer[] = [];
  for (let length = 0; ; ) {
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    const got = readSync(fd, piece, 0, PIECE_BYTES, null);
    if (got === 0) return Buffer.concat(pieces);
    length += got;
    if (length > bytesMax) return undefined;
    pieces.push(piece.subarray(0, got));
  }
}

/**
 * Waits for no pipe. Undefined when it is no regular file, has more bytes than it says, or too
 * many. Throws the errno error of a file that cannot be read.
 */
export function readRegular(path: string, bytesMax: number): Buffer | undefined {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size > bytesMax) return undefined;
    return readAtMost(fd, stat.size);
  } finally {
    closeSync(fd);
  }
}
