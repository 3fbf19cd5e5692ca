// Lines between a helper and the native client of a call (native/sh.c). The client may be killed at
// any moment: that is the end of the lines, and no error.

import * as fs from 'node:fs';
import type { Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import { errnoOf } from '../../errors.ts';
import { deferred } from '../../shell/run.ts';

export type Channel = {
  send(text: string | Uint8Array): void;
  /** The next line; undefined when the client is gone. */
  line(): Promise<string | undefined>;
};

/** A client says two lines, each shorter than this. */
const UNREAD_MAX = 65_536;

/** A file that both sides read and write; a socket in most cases. */
export function channelOn(fd: number): Channel {
  let rest = '';
  let over = false;
  const more = async (): Promise<boolean> => {
    const piece = deferred<Buffer | undefined>();
    const buffer = Buffer.alloc(16_384);
    fs.read(fd, buffer, 0, buffer.length, null, (error, bytes) => {
      const gone = error !== null || bytes === 0;
      piece.resolve(gone ? undefined : buffer.subarray(0, bytes));
    });
    const got = await piece.promise;
    rest += got?.toString('utf8') ?? '';
    return got !== undefined;
  };
  return {
    send(text) {
      const bytes = Buffer.from(text);
      try {
        for (let at = 0; at < bytes.length; ) at += fs.writeSync(fd, bytes, at);
      } catch (error) {
        if (errnoOf(error) !== 'EPIPE') throw error; // the client was killed
      }
    },
    async line() {
      while (!rest.includes('\n') && !over) over = !(await more());
      const end = rest.indexOf('\n');
      if (end < 0) return undefined;
      const line = rest.slice(0, end);
      rest = rest.slice(end + 1);
      return line;
    },
  };
}

/** Of many at once: none of them holds a thread while it is silent. */
export function channelOver(socket: Socket): Channel {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let changed = deferred<void>();
  const note = (): void => {
    changed.resolve();
    changed = deferred<void>();
  };
  socket.on('data', (piece: Buffer) => {
    rest += decoder.write(piece);
    if (rest.length > UNREAD_MAX) socket.destroy(); // no client of ours
    note();
  });
  socket.on('close', note);
  return {
    send(text) {
      if (socket.writable) socket.write(text);
    },
    async line() {
      while (!rest.includes('\n') && !socket.destroyed) await changed.promise;
      const end = rest.indexOf('\n');
      if (end < 0) return undefined;
      const line = rest.slice(0, end);
      rest = rest.slice(end + 1);
      return line;
    },
  };
}
