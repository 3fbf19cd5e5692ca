// How much room a capture takes on the disk, and how much its packed files would take plain.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { errnoOf, isAppError } from '../errors.ts';
import { PACKABLE } from './format.ts';
import { PACKED, packedIn, TABLE } from './open-source.ts';
import { captureDir } from './paths.ts';
import { captureIds, readState, type Store } from './store.ts';

const BLOCK_BYTES = 512; // in which the system counts, whatever the file system has

export type Room = {
  /** Of all files, as the disk counts them. */
  readonly diskBytes: number;
  /** Of packed files with their tables, and of what they were. */
  readonly packedBytes: number;
  readonly plainBytes: number;
};

const NO_ROOM: Room = { diskBytes: 0, packedBytes: 0, plainBytes: 0 };

/** Throws the error of the system call for a directory that cannot be read. */
export function roomOf(dir: string): Room {
  let [diskBytes, packedBytes] = [0, 0];
  const packed: string[] = [];
  for (const name of fs.readdirSync(dir)) {
    const stat = fs.lstatSync(join(dir, name), { throwIfNoEntry: false });
    if (stat?.isFile() !== true) continue;
    diskBytes += (stat.blocks ?? Math.ceil(stat.size / BLOCK_BYTES)) * BLOCK_BYTES;
    const of = PACKABLE.find((one) => name.startsWith(`${one}${PACKED}`));
    if (of === undefined) continue;
    if (name === `${of}${PACKED}`) packed.push(name);
    if (name === `${of}${PACKED}` || name === `${of}${PACKED}${TABLE}`) packedBytes += stat.size;
  }
  return {
    diskBytes,
    packedBytes,
    plainBytes: packed.reduce((sum, one) => sum + plain(dir, one), 0),
  };
}

function addRoom(a: Room, b: Room): Room {
  return {
    diskBytes: a.diskBytes + b.diskBytes,
    packedBytes: a.packedBytes + b.packedBytes,
    plainBytes: a.plainBytes + b.plainBytes,
  };
}

/** 0 for a file that is damaged: it has no size that can be told. */
function plain(dir: string, name: string): number {
  try {
    const source = packedIn(dir, name);
    source?.close();
    return source?.size ?? 0;
  } catch {
    return 0;
  }
}

export type CapturesRoom = Room & {
  readonly captures: number;
  /** How many of them have packed files. */
  readonly packed: number;
};

/** Of all captures, or of those of commands that are entries of one journal. */
export function capturesRoom(store: Pick<Store, 'root'>, journal?: string): CapturesRoom {
  let [room, captures, packed] = [NO_ROOM, 0, 0];
  for (const id of captureIds(store)) {
    const one = oneRoom(captureDir(store.root, id), journal);
    if (one === undefined) continue;
    room = addRoom(room, one);
    captures += 1;
    if (one.packedBytes > 0) packed += 1;
  }
  return { ...room, captures, packed };
}

/** Undefined for one of another journal, and for one that is gone or that we may not read. */
function oneRoom(dir: string, journal: string | undefined): Room | undefined {
  try {
    if (journal !== undefined && readState(dir).meta?.journal?.directory !== journal) return;
    return roomOf(dir);
  } catch (error) {
    if (errnoOf(error) === undefined && !isAppError(error)) throw error;
    return undefined;
  }
}

/** As programs get it. */
export function roomJson(room: CapturesRoom) {
  return {
    count: room.captures,
    disk_bytes: room.diskBytes,
    packed: room.packed,
    packed_bytes: room.packedBytes,
    plain_bytes: room.plainBytes,
  };
}
