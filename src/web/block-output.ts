// The first and the last lines that a command printed: of its capture, where both streams stand as
// they came, else of its entry. Never more than a few kilobytes are read, however long it is.

import { isSessionId } from '../capture/paths.ts';
import { type OutputPiece, readOutput } from '../capture/reader.ts';
import { totalsOf, withSnapshot } from '../capture/snapshot.ts';
import { streamTotals } from '../capture/stream.ts';
import { isAppError } from '../errors.ts';
import { openCapture, type Store } from '../shell/captures.ts';
import { countNewlines } from '../text/lines.ts';
import { decodeUtf8 } from '../text/utf8.ts';
import type { Channel, Entry } from '../types.ts';
import type { BlockOutput, OutputPart } from './api.ts';

const LINES = 20; // at each end
const BYTES = 16 * 1024; // of each end: twenty lines may be long

const NOTHING: BlockOutput = {
  source: 'none',
  head: [],
  tail: [],
  omitted_lines: 0,
  bytes: 0,
  lines: 0,
};

export function blockOutput(store: Store, entry: Entry): BlockOutput {
  const { run_id } = entry;
  if (run_id !== null && isSessionId(run_id)) {
    try {
      return ofCapture(store, run_id);
    } catch (error) {
      if (!isAppError(error)) throw error; // expired, encrypted or damaged: the entry has a copy
    }
  }
  return ofEntry(entry);
}

type Piece = { readonly channel: Channel; readonly bytes: Uint8Array };

function ofCapture(store: Store, id: string): BlockOutput {
  const capture = openCapture(store, id);
  const totals = withSnapshot(capture, (snapshot) => ({
    ...streamTotals(totalsOf(snapshot), 'all'),
    end: snapshot.end,
  }));
  const { end, lines } = totals;
  const first = readOutput(capture, 0, BYTES).chunks.map(pieceOf);
  const last = end > BYTES ? readOutput(capture, Math.max(BYTES, end - BYTES), BYTES).chunks : [];
  return cut(first, last.map(pieceOf), { bytes: end, lines, source: 'capture' });
}

function pieceOf({ chunk, bytes }: OutputPiece): Piece {
  return { channel: chunk.channel, bytes };
}

function ofEntry({ stdout, stderr, output_truncated_bytes }: Entry): BlockOutput {
  if (stdout === null && stderr === null) return NOTHING;
  const pieces = (['stdout', 'stderr'] as const).map((channel) => ({
    channel,
    bytes: Buffer.from((channel === 'stdout' ? stdout : stderr) ?? ''),
  }));
  const size = sizeOf(pieces);
  const lines = newlines(pieces);
  const bytes = Math.max(size, output_truncated_bytes ?? 0);
  return cut(firstBytes(pieces, BYTES), lastBytes(pieces, Math.min(BYTES, size - BYTES)), {
    bytes,
    lines,
    source: 'entry',
  });
}

type Size = Pick<BlockOutput, 'bytes' | 'lines' | 'source'>;

/** `last` begins where `first` ends, or behind it. */
function cut(first: readonly Piece[], last: readonly Piece[], size: Size): BlockOutput {
  const whole = size.bytes <= sizeOf(first);
  if (whole && newlines(first) <= 2 * LINES) {
    return { ...size, head: parts(first), tail: [], omitted_lines: 0 };
  }
  const head = firstLines(first);
  const rest = [...firstBytes(first, Number.POSITIVE_INFINITY, sizeOf(head)), ...last];
  const tail = lastLines(rest);
  const omitted = Math.max(0, size.lines - newlines(head) - newlines(tail));
  return { ...size, head: parts(head), tail: parts(tail), omitted_lines: omitted };
}

/** Up to behind the twentieth newline. */
function firstLines(pieces: readonly Piece[]): Piece[] {
  let left = LINES;
  const out: Piece[] = [];
  for (const { channel, bytes } of pieces) {
    if (left === 0) break;
    let at = 0;
    for (; left > 0 && at < bytes.length; left -= 1) {
      const newline = bytes.indexOf(NEWLINE, at);
      if (newline < 0) {
        at = bytes.length;
        break;
      }
      at = newline + 1;
    }
    out.push({ channel, bytes: bytes.subarray(0, at) });
  }
  return out;
}

/** The last twenty lines, of which the last may have no end. */
function lastLines(pieces: readonly Piece[]): Piece[] {
  const ends = pieces.at(-1)?.bytes.at(-1) === NEWLINE;
  let left = LINES + Number(ends);
  const out: Piece[] = [];
  for (const { channel, bytes } of [...pieces].reverse()) {
    let at = bytes.length;
    while (left > 0 && at > 0) {
      const newline = bytes.lastIndexOf(NEWLINE, at - 1);
      if (newline < 0) {
        at = 0;
        break;
      }
      left -= 1;
      at = left === 0 ? newline + 1 : newline;
    }
    if (at < bytes.length) out.unshift({ channel, bytes: bytes.subarray(at) });
    if (left === 0) break;
  }
  return out;
}

const NEWLINE = 0x0a;

function firstBytes(pieces: readonly Piece[], count: number, from = 0): Piece[] {
  let at = 0;
  return pieces.flatMap(({ channel, bytes }) => {
    const [start, end] = [Math.max(0, from - at), Math.min(bytes.length, count - at)];
    at += bytes.length;
    return start < end ? [{ channel, bytes: bytes.subarray(start, end) }] : [];
  });
}

function lastBytes(pieces: readonly Piece[], count: number): Piece[] {
  const size = sizeOf(pieces);
  return count <= 0 ? [] : firstBytes(pieces, size, size - count);
}

function sizeOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

function newlines(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { bytes }) => sum + countNewlines(bytes), 0);
}

/** Neighbours of one channel are one text: a character may be split between them. */
function parts(pieces: readonly Piece[]): OutputPart[] {
  const out: { channel: Channel; all: Uint8Array[] }[] = [];
  for (const { channel, bytes } of pieces) {
    const last = out.at(-1);
    if (last?.channel === channel) last.all.push(bytes);
    else if (bytes.length > 0) out.push({ channel, all: [bytes] });
  }
  return out.map(({ channel, all }) => ({ channel, text: decodeUtf8(Buffer.concat(all)) }));
}
