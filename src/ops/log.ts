// The internal log: JSON lines in logs/derun.log under the state root. It never speaks to a
// terminal, holds no output and no environment, and a log that cannot be written stops nobody.

import {
  appendFileSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';

const LOG_BYTES_MAX = 4 * 1024 * 1024; // then it becomes derun.log.1 and a new one begins

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
  readonly cleanup_result?: 'skip' | 'remove' | 'error';
  readonly cleanup_reason?: string;
  readonly error?: string;
};

export type Log = (fields: LogFields) => void;

export function openLog(root: string, now: () => number = Date.now): Log {
  const dir = join(root, 'logs');
  const path = join(dir, 'derun.log');
  return (fields) => {
    const line = `${JSON.stringify({ timestamp: new Date(now()).toISOString(), ...fields })}\n`;
    try {
      append(dir, path, line);
    } catch {
      // The log shares the disk with what it would complain about.
    }
  };
}

function append(dir: string, path: string, line: string): void {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW = 0 } = constants;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const fd = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
  try {
    appendFileSync(fd, line);
  } finally {
    closeSync(fd);
  }
  if (statSync(path).size > LOG_BYTES_MAX) renameSync(path, `${path}.1`);
}
