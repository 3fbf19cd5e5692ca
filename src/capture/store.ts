// A capture is a directory with all that one run printed and how it ended. This file makes, opens,
// lists and finds captures; `format.ts` describes their files byte by byte, `paths.ts` opens them
// safely, `writer.ts` writes and `reader.ts` reads the output, `sweep.ts` removes old ones. A
// missing or damaged part is left out; only a capture that does not exist, or that leads out of its
// directory, is an error. Nothing here knows processes: the caller hands in `alive`.
import * as fs from 'node:fs';
import { basename, join } from 'node:path';
import { openToUs } from '../directories.ts';
import { AppError, errnoOf } from '../errors.ts';
import type { CaptureFinal, CaptureMeta, CaptureState } from '../types.ts';
import { recordsFrom } from './byte-source.ts';
import { type CaptureEvent, decodeEvent } from './event.ts';
import * as format from './format.ts';
import { PACKABLE, type StoredMeta } from './format.ts';
import {
  type Decrypt,
  ENCRYPTED,
  findSource,
  type KeptFiles,
  openSource,
  PACKED,
  packedNames,
} from './open-source.ts';
import * as paths from './paths.ts';
import { captureState, type Liveness, outputOpen, type Status } from './state.ts';
import { textWithWords } from './words.ts';

const START_MS_MAX = 2_000; // from making meta.json to having written it, on a slow disk

export type Store = Liveness & {
  readonly root: string;
  /** Of readers; without it, encrypted files cannot be read. */
  readonly decrypt?: Decrypt;
};

/** A capture as it was when it was opened. Open it again to see what changed. */
export type Capture = {
  readonly id: string;
  readonly dir: string;
  /** Missing or damaged where undefined. */
  readonly meta: StoredMeta | undefined;
  readonly final: CaptureFinal | undefined;
  readonly state: CaptureState;
  readonly reason: string | undefined;
  /** More bytes may come. */
  readonly outputOpen: boolean;
  readonly pinned: boolean;
  readonly now: () => number;
  /** Of a run of which nothing could be written: all of it is in memory, and `dir` is empty. */
  readonly files?: KeptFiles;
  readonly decrypt?: Decrypt | undefined;
};

export type CaptureSummary = Omit<Capture, 'now'> & {
  /** From meta.json, else the directory's last change. Epoch milliseconds. */
  readonly createdAt: number;
  readonly outputBytes: number;
};

/**
 * Makes the directory and its meta.json, and returns the directory. Of two calls with the same id
 * one gets it; the other, and every later one, gets `session_exists`, with nothing changed.
 * `ready` is called in between: the directory is there, meta.json is not.
 */
export function createCapture(
  store: Store,
  meta: CaptureMeta,
  argv: readonly string[],
  ready?: () => void,
): string {
  const dir = paths.homeDir(store.root, meta.id);
  return writing(dir, () => {
    const made = prepare(store.root, dir);
    try {
      ready?.();
      const text = format.encodeMeta(meta, argv);
      if (!paths.createIn(dir, 'meta.json', text, made)) throw exists(meta.id);
    } catch (error) {
      if (made) removeEmpty(dir);
      throw error;
    }
    return dir;
  });
}

/** meta.json again, once runner and child are known. */
export function rewriteMeta(dir: string, meta: CaptureMeta, argv: readonly string[]): void {
  writing(dir, () => paths.replaceIn(dir, 'meta.json', format.encodeMeta(meta, argv)));
}

export function openCapture(store: Store, id: string): Capture {
  const dir = paths.captureDir(store.root, id);
  const capture = paths.checkCaptureDir(dir) ? load(store, id, dir) : undefined;
  if (capture !== undefined) return capture;
  throw new AppError('session_not_found', 'session not found', {
    hint: 'List the captures there are with `cuff ls`.',
  });
}

/** Newest first. A damaged capture is listed with what is left of it. */
export function listCaptures(
  store: Store,
  options: { readonly state?: CaptureState; readonly limit?: number } = {},
): CaptureSummary[] {
  const limit = options.limit ?? Number.POSITIVE_INFINITY;
  const wanted: CaptureSummary[] = [];
  // Ids we made say when, so that only those that are shown are read. Others must be looked into.
  const known = captureIds(store).map((id) => {
    const made = paths.sessionIdTime(id);
    const summary = made === undefined ? summarise(store, id) : undefined;
    return { id, summary, second: Math.floor((made ?? summary?.createdAt ?? 0) / 1000) };
  });
  known.sort((a, b) => b.second - a.second);
  let second = Number.POSITIVE_INFINITY;
  for (const entry of known) {
    if (wanted.length >= limit && entry.second < second) break;
    const summary = entry.summary ?? summarise(store, entry.id);
    if (summary === undefined) continue;
    if (options.state !== undefined && summary.state !== options.state) continue;
    wanted.push(summary);
    second = entry.second;
  }
  return wanted.sort(newestFirst).slice(0, limit);
}

