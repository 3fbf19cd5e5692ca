// Words for bytes that are not there, at the place where they would be.

import type { Transport } from '../types.ts';

/** A line of its own in the middle of a text. */
export function missingMark(bytes: number): string {
  return `\n[${missingText(bytes)}: more was printed than is kept]\n`;
}

export function missingText(bytes: number): string {
  return bytes === 1 ? '1 byte is missing' : `${bytes} bytes are missing`;
}

/**
 * What a killed runner may not have read: a pipe holds 64 KiB, the socket of a traced run 2 MiB
 * (SOCKET_ROOM in native/spawn.c, which the kernel doubles).
 */
export function unreadText(transport?: Transport): string {
  const killed = 'may be missing at the end: its runner was killed';
  if (transport === undefined) return `Output ${killed}`;
  const most = transport === 'socket' ? '2 MiB' : '64 KiB';
  const each = transport === 'socket' || transport === 'pipe' ? ' of each stream' : '';
  return `Up to ${most}${each} ${killed}`;
}
