// Streams of this process that are sockets, in a sandbox that forbids the system calls by which
// Node recognises a socket (getsockopt, getsockname). Node then gives the program an empty stdin
// and a stdout that forgets everything. read(2) and write(2) work on them as on any file.

import * as fs from 'node:fs';
import { Writable } from 'node:stream';
import { errnoOf } from '../errors.ts';

const NAMES = ['stdin', 'stdout', 'stderr'] as const;

/** Puts working streams in the place of those that Node did not recognise. */
export function mendStreams(names: readonly (typeof NAMES)[number][] = NAMES): void {
  for (const name of names) {
    const fd = NAMES.indexOf(name);
    if (!isSocket(fd) || '_handle' in process[name]) continue;
    const stream = fd === 0 ? fs.createReadStream('', { fd, autoClose: false }) : writer(fd);
    Object.defineProperty(process, name, { value: stream, configurable: true, enumerable: true });
  }
}

const RETRY_MS = 5; // the reader of a full socket that does not block

/** Written before `write` returns, as Node's own: a process that ends at once loses nothing. */
function writer(fd: number): Writable {
  const write = (bytes: Buffer, done: (error?: Error | null) => void): void => {
    let at = 0;
    try {
      while (at < bytes.length) at += fs.writeSync(fd, bytes, at);
      done();
    } catch (error) {
      if (errnoOf(error) !== 'EAGAIN') done(error as Error);
      else setTimeout(write, RETRY_MS, bytes.subarray(at), done);
    }
  };
  return new Writable({ decodeStrings: true, write: (bytes, _, done) => write(bytes, done) });
}

function isSocket(fd: number): boolean {
  try {
    return fs.fstatSync(fd).isSocket();
  } catch {
    return false; // closed
  }
}
