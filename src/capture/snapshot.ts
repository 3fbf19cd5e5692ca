// The bytes of a capture as they are at one moment, each with its channel and time. Heals what is
// damaged: repeated records are passed over, bytes whose record is lost are given the channel that
// the totals around them leave for them, data behind its index and an index behind its data are
// both read as far as there are bytes. Nothing here throws because of what a file says.
import { countNewlines } from '../text/lines.ts';
import type { Channel, Chunk, Hole, Transport } from '../types.ts';
import { type ByteSource, pieces, without } from './byte-source.ts';
import { type IndexRecord, type Pair, type StoredMeta, slotOf } from './format.ts';
import { HoleMoved, type Holes, holeChecked, holesIn } from './hole.ts';
import { endOf, neighbours, recordsAround } from './index-search.ts';
import { type Decrypt, type KeptFiles, openSource } from './open-source.ts';

// The writer gathers an index record over at most 64 KiB and 50 ms, and while more data waits it
// holds back up to 32 KiB of such records. As long as that may be going on, bytes without a record
// are about to get one, and only it knows which stream they belong to. On a busy machine it may be
// a while between its two writes.
const GATHER_BYTES_MAX = 32 * 1024 * 1024; // 32 KiB of records of 64 bytes and more
const GATHER_MS_MAX = 1_000;

// Records that stand further from their place than this many others are taken as they come.
const REORDER_MAX = 64;

/** What a snapshot needs to know about a capture. */
export type Source = {
  readonly dir: string;
  readonly meta: StoredMeta | undefined;
  readonly outputOpen: boolean;
  readonly now: () => number;
  /** Files that a follower keeps open between two looks. */
  readonly files?: KeptFiles;
  readonly decrypt?: Decrypt | undefined;
};

export type Snapshot = {
  readonly output: ByteSource;
  readonly index: ByteSource;
  /** Behind the last byte that can be read. */
  readonly end: number;
  /** The channel of bytes nothing is known about. */
  readonly fallback: Channel;
  /** Bytes of output.bin that are not kept: nothing is read from there. */
  readonly hole: Hole | undefined;
};

/** A chunk as far as it was asked for; `lines` is undefined where they must be counted. */
export type Span = Omit<Chunk, 'lines'> & { readonly lines: number | undefined };

/** `use` only reads: it is called again when what it read turns out to be gone. */
export function withSnapshot<T>(source: Source, use: (snapshot: Snapshot) => T): T {
  for (;;) {
    const snapshot = openSnapshot(source);
    try {
      return use(snapshot);
    } catch (error) {
      if (!(error instanceof HoleMoved)) throw error;
    } finally {
      closeSnapshot(snapshot);
    }
  }
}

export function openSnapshot(source: Source): Snapshot {
  // Output first: every record that is read then has, or will have, its bytes.
  const open =
    source.files?.open ?? ((name: string) => openSource(source.dir, name, source.decrypt));
  const output = open('output.bin');
  try {
    // The head of a capture is half of the cap: only behind it can there be a hole.
    const large = output.size > (source.meta?.outputBytesMax ?? 0) / 2;
    const events = (): ByteSource => open('events.jsonl');
    const holes = large ? holesOf(events, output) : NO_HOLES;
    const whole = open('index.jsonl');
    const gone = holes.index !== undefined && holes.index.to <= whole.size;
    const index = gone && holes.index ? without(whole, holes.index) : whole;
    const fallback = fallbackOf(source.meta?.transport);
    const end = readableEnd(source, output, index);
    const safe = large && source.outputOpen ? holeChecked(output, events) : output;
    return { output: safe, index, fallback, end, hole: holes.output };
  } catch (error) {
    output.close();
    throw error;
  }
}

/** Of bytes without a record: known only where there was one stream. */
function fallbackOf(transport: Transport | undefined): Channel {
  if (transport === 'pty') return 'pty';
  return transport === 'merged' ? 'stdout' : 'unknown';
}

const NO_HOLES: Holes = { output: undefined, index: undefined };

function holesOf(open: () => ByteSource, output: ByteSource): Holes {
  const events = open();
  try {
    const holes = holesIn(events);
    // One that reaches behind the end is none of this file.
    return (holes.output?.to ?? 0) <= output.size ? holes : NO_HOLES;
  } finally {
    events.close();
  }
}

export function closeSnapshot(snapshot: Snapshot): void {
  snapshot.output.close();
  snapshot.index.close();
}

function readableEnd(source: Source, output: ByteSource, index: ByteSource): number {
  const transport = source.meta?.transport;
  const apart = transport === 'pipe' || transport === 'socket';
  if (!source.outputOpen || !apart) return output.size;
  const last = neighbours(index, endOf, Number.POSITIVE_INFINITY).before;
  const indexed = last === undefined ? 0 : Math.min(endOf(last), output.size);
  const gathering =
    output.size - indexed <= GATHER_BYTES_MAX && source.now() - output.changedAt < GATHER_MS_MAX;
  return gathering ? indexed : output.size;
}

/** `[from, to)` of output.bin, in order and without overlaps; nothing of what is not kept. */
export function* spans(snapshot: Snapshot, from: number, to: number): Generator<Span> {
  const { hole } = snapshot;
  if (hole === undefined) {
    yield* allSpans(snapshot, from, to);
    return;
  }
  if (from < hole.from) yield* allSpans(snapshot, from, Math.min(to, hole.from));
  if (to > hole.to) yield* allSpans(snapshot, Math.max(from, hole.to), to);
}

