// Output of a capture for derun's tools: read by cursor, or waited for. An answer is small enough
// for any client whatever was asked for; the cursor says where the next one goes on.

import {
  type Capture,
  cutBytes,
  follow,
  type OutputPiece,
  openCapture,
  type Store,
} from '../../shell/captures.ts';
import { OutputReader } from '../../shell/output/reader.ts';
import type { Hole } from '../../types.ts';
import { unreadOf } from './shapes.ts';
import { type Rest, textOf } from './text.ts';

// Both copies of the largest answer, every character of it escaped, stay below what can be sent.
export const BYTES_MAX = 262_144;
const CHUNKS_MAX = 2_000; // two streams that take turns byte by byte have one for each byte

const CHARACTER_BYTES_MAX = 4; // as text, less than that could be nothing at all

export type Encoding = 'base64' | 'text';

export type Question = {
  readonly id: string;
  readonly cursor: number;
  readonly maxBytes: number;
  readonly encoding: Encoding;
};

/** The answer of both tools; its keys are what the other side sees. */
export type Output = {
  readonly state: Capture['state'];
  readonly encoding: Encoding;
  readonly chunks: readonly Readonly<Record<string, unknown>>[];
  readonly next_cursor: string;
  readonly eof: boolean;
  readonly final: boolean;
  /** Bytes that were printed and are not kept: passed over here, or behind the end of the rest. */
  readonly missing?: { readonly offset: number; readonly length: number };
  /** That the end may be missing, and why. */
  readonly unread?: string;
};

export function readChunks(store: Store, question: Question): Output {
  // The state before the bytes: when no process can write any more, what is read then is all of it.
  const capture = openCapture(store, question.id);
  const from = Math.min(question.cursor, OutputReader.of(capture).end);
  const least = question.encoding === 'text' ? CHARACTER_BYTES_MAX : 0;
  const { taken, end, more, missing } = take(capture, from, Math.max(question.maxBytes, least));
  const final = !more && !capture.outputOpen;
  const stops = missing !== undefined && missing.to > end;
  const rest = final || stops ? 'nothing' : more ? 'now' : 'later';
  const { chunks, next } = encode(taken, rest, question.encoding, end);
  return {
    state: capture.state,
    encoding: question.encoding,
    chunks,
    next_cursor: String(stops ? missing.to : next),
    eof: !more,
    final,
    ...missingIn(missing ?? (final ? cutEnd(capture, end) : undefined)),
    ...(final && unreadOf(capture)),
  };
}

function missingIn(part: Hole | undefined): Pick<Output, 'missing'> {
  return part === undefined ? {} : { missing: { offset: part.from, length: part.to - part.from } };
}

/** By what output.bin was shortened after the run had ended. */
function cutEnd(capture: Capture, end: number): Hole | undefined {
  const bytes = cutBytes(capture, end);
  return bytes === 0 ? undefined : { from: end, to: end + bytes };
}

/**
 * Answers as soon as there is something behind the cursor or nothing more can come; with nothing
 * when the time is over or the asker gave up.
 */
export async function waitForChunks(
  store: Store,
  question: Question,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Output> {
  let output = readChunks(store, question);
  if (answers(output) || timeoutMs === 0) return output;
  // A cursor behind the end waits for what comes next, not until the end has passed it.
  const from = Number(output.next_cursor);
  const time = new AbortController();
  const timer = setTimeout(() => time.abort(), timeoutMs);
  try {
    const until = AbortSignal.any([signal, time.signal]);
    for await (const _ of follow(store, question.id, { from, signal: until })) {
      output = readChunks(store, { ...question, cursor: from });
      // Do not wake text readers for half a character.
      if (answers(output)) return output;
    }
    return readChunks(store, { ...question, cursor: from });
  } finally {
    clearTimeout(timer);
  }
}

function answers(output: Output): boolean {
  return output.chunks.length > 0 || output.final;
}

type Batch = {
  readonly taken: OutputPiece[];
  readonly end: number;
  readonly more: boolean;
  /** Before what was taken, or behind it. */
  readonly missing: Hole | undefined;
};

/** As much as fits, up to what is not kept; `more` when there is something behind it already. */
function take(capture: Capture, from: number, maxBytes: number): Batch {
  const taken: OutputPiece[] = [];
  let end = from;
  let left = maxBytes;
  let missing: Hole | undefined;
  for (const { chunk, bytes } of OutputReader.of(capture).pieces(from)) {
    const jump = chunk.offset > end ? { from: end, to: chunk.offset } : undefined;
    if (jump !== undefined && taken.length > 0) return { taken, end, more: true, missing: jump };
    missing ??= jump;
    end = chunk.offset;
    const length = Math.min(chunk.length, left);
    if (length === 0 || taken.length === CHUNKS_MAX) return { taken, end, more: true, missing };
    taken.push({ chunk: { ...chunk, length }, bytes: bytes.subarray(0, length) });
    end += length;
    left -= length;
    if (length < chunk.length) return { taken, end, more: true, missing };
  }
  return { taken, end, more: false, missing };
}

function encode(
  taken: readonly OutputPiece[],
  rest: Rest,
  encoding: Encoding,
  end: number,
): { readonly chunks: Output['chunks']; readonly next: number } {
  if (encoding === 'base64') {
    const chunks = taken.map((piece) => ({
      ...factsOf(piece),
      data: Buffer.from(piece.bytes).toString('base64'),
    }));
    return { chunks, next: end };
  }
  if (taken.length === 0) return { chunks: [], next: end };
  const { texts, end: next } = textOf(taken, rest);
  return { chunks: texts.map(({ piece, text }) => ({ ...factsOf(piece), text })), next };
}

function factsOf({ chunk }: OutputPiece): Readonly<Record<string, unknown>> {
  return {
    channel: chunk.channel,
    offset: chunk.offset,
    length: chunk.length,
    timestamp: chunk.at === 0 ? null : new Date(chunk.at).toISOString(),
    ...(chunk.pid === undefined ? {} : { pid: chunk.pid }),
  };
}
