// Reading a spool that another process may change while it is read. A directory is opened once, and
// names are looked up in that open directory, so that a link that takes its place later leads
// nowhere. Only regular files of this user with one name are read.

import type * as fs from 'node:fs';
import { constants } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../errors.ts';

/** The disk operations of the way home, so that tests can make each of them fail. */
export type SpoolIo = Pick<
  typeof fs,
  | 'openSync'
  | 'closeSync'
  | 'fstatSync'
  | 'lstatSync'
  | 'readSync'
  | 'writeSync'
  | 'ftruncateSync'
  | 'fsyncSync'
  | 'mkdirSync'
  | 'readdirSync'
  | 'renameSync'
  | 'unlinkSync'
  | 'rmdirSync'
  | 'statfsSync'
>;

export type Folder = { readonly fd: number; readonly path: string };

/** Why a capture stays in its spool. */
export class Refusal extends Error {}

const { O_RDONLY, O_WRONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** A name in this very directory, whatever its path leads to by now. */
export function inside({ fd, path }: Folder, name: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${fd}/${name}` : join(path, name);
}

/** A directory as the user names it, by links or not; undefined where there is none. */
export function openTop(io: SpoolIo, path: string): Folder | undefined {
  const fd = openDirectory(io, path, 0);
  return fd === undefined ? undefined : { fd, path };
}

/** Undefined where there is none, or none of ours that is closed to others by these bits. */
export function openFolder(
  io: SpoolIo,
  above: Folder,
  name: string,
  closed: number,
): Folder | undefined {
  const fd = openDirectory(io, inside(above, name), O_NOFOLLOW);
  if (fd === undefined) return undefined;
  const { uid, mode } = io.fstatSync(fd);
  const ours = uid === process.getuid?.() && (mode & closed) === 0;
  if (ours) return { fd, path: join(above.path, name) };
  io.closeSync(fd);
  return undefined;
}

const ABSENT = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES'];

function openDirectory(io: SpoolIo, path: string, flags: number): number | undefined {
  try {
    return io.openSync(path, O_RDONLY | O_DIRECTORY | flags);
  } catch (error) {
    if (ABSENT.includes(errnoOf(error) ?? '')) return undefined;
    throw error;
  }
}

/** Opens it for as long as `use` takes. */
export async function within<T>(
  io: SpoolIo,
  folder: Folder | undefined,
  use: (folder: Folder) => Promise<T>,
): Promise<T | undefined> {
  if (folder === undefined) return undefined;
  try {
    return await use(folder);
  } finally {
    io.closeSync(folder.fd);
  }
}

export type OpenFile = { readonly fd: number; readonly size: number };

/** A file of the capture, to be closed; undefined where there is none. Throws a `Refusal`. */
export function openFile(io: SpoolIo, folder: Folder, name: string): OpenFile | undefined {
  let fd: number;
  try {
    fd = io.openSync(inside(folder, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    if (errnoOf(error) === 'ELOOP') throw new Refusal(`${name} is a link`);
    throw error;
  }
  const stat = io.fstatSync(fd);
  const wrong =
    (!stat.isFile() && `${name} is not a regular file`) ||
    (stat.nlink !== 1 && `${name} has other names`) ||
    (stat.uid !== process.getuid?.() && `${name} belongs to another user`) ||
    ((stat.mode & 0o077) !== 0 && `${name} is open to others`);
  if (!wrong) return { fd, size: stat.size };
  io.closeSync(fd);
  throw new Refusal(wrong);
}

/** Undefined where there is none. */
export function readSmall(
  io: SpoolIo,
  folder: Folder,
  name: string,
  bytesMax: number,
): string | undefined {
  const file = openFile(io, folder, name);
  if (file === undefined) return undefined;
  try {
    if (file.size > bytesMax) throw new Refusal(`${name} is too large`);
    const bytes = Buffer.alloc(file.size);
    return bytes.toString('utf8', 0, io.readSync(file.fd, bytes, 0, bytes.length, 0));
  } finally {
    io.closeSync(file.fd);
  }
}

/** `dead`: there is a FIFO without a reader. */
export function runnerOf(io: SpoolIo, folder: Folder): 'listens' | 'dead' | 'none' {
  try {
    const fd = io.openSync(inside(folder, 'control'), O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
    const fifo = io.fstatSync(fd).isFIFO();
    io.closeSync(fd);
    return fifo ? 'listens' : 'none';
  } catch (error) {
    return errnoOf(error) === 'ENXIO' ? 'dead' : 'none';
  }
}

/** The latest change of the directory and the files in it. */
export function touchedAt(io: SpoolIo, folder: Folder): number {
  const names = io.readdirSync(inside(folder, '.'));
  const times = names.map(
    (name) => io.lstatSync(inside(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
  );
  return Math.max(io.fstatSync(folder.fd).mtimeMs, ...times);
}
