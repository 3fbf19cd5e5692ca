// Where in the output of a run something is: the records of its index from an offset on, and the
// line, the offset and the time that belong together. A gigabyte is answered as fast as a page:
// the index is searched, never read from its start.

import { pieces } from '../capture/byte-source.ts';
import { endOf, neighbours } from '../capture/index-search.ts';
import { type Snapshot, spans, withSnapshot } from '../capture/snapshot.ts';
import { newlinesBefore, positionBeforeLine } from '../capture/stream.ts';
import type { Store } from '../shell/captures.ts';
import { isoTime } from '../text/dates.ts';
import { countNewlines } from '../text/lines.ts';
import type { IndexAnswer, IndexRecord, PlaceAnswer } from './api.ts';
import { Fault } from './fault.ts';
import type { Params } from './params.ts';
import { captureOf } from './runs.ts';

export const INDEX_PARAMS = ['from', 'limit'];
export const PLACE_PARAMS = ['line', 'offset', 't'];

const LIMIT = 1_000;
const LIMIT_MAX = 10_000;
const NEWLINE = 0x0a;

export function indexAnswer(store: Store, id: string, params: Params): IndexAnswer {
  const capture = captureOf(store, id);
  const from = params.count('from') ?? 0;
  const limit = params.limit(LIMIT, LIMIT_MAX);
  return withSnapshot(capture, (snapshot) => {
    const records: IndexRecord[] = [];
    for (const span of spans(snapshot, from, snapshot.end)) {
      if (records.length === limit) break;
      const { offset, length, channel, at, t, pid } = span;
      const lines = span.lines ?? newlinesIn(snapshot, offset, offset + length);
      const timestamp = isoTime(at);
      records.push({
        offset,
        length,
        channel,
        timestamp,
        lines,
        t: t ?? null,
        ...(pid && { pid }),
      });
    }
    const last = records.at(-1);
    const next = last === undefined ? Math.max(from, 0) : last.offset + last.length;
    const eof = next >= snapshot.end;
    const line = lineAt(snapshot, records[0]?.offset ?? Math.min(from, snapshot.end));
    return { records, next, eof, final: eof && !capture.outputOpen, line };
  });
}

export function placeAnswer(store: Store, id: string, params: Params): PlaceAnswer {
  const [line, offset, t] = PLACE_PARAMS.map((name) => params.count(name));
  if ([line, offset, t].filter((one) => one !== undefined).length !== 1) {
    throw new Fault(400, 'One of line, offset and t is needed.');
  }
  const capture = captureOf(store, id);
  return withSnapshot(capture, (snapshot) => {
    const { end } = snapshot;
    const wanted =
      line === undefined ? (offset ?? offsetAt(snapshot, t ?? 0)) : startOfLine(snapshot, line);
    const at = lineStart(snapshot, Math.min(wanted, end));
    const { before, after } = neighbours(snapshot.index, endOf, at);
    const time = after?.t ?? before?.t ?? null;
    const lines = newlinesBefore(snapshot, 'all', end);
    return { line: lineAt(snapshot, at), offset: at, t: time, lines, bytes: end };
  });
}

/** From 1. */
export function lineAt(snapshot: Snapshot, offset: number): number {
  return 1 + newlinesBefore(snapshot, 'all', offset);
}

function newlinesIn({ output }: Snapshot, from: number, to: number): number {
  let count = 0;
  for (const piece of pieces(output, from, to)) count += countNewlines(piece);
  return count;
}

/** The start of that line, or the end where there are fewer. */
function startOfLine(snapshot: Snapshot, line: number): number {
  if (line <= 1) return 0;
  let at = positionBeforeLine(snapshot, 'all', line - 2);
  let left = line - 1 - newlinesBefore(snapshot, 'all', at);
  if (left <= 0) return at;
  for (const piece of pieces(snapshot.output, at, snapshot.end)) {
    for (let i = piece.indexOf(NEWLINE); i >= 0; i = piece.indexOf(NEWLINE, i + 1)) {
      left -= 1;
      if (left === 0) return at + i + 1;
    }
    at += piece.length;
  }
  return snapshot.end;
}

const LINE_BYTES_MAX = 1_048_576; // a longer line has no start that is worth looking for

/** Where the line begins that this byte is in. */
function lineStart({ output, hole }: Snapshot, offset: number): number {
  const kept = hole !== undefined && offset >= hole.to ? hole.to : 0;
  const floor = Math.max(kept, offset - LINE_BYTES_MAX);
  const newline = Buffer.from(output.read(floor, offset - floor)).lastIndexOf(NEWLINE);
  return newline < 0 ? (floor === kept ? kept : offset) : floor + newline + 1;
}

/** What was being printed that many milliseconds after the command began. */
function offsetAt(snapshot: Snapshot, t: number): number {
  const { after, before } = neighbours(snapshot.index, (record) => record.t ?? 0, t);
  return after?.offset ?? (before === undefined ? 0 : endOf(before));
}
