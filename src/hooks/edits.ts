// The facts about the files that an agent's own tool writes. Before the call the hash of each file
// and the lines that come and go are noted in `<state root>/hooks/`; after it the note is taken and
// the hash of the new file added. The content of a file is read for this and kept nowhere.

import * as fs from 'node:fs';
import { join, resolve } from 'node:path';
import { ensurePrivateDir, ensureRoot, stateRoot } from '../capture/paths.ts';
import { namesIn, replaceFile } from '../directories.ts';
import { leadsToRemote } from '../run/mounts.ts';
import { sha256 } from '../text/hash.ts';
import { asCount, asString, parseObject } from '../text/json.ts';
import type { Env } from '../types.ts';
import type { FileEdit, HookCall } from './call.ts';
import { notesDir } from './notes.ts';

const READ_BYTES_MAX = 8 * 1024 * 1024; // a larger file has no hash here: a hook has a second

const KEPT_MS = 60 * 60_000; // a person may take this long to say yes in the client

export type EditFact = {
  /** Absolute. */
  readonly path: string;
  readonly added: number | null;
  readonly removed: number | null;
  readonly before: string | null;
};

/** Never throws. */
export function noteEdits(env: Env, call: HookCall, cwd: string): void {
  if (call.tool?.kind !== 'file') return;
  try {
    ensureRoot(stateRoot(env));
    ensurePrivateDir(notesDir(env));
    for (const edit of call.tool.edits) {
      const fact = factOf(edit, cwd);
      replaceFile(noteOf(env, call, fact.path), `${JSON.stringify(fact)}\n`);
    }
  } catch {
    // What was not noted is told without the hash before.
  }
}

/** What was noted before the call, which is forgotten now; else what can be told without. */
export function takeEdits(env: Env, call: HookCall, cwd: string): readonly EditFact[] {
  if (call.tool?.kind !== 'file') return [];
  const byPath = new Map(call.tool.edits.map((edit) => [resolve(cwd, edit.path), edit]));
  return [...byPath].map(([path, edit]) => {
    const note = noteOf(env, call, path);
    const noted = readNote(note);
    fs.rmSync(note, { force: true });
    return noted ?? { ...countsOf(edit, undefined), path, before: null };
  });
}

function factOf(edit: FileEdit, cwd: string): EditFact {
  const path = resolve(cwd, edit.path);
  const bytes = contentOf(path);
  return { path, ...countsOf(edit, bytes), before: hashOf(bytes) };
}

/** Of the file as it is now; null where there is none. */
export function fileHash(path: string): string | null {
  return hashOf(contentOf(path));
}

function hashOf(bytes: Buffer | undefined): string | null {
  return bytes === undefined ? null : sha256(bytes);
}

/** Undefined for anything that is not a regular file of a common size on a disk of this machine. */
function contentOf(path: string): Buffer | undefined {
  const { O_RDONLY, O_NONBLOCK = 0 } = fs.constants;
  if (leadsToRemote(path)) return undefined;
  try {
    const fd = fs.openSync(path, O_RDONLY | O_NONBLOCK);
    try {
      const stat = fs.fstatSync(fd);
      if (!stat.isFile() || stat.size > READ_BYTES_MAX) return undefined;
      return fs.readFileSync(fd);
    } finally {
      fs.closeSync(fd);
    }
  } catch {
    return undefined; // not there yet, or not ours to read
  }
}

/**
 * A tool that replaces a text says both; one that writes a whole file says the new one, and the old
 * one is on the disk. Lines that are in both count for neither.
 */
function countsOf(
  { incoming, outgoing, removes }: FileEdit,
  content: Buffer | undefined,
): Pick<EditFact, 'added' | 'removed'> {
  const known = incoming !== undefined || outgoing !== undefined || removes;
  if (!known) return { added: null, removed: null };
  const old = outgoing ?? content?.toString('utf8') ?? '';
  const [before, after] = [linesOf(old), linesOf(incoming ?? '')];
  const left = new Map<string, number>();
  for (const line of before) left.set(line, (left.get(line) ?? 0) + 1);
  let same = 0;
  for (const line of after) {
    const count = left.get(line) ?? 0;
    if (count === 0) continue;
    left.set(line, count - 1);
    same += 1;
  }
  return { added: after.length - same, removed: before.length - same };
}

function linesOf(text: string): readonly string[] {
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}

function noteOf(env: Env, { agent, session, toolCall, tool }: HookCall, path: string): string {
  const id = [agent, session ?? '', toolCall ?? '', tool?.name ?? '', path].join('\0');
  const hash = sha256(id).slice(0, 40);
  return join(notesDir(env), `edit-${hash}.json`);
}

function readNote(path: string): EditFact | undefined {
  try {
    if (!fs.lstatSync(path).isFile()) return undefined;
    const json = parseObject(fs.readFileSync(path, 'utf8'));
    const name = asString(json?.path);
    if (json === undefined || name === undefined) return undefined;
    const [added, removed] = [asCount(json.added) ?? null, asCount(json.removed) ?? null];
    return { path: name, added, removed, before: asString(json.before) ?? null };
  } catch {
    return undefined; // there was no hook before the call
  }
}

/** Notes of calls that never came to their end. */
export function sweepEditNotes(env: Env, now: number = Date.now()): void {
  const directory = notesDir(env);
  for (const name of namesIn(directory).filter((one) => one.startsWith('edit-'))) {
    try {
      const path = join(directory, name);
      if (now - fs.lstatSync(path).mtimeMs > KEPT_MS) fs.rmSync(path);
    } catch {
      // Another process was quicker.
    }
  }
}
