// A copy of the shipped shim in the user's cache, in a directory that is named by the content of
// the library. It is complete when its name appears, because it is renamed into place, and is never
// written to again. A note beside it says which file it was made from and how all of them looked
// then, so that a start looks with stat alone; only what looks different is read and compared.

import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { makeDirectories, openToUs, replaceFile } from '../directories.ts';
import { fnv64 } from '../text/fnv.ts';
import { asObject, asString, parseObject } from '../text/json.ts';

/** Paths below a directory, with their content. */
export type Files = ReadonlyMap<string, Buffer>;

type Note = {
  readonly dir: string;
  /** How the shipped library looked. */
  readonly shipped: string | undefined;
  /** How each file of the copy looked, by its path. */
  readonly files: Readonly<Record<string, unknown>>;
};

const notes = new Map<string, Note>();

/**
 * The directory of the copy. A copy that this process has used stays its copy while it is whole,
 * also if the package was upgraded or removed since. Throws an errno error.
 */
export function copyOf(
  library: string,
  { cache, suffix }: { readonly cache: string; readonly suffix: string },
  filesOf: (content: Buffer) => Files,
): string {
  const path = join(cache, `shim-${fnv64([Buffer.from(library + suffix)])}.json`);
  const used = notes.get(path);
  if (used !== undefined && isWhole(used)) return used.dir;
  const shipped = look(library);
  const stored = readNote(path);
  if (stored !== undefined && stored.shipped === shipped && isWhole(stored)) {
    notes.set(path, stored);
    return stored.dir;
  }
  const content = readFileSync(library);
  const dir = join(cache, `shim-${process.arch}-${fnv64([content])}${suffix}`);
  const files = filesOf(content);
  if (!holds(dir, files)) layOut(dir, files);
  const looks = [...files.keys()].map((name) => join(dir, name)).map((file) => [file, look(file)]);
  const note = { dir, shipped, files: Object.fromEntries(looks) as Note['files'] };
  notes.set(path, note);
  replaceFile(path, `${JSON.stringify(note)}\n`);
  return dir;
}

/** Any write to a file changes how it looks; undefined if it is gone. */
function look(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && [stat.ino, stat.size, stat.mtimeMs, stat.ctimeMs].join(' ');
}

function isWhole({ files }: Note): boolean {
  return Object.entries(files).every(([path, looked]) => look(path) === looked);
}

function readNote(path: string): Note | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return undefined; // the first use, or the cache was cleared
  }
  const json = parseObject(text);
  const [dir, shipped, files] = [
    asString(json?.dir),
    asString(json?.shipped),
    asObject(json?.files),
  ];
  if (dir === undefined || shipped === undefined || files === undefined) return undefined;
  return { dir, shipped, files };
}

function holds(dir: string, files: Files): boolean {
  try {
    return [...files].every(([name, content]) => readFileSync(join(dir, name)).equals(content));
  } catch {
    return false; // there is none, or a part is missing
  }
}

/** Makes the directory; one of that name that holds something else is removed. */
export function layOut(dir: string, files: Files): void {
  makeDirectories(dirname(dir), 0o700);
  const draft = mkdtempSync(`${dir}.`);
  const damaged = `${draft}.damaged`;
  try {
    for (const [name, content] of files) {
      const path = join(draft, name);
      makeDirectories(dirname(path), 0o755);
      writeFileSync(path, content, { mode: 0o755 });
      openToUs(path, 0o755);
    }
    chmodSync(draft, 0o755); // the cache is private, or is meant to be shared
    try {
      renameSync(draft, dir);
    } catch {
      if (holds(dir, files)) return; // another process was quicker
      renameSync(dir, damaged);
      renameSync(draft, dir);
    }
  } finally {
    for (const path of [draft, damaged]) rmSync(path, { recursive: true, force: true });
  }
}
