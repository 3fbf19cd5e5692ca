// `GET /api/runs/ID/bytes`: the output of a run, whole or by Range. Nothing of it is ever held as a
// whole, and a reader that is slow is waited for.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { readSnapshot } from '../capture/reader.ts';
import { type Snapshot, totalsOf, withSnapshot } from '../capture/snapshot.ts';
import { type Stream, streamChunks, streamHole, streamTotals } from '../capture/stream.ts';
import type { Capture, Store } from '../shell/captures.ts';
import type { Hole } from '../types.ts';
import { Fault } from './fault.ts';
import type { Params } from './params.ts';
import { captureOf } from './runs.ts';

export const BYTES_PARAMS = ['stream', 'download'];

const STREAMS: readonly Stream[] = ['all', 'stdout', 'stderr'];
const RANGE_BYTES_MAX = 4 * 1024 * 1024; // of one answer, which is held in memory

export async function sendBytes(
  store: Store,
  id: string,
  params: Params,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
): Promise<void> {
  const capture = captureOf(store, id);
  const stream = params.oneOf('stream', STREAMS) ?? 'all';
  const headers: Record<string, string> = {
    'content-type': 'application/octet-stream',
    'accept-ranges': 'bytes',
  };
  // Ids have no quote: see `isSessionId`.
  if (params.on('download')) headers['content-disposition'] = `attachment; filename="${id}.log"`;
  const { range } = request.headers;
  if (range !== undefined) return sendRange(capture, stream, range, { response, headers });
  const hole = withSnapshot(capture, (snapshot) => streamHole(snapshot, stream));
  response.writeHead(200, { ...headers, ...holeHeader(hole) });
  if (request.method === 'HEAD') response.end();
  else await sendWhole(capture, stream, response);
}

type Answer = {
  readonly response: ServerResponse;
  readonly headers: Readonly<Record<string, string>>;
};

function sendRange(
  capture: Capture,
  stream: Stream,
  text: string,
  { response, headers }: Answer,
): void {
  const read = withSnapshot(capture, (snapshot) => {
    const total = totalOf(snapshot, stream);
    const { from, to } = rangeOf(text, total);
    const maxBytes = Math.min(to - from, RANGE_BYTES_MAX);
    const question = { cursor: from, maxBytes, stream, end: total, open: capture.outputOpen };
    const { chunks } = readSnapshot(snapshot, question);
    const start = chunks[0]?.chunk.offset;
    return { total, start, pieces: chunks, hole: streamHole(snapshot, stream) };
  });
  const bytes = Buffer.concat(read.pieces.map((piece) => piece.bytes));
  const { start, total } = read;
  if (start === undefined || bytes.length === 0) throw outside(total);
  const last = start + bytes.length - 1;
  response.writeHead(206, {
    ...headers,
    ...holeHeader(read.hole),
    'content-range': `bytes ${start}-${last}/${total}`,
    'content-length': String(bytes.length),
  });
  response.end(bytes);
}

function totalOf(snapshot: Snapshot, stream: Stream): number {
  return stream === 'all' ? snapshot.end : streamTotals(totalsOf(snapshot), stream).bytes;
}

/** `[from, to)` of one range: `A-B`, `A-` or `-N`. */
function rangeOf(text: string, total: number): Hole {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(text.trim()) ?? [];
  if (first === '' && last === '') {
    throw new Fault(400, 'This is no range of bytes that is served here.', {
      hint: 'Ask for one: bytes=A-B, bytes=A- or bytes=-N.',
    });
  }
  const from = first === '' ? Math.max(0, total - Number(last)) : Number(first);
  const to = first === '' || last === '' ? total : Math.min(total, Number(last) + 1);
  if (first !== '' && last !== '' && Number(last) < from) {
    throw new Fault(400, 'The range ends before it begins.');
  }
  if (from >= to) throw outside(total);
  return { from, to };
}

function outside(total: number): Fault {
  return new Fault(416, `There are ${total} bytes, and none in this range.`, {
    headers: { 'content-range': `bytes */${total}` },
  });
}

function holeHeader(hole: Hole | undefined): Readonly<Record<string, string>> {
  return hole === undefined ? {} : { 'x-cuff-hole': `${hole.from}-${hole.to}` };
}

async function sendWhole(
  capture: Capture,
  stream: Stream,
  response: ServerResponse,
): Promise<void> {
  for (const piece of streamChunks(capture, stream)) {
    if (response.destroyed) return;
    if (response.write(piece)) continue;
    await room(response);
    // Others get their turn even where the reader is as fast as the disk.
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.end();
}

/** Resolves when more can be written, or when the reader has left. */
function room(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const over = (): void => {
      response.off('drain', over).off('close', over);
      resolve();
    };
    response.on('drain', over).on('close', over);
  });
}
