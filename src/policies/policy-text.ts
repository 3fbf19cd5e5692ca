// The text of a policy file, before anything is made of it. A file of its own, because a hook that
// knows the text from before needs no parser.

import * as fs from 'node:fs';
import { errnoOf } from '../errors.ts';
import { isThere } from '../places.ts';
import { readAtMost } from '../trust/bounded-read.ts';

const BYTES_MAX = 4 * 1024 * 1024; // no real policy is this long

/** Bounded and without waiting for a pipe: a server reads it while calls wait. */
export function policyText(
  path: string,
  piped: boolean,
): { readonly text: string } | { readonly why: string } {
  const { O_RDONLY, O_NONBLOCK = 0 } = fs.constants;
  try {
    const fd = fs.openSync(path, piped ? O_RDONLY : O_RDONLY | O_NONBLOCK);
    try {
      const stat = fs.fstatSync(fd);
      if (stat.isDirectory()) return { why: 'it is a directory, and has to be a file' };
      if (!stat.isFile() && !piped) return { why: 'it is no regular file' };
      const tooLong = { why: `it is longer than the ${BYTES_MAX} bytes that a policy may have` };
      if (stat.size > BYTES_MAX) return tooLong;
      const bytes = readAtMost(fd, BYTES_MAX);
      return bytes === undefined ? tooLong : { text: bytes.toString('utf8') };
    } finally {
      fs.closeSync(fd);
    }
  } catch (error) {
    return { why: unreadable(path, errnoOf(error) ?? String(error)) };
  }
}

function unreadable(path: string, why: string): string {
  if (why === 'ENOENT' || why === 'ENOTDIR') {
    return isThere(path) ? 'it is a link that leads nowhere' : 'there is no such file';
  }
  return why === 'EACCES' ? 'you may not read it (EACCES)' : `it cannot be read: ${why}`;
}
