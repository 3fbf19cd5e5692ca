// The log of a server: JSON lines in logs/cuff.log under the state root, and on stderr the text of
// what a person at a terminal should see. Secrets of the environment are in neither. A log that
// cannot be written stops nothing.

import { join } from 'node:path';
import pino from 'pino';
import { appendLog } from '../log.ts';
import { printable } from '../text/printable.ts';
import { redactor } from '../text/redact.ts';
import type { Env, Log, LogLevel } from '../types.ts';

const WAIT_MS = 50; // what is no warning is written with what else comes meanwhile

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

type Fields = Readonly<Record<string, unknown>>;

export type ServerLog = {
  readonly log: Log;
  /** Writes what waits; afterwards nothing is lost by a quick exit. */
  flush(): void;
  /** Flushes, and lets go of the process. */
  close(): void;
};

export type ServerLogOptions = {
  readonly stateRoot: string;
  /** Its CUFF_LOG_LEVEL says from which level on stderr shows a message; `warn` unless it does. */
  readonly env: Env;
  readonly stderr?: (text: string) => void;
  readonly now?: () => number;
};

export function openServerLog(options: ServerLogOptions): ServerLog {
  const { env, stateRoot, now = Date.now } = options;
  const stderr = options.stderr ?? ((text) => process.stderr.write(text));
  const redact = redactor(env);
  const shownFrom = LEVELS.indexOf(levelOf(env.CUFF_LOG_LEVEL));
  const file = lineFile(join(stateRoot, 'logs'), 'cuff.log');
  const json = pino(
    {
      base: null,
      level: 'debug',
      messageKey: 'message',
      timestamp: () => `,"timestamp":"${new Date(now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: file.append },
  );
  const log: Log = (level, message, fields = {}) => {
    const safe = redacted(fields, redact);
    json[level](safe, redact(message));
    if (level === 'warn' || level === 'error') file.flush();
    if (LEVELS.indexOf(level) >= shownFrom) stderr(`${textLine(level, redact(message), safe)}\n`);
  };
  return { log, flush: file.flush, close: file.close };
}

/**
 * `WARN  bash_recorder: Message key=value ...`. An entry's id leads to its session, so a line that
 * has the one leaves out the other.
 */
export function textLine(level: LogLevel, message: string, fields: Fields): string {
  const { plugin = 'cuff', ...rest } = fields;
  const pairs = Object.entries(rest)
    .filter(([key]) => key !== 'session_id' || rest.entry_id === undefined)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([key, value]) => `${key}=${shown(value)}`);
  return [`${level.toUpperCase().padEnd(5)} ${plugin}: ${printable(message)}`, ...pairs].join(' ');
}

function shown(value: unknown): string {
  const text = printable(typeof value === 'string' ? value : JSON.stringify(value));
  return text === '' || /[\s"=]/.test(text) ? JSON.stringify(text) : text;
}

function levelOf(text: string | undefined): LogLevel {
  return LEVELS.find((level) => level === text?.toLowerCase()) ?? 'warn';
}

function redacted(fields: Fields, redact: (text: string) => string): Fields {
  const safe = (value: unknown): unknown => {
    if (typeof value === 'string') return redact(value);
    if (Array.isArray(value)) return value.map(safe);
    return typeof value === 'object' && value !== null ? redacted(value as Fields, redact) : value;
  };
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, safe(value)]));
}

/** Lines wait a little for others, and are written at the latest with the end of the process. */
function lineFile(dir: string, name: string) {
  let waiting = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    const text = waiting;
    waiting = '';
    clearTimeout(timer);
    timer = undefined;
    if (text !== '') appendLog(dir, name, text);
  };
  process.on('exit', flush);
  return {
    append(line: string): void {
      waiting += line;
      timer ??= setTimeout(flush, WAIT_MS).unref();
    },
    flush,
    close(): void {
      process.off('exit', flush);
      flush();
    },
  };
}
