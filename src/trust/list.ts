// The list of project files that a person trusted: `trusted.json` in the user's configuration
// directory, mode 0600. A file counts only with exactly the bytes that were trusted. Servers read
// this list while they start, so nothing here loads a parser.
//
//   {"version": 1, "directories": {"/real/project": {"trusted_at": "2026-01-01T00:00:00.000Z",
//     "files": {"settings.yml": "<sha256>", ".cuff/policy.yml": "<sha256>"},
//     "modules": {"/real/project/plugin.mjs": "<sha256>"}}}}
//
// `files` are named relative to the directory. `modules` has every file that loading the modules
// of the settings reads, by its real path.

import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { makeDirectories, replaceFile } from '../directories.ts';
import { AppError, errnoOf, messageOf } from '../errors.ts';
import { realOf, trustListFile } from '../places.ts';
import { asObject, parseObject } from '../text/json.ts';
import { printable } from '../text/printable.ts';
import type { Env } from '../types.ts';

const LIST_BYTES_MAX = 64 * 1024 * 1024; // a module may import ten thousand files

type Hashes = Readonly<Record<string, string>>;

/** What was trusted in one directory. */
export type TrustedDirectory = {
  readonly trustedAt: string;
  readonly files: Hashes;
  readonly modules: Hashes;
};

export function hashOf(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Every trusted directory by its real path. Throws `settings_invalid` when the list is damaged. */
export function trustedDirectories(env: Env): ReadonlyMap<string, TrustedDirectory> {
  const file = trustListFile(env);
  const text = listText(file);
  if (text === undefined) return new Map();
  const directories = asObject(parseObject(text)?.directories);
  if (directories === undefined) throw damaged(file, 'it is not a list of trusted directories');
  return new Map(Object.entries(directories).map(([path, one]) => [path, directoryOf(one)]));
}

/** What was trusted here. A list that cannot be used trusts nothing; `problem` says why. */
export function trustIn(
  project: string,
  env: Env,
): { readonly trusted: TrustedDirectory | undefined; readonly problem?: string } {
  try {
    return { trusted: trustedDirectories(env).get(realOf(project)) };
  } catch (error) {
    const problem = messageOf(error);
    return { trusted: undefined, problem };
  }
}

/** Replaces what is trusted in one directory; undefined removes it. */
export function writeTrust(
  project: string,
  env: Env,
  trusted: Omit<TrustedDirectory, 'trustedAt'> | undefined,
): void {
  const all = new Map(trustedDirectories(env));
  const path = realOf(project);
  if (trusted === undefined) all.delete(path);
  else all.set(path, { ...trusted, trustedAt: new Date().toISOString() });
  const directories = Object.fromEntries(
    [...all].map(([directory, { trustedAt, files, modules }]) => [
      directory,
      { trusted_at: trustedAt, files, modules },
    ]),
  );
  const file = trustListFile(env);
  makeDirectories(dirname(file), 0o700);
  // A server reads it the moment it changes.
  const text = `${JSON.stringify({ version: 1, directories }, null, 2)}\n`;
  replaceFile(file, text, { sync: true });
}

function directoryOf(value: unknown): TrustedDirectory {
  const { trusted_at: at, files, modules } = asObject(value) ?? {};
  return {
    trustedAt: typeof at === 'string' ? at : '',
    files: hashesOf(files),
    modules: hashesOf(modules),
  };
}

function hashesOf(value: unknown): Hashes {
  const entries = Object.entries(asObject(value) ?? {});
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/** Undefined when there is none. A list that others may write says nothing about this user. */
function listText(file: string): string | undefined {
  let fd: number;
  try {
    const { O_RDONLY, O_NONBLOCK = 0 } = fs.constants;
    fd = fs.openSync(file, O_RDONLY | O_NONBLOCK);
  } catch (error) {
    const why = errnoOf(error);
    if (why === 'ENOENT' || why === 'ENOTDIR') return undefined;
    throw damaged(file, `it cannot be read (${why})`);
  }
  try {
    const { mode, uid, size } = fs.fstatSync(fd);
    const own = process.getuid?.() ?? uid;
    if (uid !== own || (mode & 0o022) !== 0) {
      throw damaged(file, 'other users may have written it');
    }
    const regular = (mode & fs.constants.S_IFMT) === fs.constants.S_IFREG;
    if (!regular || size > LIST_BYTES_MAX) throw damaged(file, 'it is no regular file');
    return fs.readFileSync(fd, 'utf8');
  } finally {
    fs.closeSync(fd);
  }
}

function damaged(file: string, why: string): AppError {
  return new AppError('settings_invalid', `${printable(file)}: ${why}; it trusts nothing.`, {
    hint: 'Remove the file and trust your projects again with `cuff trust`.',
  });
}
