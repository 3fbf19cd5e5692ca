// How far the journal has come with a run, beyond the intent in meta.json. Two small files:
//
// adopted       {session_id}: the session of a command that began while the journal could not be
//               written. The process that writes the entry makes it first, so that a crash in
//               between leaves one session to look for the entry in.
// entry-reach   {stdout, stderr}: of a command that left processes running, how many bytes of each
//               stream its entry tells of. Made before the entry, and removed when the journal has
//               what those processes printed afterwards.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { asCount, asString, parseObject, whole } from '../text/json.ts';
import { createIn, hasIn, readTextIn, replaceIn } from './paths.ts';

const ADOPTED = 'adopted';
const REACH = 'entry-reach';

export type EntryReach = { readonly stdout: number; readonly stderr: number };

/** The session that the command was given later. */
export function adoptedInto(dir: string): string | undefined {
  return asString(parseObject(textOf(dir, ADOPTED))?.session_id);
}

/** Gives it a session, unless it has one. Returns the one that counts. Throws as a disk does. */
export function adoptInto(dir: string, sessionId: string): string | undefined {
  const made = createIn(dir, ADOPTED, `${JSON.stringify({ session_id: sessionId })}\n`, false);
  return made ? sessionId : adoptedInto(dir);
}

/** Throws as a disk does. */
export function noteReach(dir: string, { stdout, stderr }: EntryReach): void {
  replaceIn(dir, REACH, `${JSON.stringify({ stdout, stderr })}\n`);
}

export function reachOf(dir: string): EntryReach | undefined {
  const json = parseObject(textOf(dir, REACH));
  return whole({ stdout: asCount(json?.stdout), stderr: asCount(json?.stderr) });
}

export function hasReach(dir: string): boolean {
  return hasIn(dir, REACH);
}

export function forgetReach(dir: string): void {
  rmSync(join(dir, REACH), { force: true });
}

function textOf(dir: string, name: string): string {
  try {
    return readTextIn(dir, name) ?? '';
  } catch {
    return ''; // a link or a file of another user: nothing that we wrote
  }
}
