// What `phoenix_bash` says, to the letter of seed 002: the description of its tool, its answers,
// and the last line of a file that a background process leaves. All of it is text in, text out.

import { constants } from 'node:os';
import { printable } from '../../text/printable.ts';
import { decodeUtf8, utf8End, utf8Start } from '../../text/utf8.ts';
import type { Ended, Outcome } from '../../types.ts';
import { lostNote } from '../notes.ts';

export const OUTPUT_BYTES_MAX = 131_072; // up to this much is given as it is
export const SNIP_BYTES = 4_096; // of more, this much of each end

export function description(workingDirectory: string): string {
  return `Executes shell commands via bash -c, returning combined stdout/stderr.
Bash state changes (working dir, variables, aliases) don't persist between calls.

With background=true, returns immediately with output redirected to a file.
Use background for servers/demos that need to stay running.

MUST set slow_ok=true for potentially slow commands: builds, downloads,
installs, tests, or any other substantive operation.

IMPORTANT: Keep commands concise. The command input must be less than 60k tokens.
For complex scripts, write them to a file first and then execute the file.

<pwd>${workingDirectory}</pwd>`;
}

/** All bytes if there are no more than may be shown; of more, at least `SNIP_BYTES` of each end. */
export type Output = {
  readonly first: Uint8Array;
  readonly last: Uint8Array;
  readonly totalBytes: number;
};

/** Never longer than the maximum and two lines about it, whatever the bytes are. */
export function outputText(output: Output, lost = ''): string {
  const text = keptText(output);
  return text === '' || lost === '' ? `${text}${lost}` : `${text}\n${lost}`;
}

function keptText({ first, last, totalBytes }: Output): string {
  if (totalBytes > OUTPUT_BYTES_MAX) return snipped(first, last, totalBytes);
  const text = decodeUtf8(first);
  // What is not UTF-8 becomes U+FFFD, which is longer.
  const bytes = Buffer.from(text);
  return bytes.length <= OUTPUT_BYTES_MAX ? text : snipped(bytes, bytes, bytes.length);
}

function snipped(first: Uint8Array, last: Uint8Array, totalBytes: number): string {
  const got = `got ${humanBytes(totalBytes)}, max is ${humanBytes(OUTPUT_BYTES_MAX)}`;
  const ends = `${headOf(first)}\n\n[snip]\n\n${tailOf(last)}`;
  return `[output truncated in middle: ${got}]\n${ends}`;
}

function headOf(bytes: Uint8Array): string {
  const head = bytes.subarray(0, utf8End(bytes, Math.min(SNIP_BYTES, bytes.length)));
  const text = Buffer.from(decodeUtf8(head));
  return decodeUtf8(text.subarray(0, utf8End(text, Math.min(SNIP_BYTES, text.length))));
}

function tailOf(bytes: Uint8Array): string {
  const tail = bytes.subarray(utf8Start(bytes, Math.max(0, bytes.length - SNIP_BYTES)));
  const text = Buffer.from(decodeUtf8(tail));
  return decodeUtf8(text.subarray(utf8Start(text, Math.max(0, text.length - SNIP_BYTES))));
}

/** `unread`: lines about what may be missing besides. */
export function lostText(bytes: number, unread: readonly string[]): string {
  return [...lostNote(bytes), ...unread].join('\n');
}

const UNITS = ['B', 'KB', 'MB', 'GB'];

/** `128KB`, `128.1KB`: units of 1024 as the seed writes them, rounded up, so that more is more. */
export function humanBytes(bytes: number): string {
  let power = 0;
  while (power < UNITS.length - 1 && bytes >= 1024 ** (power + 1)) power += 1;
  return `${Math.ceil((bytes / 1024 ** power) * 10) / 10}${UNITS[power]}`;
}

export function failedText(
  { outcome, endedBy }: Pick<Ended, 'outcome' | 'endedBy'>,
  output: string,
): string {
  if (endedBy === 'cancelled') return withOutput('[command cancelled]', output);
  if (outcome.kind === 'failed') {
    const why = printable(outcome.message || outcome.error);
    const lost = outcome.error === 'runner_lost';
    const what = lost ? `was lost: ${why}` : `could not be started: ${why}`;
    return withOutput(`[command ${what}]`, output);
  }
  const code = outcome.kind === 'exited' ? outcome.code : -1;
  return `[command failed: exit code ${code}]\n${output}`;
}

/** The seed lost what was printed until then. */
export function timedOutText(seconds: number, output: string): string {
  return withOutput(`[command timed out after ${seconds}s]`, output);
}

function withOutput(line: string, output: string): string {
  return output === '' ? line : `${line}\n${output}`;
}

export function backgroundText(pid: number, path: string): string {
  return (
    `<pid>${pid}</pid>\n<output_file>${path}</output_file>\n` +
    `<reminder>To stop: kill -9 -${pid}</reminder>`
  );
}

/** How a background process ended, in the words that Rust has for it. */
export function lastWords(outcome: Outcome, lost = ''): string {
  return `${lost === '' ? '' : `\n${lost}`}\n\n[background process ${ending(outcome)}]\n`;
}

function ending(outcome: Outcome): string {
  if (outcome.kind === 'failed') return `error: ${printable(outcome.message || outcome.error)}`;
  if (outcome.kind === 'signaled') return `failed: ${signalText(outcome.signal)}`;
  return outcome.code === 0 ? 'completed' : `failed: exit status: ${outcome.code}`;
}

const NUMBERS: Readonly<Record<string, number>> = constants.signals;

function signalText(name: string): string {
  const number = NUMBERS[name];
  return number === undefined ? `signal: ${name}` : `signal: ${number} (${name})`;
}

export function dangerousText(pattern: string): string {
  return `Command contains dangerous pattern: ${pattern}`;
}

export function missingDirectoryText(directory: string): string {
  return `Working directory does not exist: ${directory} (conversation may need to be recreated)`;
}

export function noDirectoryText(directory: string): string {
  return `Working directory is not a directory: ${directory}`;
}
