// Runs that went on without a capture. The command's own streams do not mention it, so it is noted
// here for the next `cuff ls`, `cuff status` and `cuff doctor`: JSON lines {timestamp, state_root,
// session_id, command, reason} in `uncaptured.jsonl`. The file lies in the state root or, if that
// is not writable, in a directory that only this user may enter.

import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { errnoOf } from '../errors.ts';
import { RETENTION_SECONDS_DEFAULT } from '../limits.ts';
import { appendBounded } from '../log.ts';
import { isoTime } from '../text/dates.ts';
import { asString, parseObject } from '../text/json.ts';
import { quoteWords, shortLine } from '../text/printable.ts';
import { redactText } from '../text/secret-words.ts';
import type { CaptureMeta } from '../types.ts';

export type UncapturedRun = {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly at: number;
  /** Redacted and shortened. */
  readonly command: string;
  readonly reason: string;
};

const NAME = 'uncaptured.jsonl';
const BYTES_MAX = 64 * 1024; // and as much again in the older file
const COMMAND_LENGTH_MAX = 200;
/** Far more than is kept, and still quick to look through. */
const REDACTED_LENGTH_MAX = 10_000;
const REASON_LENGTH_MAX = 300;
/** As long as the capture would have been listed. */
const KEPT_MS = RETENTION_SECONDS_DEFAULT * 1000;

/** Writes to the first directory that accepts it. Never throws: the command runs in any case. */
export function noteUncaptured(
  root: string,
  { id, command, createdAt }: Pick<CaptureMeta, 'id' | 'command' | 'createdAt'>,
  reason: string,
): void {
  const text = command.kind === 'shell' ? command.text : quoteWords(command.argv);
  const line = JSON.stringify({
    timestamp: new Date(createdAt).toISOString(),
    state_root: root,
    session_id: id,
    // A secret may go on behind the cut, so the text is redacted first.
    command: shortLine(redactText(text.slice(0, REDACTED_LENGTH_MAX)), COMMAND_LENGTH_MAX),
    reason: shortLine(reason, REASON_LENGTH_MAX),
  });
  for (const dir of directories(root)) {
    try {
      if (dir !== root) makePrivate(dir);
      // The leading newline ends a line that a full disk has torn.
      appendBounded(realDirectory(dir, root), NAME, `\n${line}\n`, BYTES_MAX);
      return;
    } catch {
      // Full, read-only or not ours: try the next directory.
    }
  }
}

/** The runs of the last 24 hours that have no capture in this state root, newest first. */
export function uncapturedRuns(root: string, now: number = Date.now()): readonly UncapturedRun[] {
  const found = directories(root).flatMap((dir) => {
    const safe = safeDirectory(dir, root);
    if (safe === undefined) return [];
    return [`${NAME}.1`, NAME].flatMap((name) => linesOf(join(safe, name)));
  });
  return found
    .map((line) => decode(line, root))
    .filter((run) => run !== undefined)
    .filter(({ at }) => now - at < KEPT_MS)
    .sort((a, b) => b.at - a.at);
}

/** Memory last: it helps if the state root and the temporary directory share one full disk. */
function directories(root: string): readonly string[] {
  const runtime = process.env.XDG_RUNTIME_DIR ?? '';
  const name = `cuff-uncaptured-${process.getuid?.() ?? 'user'}`;
  const shared = [isAbsolute(runtime) ? runtime : tmpdir(), tmpdir(), '/dev/shm'];
  return [root, ...new Set(shared.map((dir) => join(dir, name)))];
}

function makePrivate(dir: string): void {
  try {
    fs.mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
  if (!isPrivate(dir)) throw new Error(`${dir} belongs to another user.`);
}

function isPrivate(dir: string): boolean {
  const stat = fs.lstatSync(dir, { throwIfNoEntry: false });
  if (stat?.isDirectory() !== true) return false;
  const uid = process.getuid?.();
  return uid === undefined || (stat.uid === uid && (stat.mode & 0o077) === 0);
}

/** The root itself may be a link: its target is the user's choice. */
function realDirectory(dir: string, root: string): string {
  return dir === root ? fs.realpathSync.native(root) : dir;
}

function safeDirectory(dir: string, root: string): string | undefined {
  try {
    const real = realDirectory(dir, root);
    return dir === root || isPrivate(real) ? real : undefined;
  } catch {
    return undefined; // there is no such directory
  }
}

/** Of a regular file, as far as a bounded note can be long; none where it cannot be read. */
export function linesOf(path: string): readonly string[] {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants;
  try {
    const fd = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const bytes = Buffer.alloc(2 * BYTES_MAX);
      const length = fs.fstatSync(fd).isFile() ? fs.readSync(fd, bytes, 0, bytes.length, 0) : 0;
      return bytes.toString('utf8', 0, length).split('\n');
    } finally {
      fs.closeSync(fd);
    }
  } catch {
    return []; // nothing was noted there, or the file is a link
  }
}

/** Undefined for a torn line, and for a run of another state root. */
function decode(line: string, root: string): UncapturedRun | undefined {
  const json = parseObject(line);
  const [id, command] = [asString(json?.session_id), asString(json?.command)];
  const [reason, at] = [asString(json?.reason), Date.parse(asString(json?.timestamp) ?? '')];
  if (json?.state_root !== root || Number.isNaN(at)) return undefined;
  if (id === undefined || command === undefined || reason === undefined) return undefined;
  return { id, at, command, reason };
}

/** `{"uncaptured":[{session_id, created_at, command, reason}]}`, or nothing where there is none. */
export function uncapturedJson(runs: readonly UncapturedRun[]) {
  if (runs.length === 0) return {};
  const uncaptured = runs.map(({ id, at, command, reason }) => ({
    session_id: id,
    created_at: isoTime(at),
    command,
    reason,
  }));
  return { uncaptured };
}
