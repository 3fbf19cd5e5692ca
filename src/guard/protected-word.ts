// A word for what is at a path: the same word, the same content. Of a secret, and of a large file,
// it is the file's identity, size and times, so that no secret leaves a hash behind.

import * as fs from 'node:fs';
import { contentState } from '../policies/changes.ts';

const READ_MAX = 256 * 1024; // bytes: such files are written by hand

export function wordFor(path: string, kind?: 'secret'): string {
  const found = fs.lstatSync(path, { throwIfNoEntry: false, bigint: true });
  if (found === undefined) return 'nothing';
  if (found.isDirectory()) return 'directory';
  if (found.isSymbolicLink()) return linkWord(path);
  if (!found.isFile()) return `special ${found.mode} ${found.rdev}`;
  return kind === 'secret' || found.size > READ_MAX ? stampOf(found) : contentWord(path, found);
}

/** A link leads to another content when that is written, although the link stays. */
function linkWord(path: string): string {
  try {
    const found = fs.statSync(path, { bigint: true });
    const behind = found.isFile() ? stampOf(found) : found.isDirectory() ? 'directory' : 'special';
    return `link ${fs.readlinkSync(path)} ${behind}`;
  } catch {
    return `link ${readOr(path)}`; // it leads nowhere
  }
}

function readOr(path: string): string {
  try {
    return fs.readlinkSync(path);
  } catch {
    return ''; // gone at this moment
  }
}

function contentWord(path: string, stat: fs.BigIntStats): string {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants;
  try {
    const fd = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      return contentState(fs.readFileSync(fd));
    } finally {
      fs.closeSync(fd);
    }
  } catch {
    return stampOf(stat); // it may not be read
  }
}

/** No program can set the last of the times. */
function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: fs.BigIntStats): string {
  return `stamp ${dev}:${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}
