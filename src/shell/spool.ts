// Moves captures that were made in a sandbox from their spool to the state root. A spool is
// untrusted input: the sandboxed command could write there, and a repository may bring one along.
// So it is only read, never renamed; what is read is checked (`spool-folder.ts`) and cleaned
// (`spool-copy.ts`). One capture takes these steps, and a process that is killed between two of
// them loses nothing and leaves nothing twice:
//
// 1. a copy in `<state root>/incoming/<id>~<pid>~<start>`; one of a dead process is removed. If it
//    may lack an entry, `<state root>/owed/<id>` says so, before the capture is there
// 2. the copy is renamed to `<state root>/sessions/<id>`
// 3. the files in the spool are removed, `spooled` last. If that file is at home already, only this
//    step is done.

import * as fs from 'node:fs';
import { join } from 'node:path';
import { ensurePrivateDir, ensureRoot, isSessionId, sessionsDir } from '../capture/paths.ts';
import type { Store } from '../capture/store.ts';
import { errnoOf, isAppError } from '../errors.ts';
import type { Log } from '../log.ts';
import { thisProcess } from '../run/processes.ts';
import { asString, parseObject } from '../text/json.ts';
import type { Env } from '../types.ts';
import { copyCapture, type Read, readCapture, sizeOf, sync } from './spool-copy.ts';
import {
  type Folder,
  inside,
  openFolder,
  openTop,
  Refusal,
  readSmall,
  runnerOf,
  type SpoolIo,
  touchedAt,
  within,
} from './spool-folder.ts';
import { owedDir, projectFolders, TEMPORARY_SPOOL, temporaryFolders } from './spool-look.ts';
import { createSpooled, MARK_FILE, marksOf } from './spool-place.ts';

export { createSpooled };

const CAPTURES_MAX = 1_000; // of one spool, in one go
const SPOOLS_MAX = 1_000;
const LOOKED_AT_MIN = 8; // by a `cuff run` whose command is short
const BYTES_MAX = 2 * 1024 ** 3; // in one go
const FREE_BYTES_MIN = 512 * 1024 * 1024; // stay free in the state root
const MARK_BYTES_MAX = 1_024;
const IDLE_MS = 10 * 60 * 1000; // a run without a FIFO that wrote nothing for so long is over
const ENTRY_MS = 2_000; // from the end of a run until its entry has been written from the capture
const ELSEWHERE_MS = 24 * 60 * 60 * 1000; // an entry waits so long for a `cuff` in its project

export type HomeOptions = {
  readonly cwd: string;
  readonly env: Env;
  readonly log?: Log;
  /** True when the caller has to end: the next one moves the rest. */
  readonly enough?: () => boolean;
  readonly io?: SpoolIo;
};

type Way = {
  readonly store: Store;
  readonly io: SpoolIo;
  readonly log: Log;
  /** Journals of the project: only these may get entries. */
  readonly journals: readonly string[];
  readonly enough: () => boolean;
  looked: number;
  bytesLeft: number;
};

/** Of this process: two at once would use the same name for their copies. */
let last: Promise<unknown> = Promise.resolve();

/** How many captures came home. What cannot be moved stays where it is. */
export function bringHome(store: Store, options: HomeOptions): Promise<number> {
  const now = last.then(() => bring(store, options));
  last = now.catch(() => undefined); // its own caller hears of it
  return now;
}

async function bring(store: Store, options: HomeOptions): Promise<number> {
  const { cwd, env, log = () => undefined, io = fs, enough = () => false } = options;
  const projects = projectFolders(cwd, env);
  const journals = projects.map((project) => join(project, '.cuff', 'recordings'));
  const way: Way = { store, io, log, journals, enough, looked: 0, bytesLeft: BYTES_MAX };
  let moved = 0;
  try {
    for (const project of projects) {
      moved += (await within(io, openTop(io, project), (top) => ofProject(way, top))) ?? 0;
    }
    for (const folder of temporaryFolders()) {
      moved += (await within(io, openTop(io, folder), (top) => ofTemporary(way, top))) ?? 0;
    }
  } catch (error) {
    if (errnoOf(error) === undefined && !isAppError(error)) throw error;
    log({ error: `the spool was not moved: ${error}` });
  }
  return moved;
}

async function ofProject(way: Way, top: Folder): Promise<number> {
  const { io } = way;
  const moved = await within(io, openFolder(io, top, '.cuff', 0o022), (cuff) =>
    within(io, openFolder(io, cuff, 'spool', 0o077), (spool) => ofSpool(way, spool, true)),
  );
  return moved ?? 0;
}