function* allSpans(snapshot: Snapshot, from: number, to: number): Generator<Span> {
  const end = Math.min(to, snapshot.end);
  const pending: IndexRecord[] = [];
  let at = from;
  let previous: IndexRecord | undefined;
  const take = function* (waitingMax: number): Generator<Span> {
    while (at < end) {
      const [next] = pending;
      if (next === undefined || (next.offset > at && pending.length <= waitingMax)) return;
      pending.shift();
      if (endOf(next) <= at) continue;
      for (const span of [...lostBetween(snapshot, previous, next), next]) {
        const part = clip(span, at, end);
        if (part !== undefined) yield part;
      }
      at = endOf(next);
      previous = next;
    }
  };
  for (const record of at < end ? recordsAround(snapshot.index, endOf, from) : []) {
    const recordEnd = endOf(record);
    if (recordEnd <= at) {
      if (previous === undefined || recordEnd > endOf(previous)) previous = record;
    } else if (record.offset === at && pending.length === 0) {
      yield clip(record, at, end) ?? record; // nearly always: the next one, in its place
      at = recordEnd;
      previous = record;
    } else {
      insert(pending, record);
      yield* take(REORDER_MAX);
    }
    if (at >= end) return;
  }
  yield* take(0);
  // Bytes the writer had no time to index.
  const channel = previous?.channel === 'pty' ? 'pty' : snapshot.fallback;
  if (at < end) yield { offset: at, length: end - at, channel, at: 0, lines: undefined };
}

/** The bytes between two records that are not neighbours: their own records were lost. */
function lostBetween(
  snapshot: Snapshot,
  previous: IndexRecord | undefined,
  next: IndexRecord,
): Span[] {
  const offset = previous === undefined ? 0 : endOf(previous);
  const length = next.offset - offset;
  if (length <= 0) return [];
  const main = next.channel === 'pty' ? 'pty' : 'stdout';
  const [before0, before1] = previous?.totalBytes ?? [0, 0];
  const own = (slot: 0 | 1): number => (slotOf(next.channel) === slot ? next.length : 0);
  const toMain = next.totalBytes[0] - own(0) - before0;
  const toStderr = next.totalBytes[1] - own(1) - before1;
  const span = { at: 0, lines: undefined };
  // Their order is lost too when both streams are in it; with this one all totals stay true.
  if (toMain >= 0 && toStderr >= 0 && toMain + toStderr === length) {
    const parts: Span[] = [
      { ...span, offset, length: toMain, channel: main },
      { ...span, offset: offset + toMain, length: toStderr, channel: 'stderr' },
    ];
    return parts.filter((part) => part.length > 0);
  }
  return [{ ...span, offset, length, channel: main === 'pty' ? main : snapshot.fallback }];
}

/** The part of a span inside `[from, to)`, or undefined. */
function clip(span: Span, from: number, to: number): Span | undefined {
  const start = Math.max(span.offset, from);
  const end = Math.min(span.offset + span.length, to);
  if (start >= end) return undefined;
  const length = end - start;
  return length === span.length ? span : { ...span, offset: start, length, lines: undefined };
}

function insert(sorted: IndexRecord[], record: IndexRecord): void {
  let place = sorted.length;
  while (place > 0 && (sorted[place - 1]?.offset ?? 0) > record.offset) place -= 1;
  sorted.splice(place, 0, record);
}

export type Totals = { readonly bytes: Pair; readonly lines: Pair };

/**
 * Of everything up to `snapshot.end`, what is not kept included: from the last good record, and by
 * counting behind it. Across a hole it is the record behind it that knows.
 */
export function totalsOf(snapshot: Snapshot): Totals {
  const { hole, index } = snapshot;
  const end =
    hole !== undefined && snapshot.end > hole.from ? behind(snapshot, hole) : snapshot.end;
  const { before, after } = neighbours(index, endOf, end);
  const start = before === undefined ? 0 : endOf(before);
  const crossed = hole !== undefined && start < hole.to && end >= hole.to;
  if (crossed && after !== undefined && after.offset <= end) return until(snapshot, after, end);
  const bytes: [number, number] = [...(before?.totalBytes ?? ([0, 0] as const))];
  const lines: [number, number] = [...(before?.totalLines ?? ([0, 0] as const))];
  for (const span of spans(snapshot, start, end)) {
    const slot = slotOf(span.channel);
    bytes[slot] += span.length;
    lines[slot] += span.lines ?? newlinesIn(snapshot, span.offset, span.offset + span.length);
  }
  // The records are lost as well; their bytes were there all the same.
  if (crossed) bytes[0] += end - bytes[0] - bytes[1];
  return { bytes, lines };
}

/** An end inside of the hole is the one behind it: no total is known in between. */
function behind({ end }: Snapshot, hole: Hole): number {
  return Math.max(end, hole.to);
}

/** Totals at `end`, which lies in this record. */
function until(snapshot: Snapshot, record: IndexRecord, end: number): Totals {
  const slot = slotOf(record.channel);
  const bytes: [number, number] = [...record.totalBytes];
  const lines: [number, number] = [...record.totalLines];
  bytes[slot] -= endOf(record) - end;
  lines[slot] -= newlinesIn(snapshot, end, endOf(record));
  return { bytes, lines };
}

/** `\n` in `[from, to)` of output.bin. */
function newlinesIn(snapshot: Snapshot, from: number, to: number): number {
  let count = 0;
  for (const piece of pieces(snapshot.output, from, to)) count += countNewlines(piece);
  return count;
}
