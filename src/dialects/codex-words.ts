// What `codex` says, in the form of Codex's unified exec: a header of facts, then the output.
// Nothing is ever read back out of these texts.

import { randomBytes } from 'node:crypto';
import type { NewEnds } from '../agent/clean-reader.ts';
import { describeBinary, looksBinary } from '../text/binary.ts';

const BYTES_PER_TOKEN = 4; // as Codex counts them

/** How many bytes so many tokens are. */
export function bytesOf(tokens: number): number {
  return Math.floor(tokens) * BYTES_PER_TOKEN;
}

export type Answer = {
  readonly wallMs: number;
  readonly process: { readonly exitCode: number } | { readonly session: number };
  readonly output: NewEnds;
};

export function answerText({ wallMs, process, output }: Answer): string {
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
    outputText(output),
  ].join('\n');
}

function outputText({ head, tail, bytes, lines, sample }: NewEnds): string {
  if (looksBinary(sample)) return describeBinary({ head: sample, totalBytes: bytes });
  if (tail === undefined) return head;
  const hidden = bytes - Buffer.byteLength(head) - Buffer.byteLength(tail);
  return [
    `Warning: truncated output (original token count: ${tokensOf(bytes)})`,
    `Total output lines: ${lines}`,
    '',
    `${head}…${tokensOf(hidden)} tokens truncated…${tail}`,
  ].join('\n');
}

function tokensOf(bytes: number): number {
  return Math.ceil(Math.max(0, bytes) / BYTES_PER_TOKEN);
}
