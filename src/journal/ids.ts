// The names of sessions and entries. A session id sorts by time and is a file name; readers take
// any id that is safe as one, because journals written by others have theirs.
import { randomBytes } from 'node:crypto';
import { SESSION_ID_LENGTH_MAX } from '../limits.ts';

export type Random = (count: number) => Uint8Array;

/** Behind the id of a session, in the names of the files beside it. */
export const LATER = '.later';
export const EDITS = '.edits';

const SAFE = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;
const FORM = /^(\d{4})(\d\d)(\d\d)_(\d\d)(\d\d)(\d\d)_[0-9A-Za-z]+(-[0-9A-Za-z]+)?$/;

/** `20260118_143052_a7b3c9d2-e4f5`: the second in UTC and the first 12 digits of a UUID 4. */
export function newJournalSessionId(now: number, random: Random = randomBytes): string {
  const hex = Buffer.from(random(6)).toString('hex');
  return `${dateAndTime(now)}_${hex.slice(0, 8)}-${hex.slice(8)}`;
}

/**
 * `e_20260118_143052_001-e4f5`: when it began, its place in the session, and the last four digits
 * of the session's id, because two sessions may have a first entry in the same second.
 */
export function entryId(timestampMs: number, sequence: number, sessionId: string): string {
  const session = /-[0-9a-f]{4}$/.exec(sessionId)?.[0] ?? '';
  return `e_${dateAndTime(timestampMs)}_${String(sequence).padStart(3, '0')}${session}`;
}

const ENTRY_FORM = /^e_(\d{4})(\d\d)(\d\d)_(\d\d)(\d\d)(\d\d)_\d{3,}(-[0-9a-f]{4})?$/;

/** When the entry of this id began (epoch ms), and how the id of its session ends if it says so. */
export function entryIdParts(id: string): { at: number; sessionEnd: string } | undefined {
  const match = ENTRY_FORM.exec(id);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, sessionEnd = ''] = match;
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) ? undefined : { at, sessionEnd };
}

/** The number in the id of an entry; 0 for an id of another form. */
export function entrySequence(id: string): number {
  return entryIdParts(id) === undefined ? 0 : Number(/_(\d+)(?:-[0-9a-f]{4})?$/.exec(id)?.[1]);
}

/** As tables show it: without the last four digits. */
export function shortId(id: string): string {
  return hasForm(id) ? id.replace(/-[0-9A-Za-z]+$/, '') : id;
}

/** It may be the name of a session's file: no separator, nothing hidden, not too long. */
export function isJournalId(id: string): boolean {
  const beside = [LATER, EDITS].some((ending) => id.endsWith(ending));
  return id.length <= SESSION_ID_LENGTH_MAX && SAFE.test(id) && !beside;
}

/** It looks like an id that a recorder made, ours or another. */
export function hasForm(id: string): boolean {
  return isJournalId(id) && FORM.test(id);
}

/** The second a session was made in (epoch ms), or undefined for an id of another form. */
export function journalIdTime(id: string): number | undefined {
  const match = FORM.exec(id);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second] = match;
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) ? undefined : at;
}

/** `20260118_143052` */
export function dateAndTime(at: number): string {
  const digits = new Date(at).toISOString().replace(/\D/g, '');
  return `${digits.slice(0, 8)}_${digits.slice(8, 14)}`;
}