type Dated = Pick<CaptureSummary, 'id' | 'createdAt'>;

/** For `sort`: those of the same moment by their ids, so that lists do not change their order. */
export function newestFirst(a: Dated, b: Dated): number {
  return b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1);
}

/** The ids that contain `part`; the id itself when it is one. */
export function findCaptures(store: Store, part: string): string[] {
  const found = captureIds(store).filter((id) => id.includes(part));
  return found.includes(part) ? [part] : found;
}

/** All ids in order, damaged captures included; of generated ids the oldest comes first. */
export function captureIds(store: Pick<Store, 'root'>): string[] {
  const dir = paths.sessionsDir(store.root);
  const stat = fs.lstatSync(dir, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  if (!stat.isDirectory()) throw new AppError('path_unsafe', `${dir} is not a directory.`);
  const entries = fs.readdirSync(dir, { withFileTypes: true });
  const ids = entries.filter((entry) => entry.isDirectory() && paths.isSessionId(entry.name));
  return ids.map((entry) => entry.name).sort();
}

/** The sweep keeps a pinned capture, whatever its age. */
export function pinCapture(store: Store, id: string, pinned: boolean): void {
  const { dir } = openCapture(store, id);
  const { O_WRONLY, O_CREAT } = fs.constants;
  writing(dir, () => {
    if (pinned) fs.closeSync(paths.openIn(dir, 'pinned', O_WRONLY | O_CREAT));
    else fs.rmSync(join(dir, 'pinned'), { force: true });
  });
}

/** The events of a run in the order of the file, without repeated lines. */
export function readEvents(capture: Pick<Capture, 'dir' | 'decrypt'>): CaptureEvent[] {
  const source = openSource(capture.dir, 'events.jsonl', capture.decrypt);
  try {
    const events = new Map<string, CaptureEvent>();
    for (const event of recordsFrom(source, 0, { decode: decodeEvent })) {
      events.set(JSON.stringify(event), event);
    }
    return [...events.values()];
  } finally {
    source.close();
  }
}

/** meta.json and final.json as far as they are whole; with their words, where we can read them. */
export function readState(
  dir: string,
  { retentionSeconds, decrypt }: ReadStateOptions = {},
): { readonly meta: StoredMeta | undefined; readonly final: CaptureFinal | undefined } {
  const meta = textWithWords(dir, 'meta.json', decrypt);
  const final = textWithWords(dir, 'final.json', decrypt);
  return {
    meta: meta === undefined ? undefined : format.decodeMeta(meta, retentionSeconds),
    final: final === undefined ? undefined : format.decodeFinal(final),
  };
}

type ReadStateOptions = {
  /** Stands in where meta.json says nothing about it. */
  readonly retentionSeconds?: number;
  readonly decrypt?: Decrypt | undefined;
};

function load(store: Store, id: string, dir: string): Capture | undefined {
  const world = { ...store, alive: askedOnce(store.alive) };
  let { meta, final } = readState(dir, store);
  if (final?.outputClosed !== true && !outputOpen(meta, final, world)) {
    // It may have ended, or found its runner, between the reading and the asking.
    ({ meta, final } = readState(dir, store));
  }
  let status = captureState(meta, final, world);
  if (meta === undefined && final === undefined && !hasOutput(dir)) {
    const begun = paths.readTextIn(dir, 'meta.json');
    // A broken meta.json is a capture, an empty directory is none (yet).
    if (begun === undefined && !paths.hasIn(dir, 'final.json')) return undefined;
    if (begun !== undefined && format.isCut(begun)) status = cutStatus(store, dir);
  }
  return {
    id,
    dir,
    meta: meta && { ...meta, id },
    final,
    state: status.state,
    reason: status.reason,
    outputOpen: status.state === 'starting' || outputOpen(meta, final, world),
    pinned: paths.hasIn(dir, 'pinned'),
    now: store.now,
    ...(store.decrypt && { decrypt: store.decrypt }),
  };
}

/**
 * Each process is asked about once. A runner that lived when it was asked about may be gone, and
 * have written final.json, by the next question: the capture would be that of a killed runner.
 */
function askedOnce(alive: Store['alive']): Store['alive'] {
  const answers = new Map<string, boolean>();
  return (one) => {
    const key = `${one.pid} ${one.startTime}`;
    const answer = answers.get(key) ?? alive(one);
    answers.set(key, answer);
    return answer;
  };
}

/** Its starter writes meta.json at this moment, or was killed before it had. */
function cutStatus({ now }: Store, dir: string): Status {
  const made = fs.lstatSync(dir, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return now() - made < START_MS_MAX
    ? { state: 'starting' }
    : { state: 'failed', reason: 'never started' };
}

/** One of a list; undefined where there is none, or not yet. */
export function summarise(store: Store, id: string): CaptureSummary | undefined {
  const dir = paths.captureDir(store.root, id);
  const stat = fs.lstatSync(dir, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  const sizes = { createdAt: Math.floor(stat.mtimeMs), outputBytes: plainOutputSize(dir) ?? 0 };
  try {
    const capture = load(store, id, dir);
    if (capture === undefined) return undefined;
    const { now: _, ...rest } = capture;
    const createdAt = capture.meta?.createdAt ?? sizes.createdAt;
    return { ...rest, createdAt, outputBytes: outputSize(capture) };
  } catch (error) {
    // One that leads elsewhere or cannot be read must not hide the others.
    const reason = error instanceof AppError ? error.code : (errnoOf(error) ?? 'unreadable');
    const nothing = { meta: undefined, final: undefined, outputOpen: false, pinned: false };
    return { id, dir, state: 'failed', reason, ...nothing, ...sizes };
  }
}

/** How much output there is, packed or not. Throws `capture_damaged`. */
export function outputSize({ dir, final }: Pick<Capture, 'dir' | 'final'>): number {
  const plain = plainOutputSize(dir);
  if (plain !== undefined) return plain;
  // An encrypted file tells its size only to those that can read it.
  if (paths.hasIn(dir, `output.bin${PACKED}${ENCRYPTED}`)) return final?.outputBytes ?? 0;
  const source = findSource(dir, 'output.bin');
  source?.close();
  return source?.size ?? 0;
}

/** Looked at and not opened: that is enough for most captures. */
function plainOutputSize(dir: string): number | undefined {
  return fs.lstatSync(join(dir, 'output.bin'), { throwIfNoEntry: false })?.size;
}

function hasOutput(dir: string): boolean {
  const ways = ['', PACKED, `${PACKED}${ENCRYPTED}`];
  return ways.some((way) => paths.hasIn(dir, `output.bin${way}`));
}

/** True if this call made the directory. One without a capture in it is taken over. */
export function prepare(root: string, dir: string): boolean {
  const sessions = paths.sessionsDir(root);
  // One look is enough: others can neither enter it nor put a link in its place in a root of ours.
  if (!paths.isPrivate(sessions)) {
    paths.ensureRoot(root);
    paths.ensurePrivateDir(sessions);
  }
  return makeLeaf(dir);
}

/** Roots that this process has looked at: once is enough. */
const closed = new Set<string>();

/** Closes a root that others can enter; behind the start, as `sessions` is closed to them. */
export function closeRoot({ root }: Pick<Store, 'root'>): void {
  if (closed.has(root)) return;
  closed.add(root);
  try {
    paths.ensureRoot(root);
  } catch {
    // Gone, shared or another user's: the next capture that cannot be made there says so.
  }
}

function makeLeaf(dir: string): boolean {
  try {
    fs.mkdirSync(dir, { mode: 0o700 });
    openToUs(dir, 0o700);
    return true;
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
  paths.ensurePrivateDir(dir);
  const names = fs.readdirSync(dir);
  if (names.some((name) => name === 'meta.json' || name === 'final.json')) {
    throw exists(basename(dir));
  }
  const leftovers = names.filter((name) => LEFTOVERS.includes(name)).map((name) => join(dir, name));
  // A runner that was killed while its start was held leaves a trace.bin and no output.bin.
  const unused = names.some((name) => name.startsWith('output.bin'))
    ? ['append.lock']
    : ['append.lock', 'trace.bin'];
  for (const path of leftovers) {
    // Bytes without a meta.json are still output of a command.
    const size = fs.lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (size > 0 && !unused.includes(basename(path))) throw exists(basename(dir));
  }
  for (const path of leftovers) fs.rmSync(path, { force: true });
  return false;
}

const LEFTOVERS: readonly string[] = [
  ...PACKABLE.flatMap((name) => [name, ...packedNames(name)]),
  'append.lock',
  'control',
  'pinned',
  paths.LIVE,
];

export function removeEmpty(dir: string): void {
  try {
    fs.rmdirSync(dir);
  } catch {
    // Not empty: another process uses it by now.
  }
}

export function writing<T>(dir: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    const errno = errnoOf(error);
    if (error instanceof AppError || errno === undefined) throw error;
    throw new AppError('state_unwritable', `Cannot write to ${dir}: ${errno}.`, {
      hint: 'Make room or set CUFF_STATE_ROOT to a directory of yours.',
      cause: error,
    });
  }
}

export function exists(id: string): AppError {
  return new AppError('session_exists', `There is a session '${id}' already.`, {
    hint: 'Choose another id, or none to get a new one.',
  });
}
