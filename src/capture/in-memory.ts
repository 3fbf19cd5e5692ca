// Captures whose files are in memory while their run goes on (`encryption.live: memory`). Until
// they are encrypted there are
//
//   <state root>/sessions/<id>/       meta.json without words, with "in_memory":true, and `live`:
//                                     the path of the directory in memory
//   <memory>/<random>/sessions/<id>/  the capture as every other, and `home`: the path of the first
//
// `captureDir` finds the second where both name each other, so readers need not know. Encrypted,
// the files are copied to the first, meta.json last, and `live` goes: whenever that is cut off, it
// is done again from the beginning. Without the memory (a logout, a restart) the first is left.
import * as nodeFs from 'node:fs';
import { dirname, join } from 'node:path';
import { namesIn } from '../directories.ts';
import type { CaptureMeta } from '../types.ts';
import { pieces } from './byte-source.ts';
import { encodeMeta } from './format.ts';
import { fileIn } from './open-source.ts';
import { type PackOps, syncDirectory, TEMP, write, writeAll } from './packed/pack.ts';
import {
  createIn,
  diskDirOf,
  HOME,
  hasIn,
  homeDir,
  LIVE,
  replaceIn,
  sessionsDir,
} from './paths.ts';
import { createCapture, exists, prepare, removeEmpty, type Store, writing } from './store.ts';
import { metaInMemory } from './words.ts';

/**
 * As `createCapture`, with its files below `memory`, a root of its own. Should this be killed
 * before it returns, no command was started.
 */
export function createInMemory(
  store: Store,
  memory: string,
  meta: CaptureMeta,
  argv: readonly string[],
  ready?: () => void,
): string {
  const home = homeDir(store.root, meta.id);
  const made = writing(home, () => prepare(store.root, home));
  let named = false;
  try {
    const dir = createCapture({ ...store, root: memory }, meta, argv, ready);
    writing(home, () => {
      replaceIn(dir, HOME, `${home}\n`);
      named = createIn(home, LIVE, `${dir}\n`, made);
      const text = metaInMemory(encodeMeta(meta, argv));
      if (!named || !createIn(home, 'meta.json', text, made)) throw exists(meta.id);
    });
    return dir;
  } catch (error) {
    if (named) nodeFs.rmSync(join(home, LIVE), { force: true });
    forget(memory);
    if (made) removeEmpty(home);
    throw error;
  }
}

/** Of a run that is over; nothing for one whose files are on the disk. Throws as the disk does. */
export function bringHome(dir: string, io: PackOps = nodeFs): void {
  const home = diskDirOf(dir);
  if (home === undefined) return;
  const names = namesIn(dir).filter((name) => isKept(dir, name));
  for (const name of names.filter((one) => one !== 'meta.json')) copy(dir, home, name, io);
  const old = namesIn(home).filter((one) => one !== LIVE && !names.includes(one));
  for (const name of old) io.unlinkSync(join(home, name));
  copy(dir, home, 'meta.json', io);
  io.unlinkSync(join(home, LIVE));
  syncDirectory(home, io);
  forget(dirname(dirname(dir)));
}

export function isInMemory(dir: string): boolean {
  return hasIn(dir, HOME);
}

const YOUNG_MS = 60_000; // it is made, or moved, at this moment

/** Removes what is left in memory of captures that were moved or removed. Never throws. */
export function sweepMemory(memory: string, now: number): void {
  for (const root of namesIn(memory).map((name) => join(memory, name))) {
    const stat = nodeFs.lstatSync(root, { throwIfNoEntry: false });
    if (stat === undefined || stat.mtimeMs + YOUNG_MS > now) continue;
    const dirs = namesIn(sessionsDir(root)).map((id) => join(sessionsDir(root), id));
    if (dirs.some((dir) => diskDirOf(dir) !== undefined)) continue;
    forget(root);
  }
}

function forget(root: string): void {
  try {
    nodeFs.rmSync(root, { recursive: true, force: true });
  } catch {
    // Not ours, or not there: it takes room, and nothing else.
  }
}

/** Files alone, and none that belongs to a process of the run or to a claim. */
function isKept(dir: string, name: string): boolean {
  if (name === HOME || name === 'append.lock' || /\.(?:claim|tmp)$/.test(name)) return false;
  return nodeFs.lstatSync(join(dir, name), { throwIfNoEntry: false })?.isFile() === true;
}

function copy(from: string, to: string, name: string, io: PackOps): void {
  const source = fileIn(from, name);
  if (source === undefined) return;
  try {
    write(to, name, io, (fd) => {
      for (const piece of pieces(source, 0, source.size)) writeAll(fd, piece, io);
    });
    io.renameSync(join(to, `${name}${TEMP}`), join(to, name));
    syncDirectory(to, io);
  } finally {
    source.close();
  }
}
