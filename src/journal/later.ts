// `<sid>.later.jsonl`: what the processes that a command left running printed behind its entry, one
// line for each run when it closes. An entry's own line never changes; readers put both together.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { asObject, asString, parseObject } from '../text/json.ts';
import type { Entry, LaterOutput } from '../types.ts';
import { endsTorn } from './entry-lines.ts';
import {
  closeQuietly,
  DISK,
  type Disk,
  findSessionFiles,
  openBeside,
  readText,
  sessionsDir,
  unwritable,
} from './files.ts';
import { LATER } from './ids.ts';
import { placeTrouble } from './place.ts';

/** In one write. Throws `journal_unwritable`; a session that was removed gets no line. */
export function appendLater(
  directory: string,
  sessionId: string,
  later: LaterOutput,
  disk: Disk = DISK,
): void {
  const files = findSessionFiles(directory, sessionId);
  if (files === undefined) return;
  const { entry_id, survivors, output } = later;
  try {
    const torn = endsTorn(files.later) ? '\n' : '';
    const fd = openBeside(files.later, disk);
    try {
      disk.writeSync(fd, `${torn}${JSON.stringify({ entry_id, survivors, output })}\n`);
    } finally {
      closeQuietly(fd, disk);
    }
  } catch (error) {
    throw unwritable(files.later, error);
  }
}

/** Gives an entry what came later. `path` is that of the file beside the entries. */
export function laterOf(path: string): (entry: Entry) => Entry {
  const found = readLater(path);
  return (entry) => {
    const later = found.get(entry.entry_id);
    return later === undefined ? entry : { ...entry, later };
  };
}

/**
 * How many commands of the journal have output that came behind their entries. A caller that has
 * the names of their files saves reading those of all sessions.
 */
export function countLater(directory: string, known?: readonly string[]): number {
  if (placeTrouble(directory) !== undefined) return 0;
  const folder = sessionsDir(directory);
  let count = 0;
  for (const name of known ?? laterNames(folder)) {
    for (const { stdout, stderr } of readLater(join(folder, name)).values()) {
      if (stdout !== '' || stderr !== '') count += 1;
    }
  }
  return count;
}

function laterNames(folder: string): readonly string[] {
  try {
    return fs.readdirSync(folder).filter((name) => name.endsWith(`${LATER}.jsonl`));
  } catch {
    return []; // no folder, no such output
  }
}

function readLater(path: string): ReadonlyMap<string, LaterOutput['output']> {
  const found = new Map<string, LaterOutput['output']>();
  for (const line of (readText(path) ?? '').split('\n')) {
    const json = line === '' ? undefined : parseObject(line);
    const [id, output] = [asString(json?.entry_id), outputOf(json?.output)];
    if (id !== undefined && output !== undefined) found.set(id, output);
  }
  return found;
}

function outputOf(value: unknown): LaterOutput['output'] | undefined {
  const json = asObject(value);
  const [stdout, stderr] = [asString(json?.stdout), asString(json?.stderr)];
  if (stdout === undefined || stderr === undefined) return undefined;
  return { stdout, stderr, truncated: json?.truncated === true };
}
