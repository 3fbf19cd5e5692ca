// Words for bytes that are not there, at the place where they would be.

import type { Transport } from '../types.ts';
import { counted } from './plural.ts';

/** A line of its own in the middle of a text. */
export function missingMark(bytes: number): string {
  return `\n[${missingText(bytes)}: more was printed than is kept]\n`;
}

export function missingText(bytes: number): string {
  return `${counted(bytes, 'byte is', 'bytes are')} missing`;
}

/** Bytes that no record says the stream of, for readers that show them as stdout. */
export function unknownText(bytes: number): string {
  return `${counted(bytes, 'byte is', 'bytes are')} of an unknown stream, shown as stdout`;
}

/** Of a capture that was not moved to the disk before the memory was given up. */
export const GONE_TEXT =
  'Its output and its command were in memory, and are gone: a logout or a restart ended it';

/**
 * What a killed runner may not have read: a pipe holds 64 KiB, the socket of a traced run 2 MiB
 * (SOCKET_ROOM in native/spawn.c, which the kernel doubles). `unknownBytes`: what it had not said
 * the stream of, for readers that show it as stdout.
 */
export function unreadText(transport?: Transport, unknownBytes = 0): string {
  const killed = 'may be missing at the end: its runner was killed';
  if (transport === undefined) return `Output ${killed}`;
  const most = transport === 'socket' ? '2 MiB' : '64 KiB';
  const each = transport === 'socket' || transport === 'pipe' ? ' of each stream' : '';
  const shown = unknownBytes === 0 ? '' : `; ${unknownText(unknownBytes)}`;
  return `Up to ${most}${each} ${killed}${shown}`;
}
