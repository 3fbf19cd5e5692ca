// One capture of a spool, copied into a new directory: what its meta.json and final.json say is
// decoded and written anew, all other files are copied byte by byte. Nothing of a process of the
// sandbox is kept, because its pids mean other processes here, nor what it says was decided.

import { constants } from 'node:fs';
import { join } from 'node:path';
import { decodeFinal, decodeMeta, encodeFinal, encodeMeta } from '../capture/format.ts';
import { OUTPUT_BYTES_MAX } from '../limits.ts';
import { asString, parseObject } from '../text/json.ts';
import type { CaptureFinal, CaptureMeta, Hole, ProcessId } from '../types.ts';
import { type Folder, openFile, Refusal, readSmall, type SpoolIo } from './spool-folder.ts';
import { MARK_FILE } from './spool-place.ts';

const MIB = 1024 * 1024;
const SMALL_MAX = 4 * MIB; // meta.json holds a command and its environment
const RETENTION_SECONDS_MAX = 7 * 24 * 60 * 60; // a spool cannot fill the state root for long
const PIECE = 4 * MIB; // between two turns of the event loop

/** Files that are copied as they are, with the largest that a runner makes. */
const COPIED: Readonly<Record<string, number>> = {
  'output.bin': 2 * OUTPUT_BYTES_MAX,
  'index.jsonl': 512 * MIB,
  'events.jsonl': 64 * MIB,
  'trace.bin': 80 * MIB,
};

/** No process: pids of a sandbox mean other processes outside of it. */
const NO_PROCESS: ProcessId = { pid: 2 ** 31 - 1, startTime: 1 };

export type Read = {
  readonly meta: NonNullable<ReturnType<typeof decodeMeta>>;
  readonly final: CaptureFinal | undefined;
};

/** Undefined without a whole meta.json. */
export function readCapture(io: SpoolIo, from: Folder): Read | undefined {
  const meta = decodeMeta(readSmall(io, from, 'meta.json', SMALL_MAX) ?? '');
  const final = decodeFinal(readSmall(io, from, 'final.json', SMALL_MAX) ?? '');
  return meta && { meta, final };
}

export type Wanted = {
  /** Under which id it comes home. */
  readonly id: string;
  /** By which it is known again. */
  readonly mark: string;
  readonly now: number;
  /** Whether the intent's journal may get its entry. */
  readonly journal: boolean;
};

/** meta.json as it is written here. */
function homeMeta({ meta }: Read, { id, now, journal: entered }: Wanted): CaptureMeta {
  const { journal, runner: _, child: _1, owner: _2, ...rest } = meta;
  const draft = journal && { ...journal.draft, decision: null, source: 'spool' as const };
  return {
    ...rest,
    id,
    starter: NO_PROCESS,
    createdAt: Math.min(meta.createdAt, now),
    retentionSeconds: Math.min(meta.retentionSeconds, RETENTION_SECONDS_MAX),
    ...(journal && draft && entered && { journal: { ...journal, draft } }),
    source: 'spool',
  };
}

/** How many bytes it takes at most; a hole takes none. Throws a `Refusal`. */
export function sizeOf(io: SpoolIo, from: Folder, { final }: Read): number {
  let sum = 2 * SMALL_MAX;
  for (const [name, bytesMax] of Object.entries(COPIED)) {
    const file = openFile(io, from, name);
    if (file === undefined) continue;
    io.closeSync(file.fd);
    const bytes = file.size - lengthOf(name === 'output.bin' ? final?.hole : undefined);
    if (bytes > bytesMax) throw new Refusal(`${name} is too large`);
    sum += bytes;
  }
  return sum;
}

function lengthOf(hole: Hole | undefined): number {
  return hole === undefined ? 0 : hole.to - hole.from;
}

/** Into a directory that is new and empty. All of it is on disk when this resolves. */
export async function copyCapture(
  io: SpoolIo,
  from: Folder,
  read: Read,
  to: string,
  wanted: Wanted,
): Promise<void> {
  const { meta, final } = read;
  for (const [name, bytesMax] of Object.entries(COPIED)) {
    await copyFile(io, from, name, join(to, name), bytesMax, final?.hole);
  }
  const adopted = adoptedSession(io, from);
  if (adopted !== undefined) write(io, join(to, 'adopted'), { session_id: adopted });
  if (final !== undefined) {
    const closed = { ...final, outputClosed: true, survivors: [] };
    write(io, join(to, 'final.json'), encodeFinal(closed, wanted.id));
  }
  write(io, join(to, MARK_FILE), { mark: wanted.mark });
  write(io, join(to, 'meta.json'), encodeMeta(homeMeta(read, wanted), meta.argv));
  sync(io, to);
}

/** Where an entry was written although the journal could not be at first. */
function adoptedSession(io: SpoolIo, from: Folder): string | undefined {
  const id = asString(parseObject(readSmall(io, from, 'adopted', SMALL_MAX) ?? '')?.session_id);
  return id !== undefined && /^[A-Za-z0-9_-]{1,128}$/.test(id) ? id : undefined;
}

async function copyFile(
  io: SpoolIo,
  from: Folder,
  name: string,
  to: string,
  bytesMax: number,
  hole: Hole | undefined,
): Promise<void> {
  const source = openFile(io, from, name);
  if (source === undefined) return;
  try {
    const target = openNew(io, to);
    try {
      const skipped = name === 'output.bin' ? hole : undefined;
      const parts = skipped
        ? ([
            [0, Math.min(skipped.from, source.size)],
            [skipped.to, source.size],
          ] as const)
        : ([[0, source.size]] as const);
      let left = bytesMax;
      for (const [start, end] of parts) {
        left -= await copyPart(io, source.fd, target, { start, end, left });
      }
      if (skipped !== undefined) io.ftruncateSync(target, source.size);
      io.fsyncSync(target);
    } finally {
      io.closeSync(target);
    }
  } finally {
    io.closeSync(source.fd);
  }
}

async function copyPart(
  io: SpoolIo,
  source: number,
  target: number,
  { start, end, left }: { readonly start: number; readonly end: number; readonly left: number },
): Promise<number> {
  const piece = Buffer.allocUnsafe(Math.min(PIECE, Math.max(1, end - start)));
  let at = start;
  while (at < end) {
    const length = io.readSync(source, piece, 0, Math.min(piece.length, end - at), at);
    if (length === 0) break; // it was cut meanwhile
    if (at - start + length > left) throw new Refusal('it is too large');
    for (let done = 0; done < length; ) {
      done += io.writeSync(target, piece, done, length - done, at + done);
    }
    at += length;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return at - start;
}

function write(io: SpoolIo, path: string, content: string | object): void {
  const text = typeof content === 'string' ? content : `${JSON.stringify(content)}\n`;
  const fd = openNew(io, path);
  try {
    const bytes = Buffer.from(text);
    for (let done = 0; done < bytes.length; ) done += io.writeSync(fd, bytes, done);
    io.fsyncSync(fd);
  } finally {
    io.closeSync(fd);
  }
}

function openNew(io: SpoolIo, path: string): number {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;
  return io.openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
}

/** The names in a directory are on disk. */
export function sync(io: SpoolIo, directory: string): void {
  const fd = io.openSync(directory, constants.O_RDONLY);
  try {
    io.fsyncSync(fd);
  } finally {
    io.closeSync(fd);
  }
}