async function ofTemporary(way: Way, top: Folder): Promise<number> {
  const { io } = way;
  const names = io.readdirSync(inside(top, '.')).filter((name) => TEMPORARY_SPOOL.test(name));
  let moved = 0;
  for (const name of names.slice(0, SPOOLS_MAX)) {
    const spool = openFolder(io, top, name, 0o077);
    const count = await within(io, spool, (folder) => ofSpool(way, folder, false));
    moved += count ?? 0;
    if (spool !== undefined) removeEmpty(io, inside(top, name));
  }
  return moved;
}

async function ofSpool(way: Way, spool: Folder, lasting: boolean): Promise<number> {
  const { io } = way;
  const moved = await within(io, openFolder(io, spool, 'sessions', 0o077), async (sessions) => {
    let count = 0;
    const ids = io.readdirSync(inside(sessions, '.')).filter(isSessionId).sort();
    for (const id of ids.slice(0, CAPTURES_MAX)) {
      if (++way.looked > LOOKED_AT_MIN && way.enough()) break;
      const from = openFolder(io, sessions, id, 0o077);
      const came = await within(io, from, (folder) => ofCapture(way, folder, id, lasting));
      if (came === true) count += 1;
      if (came !== undefined) removeEmpty(io, inside(sessions, id));
    }
    return count;
  });
  if (!lasting) removeEmpty(io, inside(spool, 'sessions'));
  return moved ?? 0;
}

/** True if it came home now; undefined if it stays. */
async function ofCapture(
  way: Way,
  from: Folder,
  id: string,
  lasting: boolean,
): Promise<boolean | undefined> {
  try {
    return await moveCapture(way, from, id, lasting);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    way.log({ session_id: id, error: `left in ${from.path}: ${error.message}` });
    return undefined;
  }
}

async function moveCapture(
  way: Way,
  from: Folder,
  id: string,
  lasting: boolean,
): Promise<boolean | undefined> {
  const { io, store } = way;
  const mark = markIn(way, from);
  if (mark === undefined && isLeftover(way, from)) return false;
  // A temporary spool may well be of another state root.
  if (mark === undefined && !lasting) return undefined;
  if (mark === undefined) throw new Refusal('it was not made here');
  const target = homeId(way, id, mark);
  let came = false;
  if (!target.there) {
    const read = readCapture(io, from);
    if (read === undefined || !isOver(way, from, read)) return undefined;
    const journal = takesEntry(way, read, { lasting, renamed: target.id !== id });
    if (journal === undefined) return undefined;
    makePlaces(store);
    const bytes = sizeOf(io, from, read);
    if (!hasRoom(way, bytes)) throw new Refusal('there is no room for it in the state root');
    came = await arrive(way, from, read, { ...target, mark, now: store.now(), journal });
    way.bytesLeft -= bytes;
    if (came) way.log({ session_id: target.id, state_transition: 'spool->home' });
  }
  clear(io, from);
  return came;
}

/** Undefined for a capture that was not made on this machine, in this directory, for this root. */
function markIn({ io, store }: Way, from: Folder): string | undefined {
  const text = readSmall(io, from, MARK_FILE, MARK_BYTES_MAX) ?? '';
  const mark = asString(parseObject(text)?.mark);
  const known = marksOf(io.fstatSync(from.fd).ino, store);
  return mark !== undefined && known.includes(mark) ? mark : undefined;
}

/** An empty directory: its capture is at home, or will never begin. */
function isLeftover({ io, store }: Way, from: Folder): boolean {
  const empty = io.readdirSync(inside(from, '.')).length === 0;
  return empty && store.now() - touchedAt(io, from) > IDLE_MS;
}

/** A capture outside of the sandbox may have the same id: then this one gets another. */
function homeId(
  { io, store }: Way,
  id: string,
  mark: string,
): { readonly id: string; readonly there: boolean } {
  const other = `${id.slice(0, 100)}.spool-${mark.slice(0, 12)}`;
  for (const one of [id, other]) {
    const path = join(sessionsDir(store.root), one);
    if (io.lstatSync(path, { throwIfNoEntry: false }) === undefined) {
      return { id: one, there: false };
    }
    if (markAtHome(io, path) === mark) return { id: one, there: true };
  }
  throw new Refusal('its id is in use');
}

