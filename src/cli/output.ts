// What every command prints with: data on stdout, words on stderr, colour only on a
// terminal, and silence when the reader has left.

import { fstatSync, writeSync } from 'node:fs';
import * as util from 'node:util';
import { errnoOf } from '../errors.ts';
import { printableJson } from '../text/printable.ts';

type Format = 'red' | 'green' | 'yellow' | 'dim' | 'bold';

/** A reader that left, as `head` does, is no fault. Call it before anything is printed. */
export function quietPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      process.exit(0);
    });
  }
}

/** Data. Resolves when the bytes are on their way, so that a slow reader is waited for. */
export function put(data: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(data, (error) => (error ? reject(error) : resolve()));
  });
}

/**
 * The same for a short answer that is all there is to say: Node's stream for stdout costs a start
 * several milliseconds. A reader that left is no fault here either.
 */
export function putAtOnce(text: string): Promise<void> {
  const bytes = Buffer.from(text);
  let done = 0;
  try {
    while (done < bytes.length) done += writeSync(1, bytes, done);
  } catch (error) {
    if (errnoOf(error) === 'EPIPE') process.exit(0);
    // A pipe that another process made non-blocking is full: the stream knows how to wait.
    if (errnoOf(error) !== 'EAGAIN') throw error;
    return put(bytes.subarray(done));
  }
  return Promise.resolve();
}

export function putJson(value: unknown): Promise<void> {
  return put(`${printableJson(value)}\n`);
}

/** Words behind such an answer. */
export function sayAtOnce(words: string): void {
  try {
    writeSync(2, `${words}\n`);
  } catch {
    // Closed, full or left: the answer itself is out.
  }
}

/** Words for a person. */
export function say(words: string): void {
  process.stderr.write(`${words}\n`);
}

/** Colours text for stdout, if that is a terminal and the user did not turn it off. */
export function paint(format: Format, text: string): string {
  // Node before 20.12 has no styleText.
  return coloured() && 'styleText' in util
    ? util.styleText(format, text, { validateStream: false })
    : text;
}

function coloured(): boolean {
  const { NO_COLOR, TERM } = process.env;
  return maybeTerminal() && process.stdout.isTTY === true && !NO_COLOR && TERM !== 'dumb';
}

const MEMORY_DEVICES = 1; // /dev/null and its like, by their major number on Linux

/** Asked first, because the stream is loaded by being asked. */
function maybeTerminal(): boolean {
  try {
    const stat = fstatSync(1);
    const memory = process.platform === 'linux' && stat.rdev >> 8 === MEMORY_DEVICES;
    return stat.isCharacterDevice() && !memory;
  } catch {
    return false; // closed
  }
}

/** The width of a terminal; undefined means that nothing is to be cut. */
export function terminalWidth(): { readonly width?: number } {
  return process.stdout.isTTY === true ? { width: process.stdout.columns || 80 } : {};
}

/** `12s`, `5m`, `3h`, `2d`: the largest unit is enough. */
export function shortAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
