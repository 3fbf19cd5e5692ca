// The internal log: JSON lines in logs/derun.log under the state root. It never speaks to a
// terminal, holds no output and no environment, and a log that cannot be written stops nothing.

import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeDirectories } from './directories.ts';

const LOG_BYTES_MAX = 4 * 1024 * 1024; // and as much again in the older one

/** Seed 004's fields; a line has those that apply. */
export type LogFields = {
  readonly session_id?: string;
  readonly transport_mode?: string;
  readonly tty_attached?: boolean;
  readonly chunk_offset?: number;
  readonly chunk_size?: number;
  readonly state_transition?: string;
  readonly exit_code?: number | null;
  readonly signal?: string | null;
  readonly cleanup_result?: 'skip' | 'remove' | 'pack' | 'error';
  readonly cleanup_reason?: string;
  readonly error?: string;
};

export type Log = (fields: LogFields) => void;

/** Lines of one turn are written together, at its end or with the process. */
export function openLog(root: string): Log {
  let waiting = '';
  const flush = (): void => {
    const text = waiting;
    waiting = '';
    if (text !== '') appendLog(join(root, 'logs'), 'derun.log', text);
  };
  process.on('exit', flush);
  return (fields) => {
    if (waiting === '') setImmediate(flush);
    waiting += `${JSON.stringify({ timestamp: new Date().toISOString(), ...fields })}\n`;
  };
}

/** To a log of that name; one that has grown too large becomes NAME.1 and a new one begins. */
export function appendLog(dir: string, name: string, text: string): void {
  try {
    makeDirectories(dir, 0o700);
    appendBounded(dir, name, text, LOG_BYTES_MAX);
  } catch {
    // There is no other place to report a log that cannot be written.
  }
}

/** Throws when the text could not be written as a whole, or something there is a link. */
export function appendBounded(dir: string, name: string, text: string, bytesMax: number): void {
  const path = join(dir, name);
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  // A link may lead to a directory that another user chose.
  if (!lstatSync(dir).isDirectory()) throw new Error(`${dir} is not a directory.`);
  const flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
  const fd = openSync(path, flags, 0o600);
  try {
    const bytes = Buffer.from(text);
    if (writeSync(fd, bytes) < bytes.length) throw new Error(`${path} has no room.`);
    if (fstatSync(fd).size > bytesMax) renameSync(path, `${path}.1`);
  } finally {
    closeSync(fd);
  }
}
