// What `codex` says, in the form of Codex's unified exec: a header of facts, then the output.
// Nothing is ever read back out of these texts.

import { randomBytes } from 'node:crypto';
import { isLost } from '../../agent/aftermath.ts';
import { describeBinary, looksBinary } from '../../text/binary.ts';
import { sanitize } from '../../text/sanitize.ts';
import { decodeUtf8 } from '../../text/utf8.ts';
import type { Ended } from '../../types.ts';

const BYTES_PER_TOKEN = 4; // as Codex counts them

/** What is told of processes that are still there. */
export const SURVIVORS = { countMax: 3, lengthMax: 60 };

/** All of what is new, or both its ends. */
export type NewEnds = {
  readonly head: string;
  /** Undefined when nothing is missing between. */
  readonly tail: string | undefined;
  /** Raw bytes and lines that are new; the unfinished last line counts. */
  readonly bytes: number;
  readonly lines: number;
  /** The first of the raw bytes. */
  readonly sample: Uint8Array;
};

/** How many bytes so many tokens are. */
export function bytesOf(tokens: number): number {
  return Math.floor(tokens) * BYTES_PER_TOKEN;
}

export type Answer = {
  readonly wallMs: number;
  readonly process: { readonly exitCode: number } | { readonly session: number };
  readonly output: NewEnds;
  /** Facts that are not output; they stand behind it. */
  readonly notes: readonly string[];
};

export function answerText({ wallMs, process, output, notes }: Answer): string {
  const state =
    'exitCode' in process
      ? `Process exited with code ${process.exitCode}`
      : `Process running with session ID ${process.session}`;
  return [
    `Chunk ID: ${randomBytes(3).toString('hex')}`,
    `Wall time: ${(wallMs / 1000).toFixed(4)} seconds`,
    state,
    `Original token count: ${tokensOf(output.bytes)}`,
    'Output:',
    withNotes(outputText(output), notes),
  ].join('\n');
}

function withNotes(text: string, notes: readonly string[]): string {
  const apart = text === '' || text.endsWith('\n') || notes.length === 0 ? '' : '\n';
  return `${text}${apart}${notes.join('\n')}`;
}

/** What its exit code does not tell. */
export function endNote(ended: Ended | undefined): readonly string[] {
  if (ended === undefined) return [];
  if (isLost(ended.outcome)) return ['[How it ended is not known: its runner was killed]'];
  return ended.endedBy === 'cancelled' ? ['[Ended because the call was cancelled]'] : [];
}

function outputText({ head, tail, bytes, lines, sample }: NewEnds): string {
  if (isBinary({ sample })) return describeBinary({ head: sample, totalBytes: bytes });
  if (tail === undefined) return collapsed(head);
  const hidden = bytes - Buffer.byteLength(head) - Buffer.byteLength(tail);
  return [
    `Warning: truncated output (original token count: ${tokensOf(bytes)})`,
    `Total output lines: ${lines}`,
    '',
    `${collapsed(head)}…${tokensOf(hidden)} tokens truncated…${collapsed(tail)}`,
  ].join('\n');
}

export function isBinary({ sample }: Pick<NewEnds, 'sample'>): boolean {
  return looksBinary(sample);
}

/** Of lines that were written over, what was seen last. */
function collapsed(text: string): string {
  return text.includes('\r') ? decodeUtf8(sanitize(Buffer.from(text), { cr: 'overwrite' })) : text;
}

function tokensOf(bytes: number): number {
  return Math.ceil(Math.max(0, bytes) / BYTES_PER_TOKEN);
}
