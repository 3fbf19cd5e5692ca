// The output of one run to one socket: everything from an offset on, then what comes. The file is
// the buffer: where the socket is full, nothing is read. What was there when the page began to
// follow reaches it whole, however slow it is; later, when it is too far behind, it is told what it
// missed and goes on near the end.

import type { WebSocket } from 'ws';
import { outputSize } from '../capture/store.ts';
import { follow, waitDone } from '../capture/wait.ts';
import { isAppError } from '../errors.ts';
import type { Store } from '../shell/captures.ts';
import { FRAME_HEAD_BYTES, type ServerMessage } from './api.ts';
import { captureOf, summaryOf } from './runs.ts';

const BEHIND_BYTES_MAX = 1024 * 1024; // that wait in the socket, and that a slow page may miss
const SHOWN_BYTES = 64 * 1024; // before the end, where a page that was behind goes on
const PIECE_BYTES = 64 * 1024;

export type RunWish = {
  readonly id: string;
  readonly from: number;
  readonly channel: number;
  readonly signal: AbortSignal;
};

/** Resolves when nothing more can come, or on abort. Throws where there is no such run. */
export async function followRun(
  store: Store,
  { id, from, channel, signal }: RunWish,
  socket: WebSocket,
  say: (message: ServerMessage) => void,
): Promise<void> {
  const capture = captureOf(store, id);
  const size = outputSize(capture);
  const start = Math.min(from, size);
  say({
    type: 'run',
    id,
    channel,
    from: start,
    output_bytes: size,
    output_open: capture.outputOpen,
  });
  const state = (): void => {
    const run = signal.aborted ? undefined : summaryOf(store, id);
    if (run !== undefined) say({ type: 'state', id, run });
  };
  if (capture.outputOpen && capture.final === undefined) tellDone(store, id, signal, state);
  for (let at = start; ; ) {
    const next = await pour({ store, id, channel, at, whole: size, signal }, socket, say);
    if (next === undefined) break;
    at = next;
  }
  state();
}

type Pouring = Pick<RunWish, 'id' | 'channel' | 'signal'> & {
  readonly store: Store;
  readonly at: number;
  /** Everything before it is sent. */
  readonly whole: number;
};

/** Where to go on after a part was left out; undefined at the end. */
async function pour(
  { store, id, channel, at, whole, signal }: Pouring,
  socket: WebSocket,
  say: (message: ServerMessage) => void,
): Promise<number | undefined> {
  for await (const read of follow(store, id, { from: at, signal, bytesMax: PIECE_BYTES })) {
    if (read.skipped !== undefined) say({ type: 'hole', id, hole: read.skipped });
    const [first] = read.chunks;
    if (first === undefined) continue;
    const bytes = Buffer.concat(read.chunks.map((piece) => piece.bytes));
    const waited = await send(socket, frame(channel, first.chunk.offset, bytes), signal);
    if (signal.aborted) return undefined;
    const next = read.nextCursor;
    if (!waited || next < whole) continue;
    const size = sizeOf(store, id);
    const to = size - SHOWN_BYTES;
    if (size - next <= BEHIND_BYTES_MAX) continue;
    say({ type: 'behind', id, from: next, to, bytes: to - next });
    return to;
  }
  return undefined;
}

/** 16 bits of channel, 48 of offset. */
function frame(channel: number, offset: number, bytes: Uint8Array): Buffer {
  const whole = Buffer.allocUnsafe(FRAME_HEAD_BYTES + bytes.length);
  whole.writeUInt16BE(channel, 0);
  whole.writeUIntBE(offset, 2, 6);
  whole.set(bytes, FRAME_HEAD_BYTES);
  return whole;
}

/** True if it had to wait until the socket took what was sent before. */
async function send(socket: WebSocket, bytes: Buffer, signal: AbortSignal): Promise<boolean> {
  if (socket.readyState !== socket.OPEN) return false;
  if (socket.bufferedAmount <= BEHIND_BYTES_MAX) {
    socket.send(bytes, () => undefined); // a socket that closed says so by its own event
    return false;
  }
  await new Promise<void>((resolve) => {
    const over = (): void => resolve();
    signal.addEventListener('abort', over, { once: true });
    socket.send(bytes, () => {
      signal.removeEventListener('abort', over);
      resolve();
    });
  });
  return true;
}

function sizeOf(store: Store, id: string): number {
  try {
    return outputSize(captureOf(store, id));
  } catch (error) {
    if (isAppError(error)) return 0; // it was removed: the follower notices by itself
    throw error;
  }
}

/** When the shell is done, survivors may still print. */
function tellDone(store: Store, id: string, signal: AbortSignal, state: () => void): void {
  waitDone(store, id, Number.POSITIVE_INFINITY, signal).then(
    (done) => done !== undefined && state(),
    () => undefined, // it was removed: the follower notices by itself
  );
}