function markAtHome(io: SpoolIo, path: string): string | undefined {
  const folder = openTop(io, path);
  if (folder === undefined) return undefined;
  try {
    const text = readSmall(io, folder, MARK_FILE, MARK_BYTES_MAX) ?? '';
    return asString(parseObject(text)?.mark);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  } finally {
    io.closeSync(folder.fd);
  }
}

/** A run that goes on stays where its runner writes, and one whose entry is being written. */
function isOver({ io, store }: Way, from: Folder, { meta, final }: Read): boolean {
  const runner = runnerOf(io, from);
  if (runner === 'listens') return false;
  const entered = typeof meta.journal?.sessionId === 'string';
  if (entered && store.now() - touchedAt(io, from) < ENTRY_MS) return false;
  if (runner === 'dead' || final?.outputClosed === true) return true;
  return store.now() - touchedAt(io, from) > IDLE_MS;
}

/**
 * Whether its journal gets an entry. Undefined: later, by a `cuff` in its project. A capture that
 * comes home under another id would get a second entry if it has one already.
 */
function takesEntry(
  { journals, store }: Way,
  { meta }: Read,
  { lasting, renamed }: { readonly lasting: boolean; readonly renamed: boolean },
): boolean | undefined {
  if (meta.journal === undefined) return false;
  const { directory, sessionId } = meta.journal;
  if (journals.includes(directory)) return !renamed || sessionId === null;
  const waits = !lasting && store.now() - meta.createdAt < ELSEWHERE_MS;
  return waits ? undefined : false;
}

/** Throws where the state root cannot be written, as in a sandbox. */
function makePlaces({ root }: Store): void {
  ensureRoot(root);
  const places = [join(root, 'incoming'), owedDir(root), sessionsDir(root)];
  for (const place of places) ensurePrivateDir(place);
}

function hasRoom({ io, store, bytesLeft }: Way, bytes: number): boolean {
  const { bavail, bsize } = io.statfsSync(store.root);
  return bytes <= bytesLeft && bavail * bsize - bytes > FREE_BYTES_MIN;
}

/** False if another process was faster. */
async function arrive(
  { io, store }: Way,
  from: Folder,
  read: Read,
  wanted: Parameters<typeof copyCapture>[4],
): Promise<boolean> {
  const me = thisProcess();
  const incoming = join(store.root, 'incoming');
  removeDead({ io, store }, incoming);
  const copy = join(incoming, `${wanted.id}~${me.pid}~${me.startTime}`);
  io.mkdirSync(copy, { mode: 0o700 });
  try {
    await copyCapture(io, from, read, copy, wanted);
    if (wanted.journal) io.closeSync(io.openSync(join(owedDir(store.root), wanted.id), 'a', 0o600));
    io.renameSync(copy, join(sessionsDir(store.root), wanted.id));
  } catch (error) {
    removeFiles(io, copy);
    if (errnoOf(error) === 'ENOTEMPTY' || errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
  sync(io, sessionsDir(store.root));
  return true;
}

/** Copies that a killed process has left. */
function removeDead({ io, store }: Pick<Way, 'io' | 'store'>, incoming: string): void {
  for (const name of io.readdirSync(incoming)) {
    const [, pid, startTime] = /~(\d+)~(\d+)$/.exec(name) ?? [];
    const maker = { pid: Number(pid), startTime: Number(startTime) };
    const me = thisProcess();
    const mine = maker.pid === me.pid && maker.startTime === me.startTime;
    if (pid !== undefined && (mine || !store.alive(maker))) removeFiles(io, join(incoming, name));
  }
}

function removeFiles(io: SpoolIo, directory: string): void {
  for (const name of io.readdirSync(directory)) io.unlinkSync(join(directory, name));
  io.rmdirSync(directory);
}

/** `spooled` goes last: with it the next process knows that the rest is at home. */
function clear(io: SpoolIo, from: Folder): void {
  for (const name of io.readdirSync(inside(from, '.'))) {
    if (name !== MARK_FILE) remove(() => io.unlinkSync(inside(from, name)));
  }
  const left = io.readdirSync(inside(from, '.'));
  if (left.every((name) => name === MARK_FILE)) {
    remove(() => io.unlinkSync(inside(from, MARK_FILE)));
  }
}

function removeEmpty(io: SpoolIo, path: string): void {
  remove(() => io.rmdirSync(path));
}

/** What stays is removed by the next process that looks. */
function remove(action: () => void): void {
  try {
    action();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
  }
}
