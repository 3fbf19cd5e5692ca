// Which settings file counts. Those of a project count only with the content that a person
// trusted; the others wait, and what they would say is named, never followed. `cuff record list`
// asks this, too, so that nothing here loads what reads settings.

import { lstatSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isThere, nameWithin, realOf, settingsCandidates } from '../places.ts';
import { printable } from '../text/printable.ts';
import type { Env } from '../types.ts';
import { readRegular } from './bounded-read.ts';
import { keysOfFile } from './keys.ts';
import { hashOf, type TrustedDirectory, trustIn } from './list.ts';

const FILE_BYTES_MAX = 256 * 1024; // a hundred times what a person writes by hand

/** A settings file of the project that does not count. */
export type WaitingSettings = {
  /** Relative to the project. */
  readonly file: string;
  /** One clause: why it does not count. */
  readonly why: string;
  /** What it sets; undefined when that could not be looked at. */
  readonly keys: readonly string[] | undefined;
};

export type CountingSettings = {
  /** Undefined: there are none, and the defaults count. */
  readonly file: string | undefined;
  /** `$CUFF_SETTINGS` names a file of the project that does not exist. */
  readonly missing?: true;
  /** What was trusted, so that it is not read a second time. Only of a project's file. */
  readonly bytes?: Uint8Array;
  /** The files that its modules may load, with their hashes. Only of a project's file. */
  readonly modules?: Readonly<Record<string, string>>;
  readonly waiting: readonly WaitingSettings[];
};

export type CountingOptions = {
  readonly cwd: string;
  readonly env: Env;
  /** A file named on the command line: it counts, and no other does. */
  readonly file?: string | undefined;
  /** Everything in the project counts, for this process. */
  readonly trusted?: boolean | undefined;
};

export function countingSettings(options: CountingOptions): CountingSettings {
  const { cwd, env } = options;
  if (options.file !== undefined) return { file: resolve(cwd, options.file), waiting: [] };
  const waiting: WaitingSettings[] = [];
  for (const { path, named, own } of settingsCandidates(cwd, env)) {
    const counts = own || options.trusted === true;
    if (!named && !(counts ? isThere(path) : isHere(cwd, path))) continue;
    if (counts) return { file: path, waiting };
    if (!isHere(cwd, path)) return { file: path, missing: true, waiting };
    const checked = checkFile(cwd, env, path);
    if ('bytes' in checked) return { ...checked, file: path, waiting };
    waiting.push({ ...checked, file: nameWithin(resolve(cwd), path) ?? path });
  }
  return { file: undefined, waiting };
}

type Checked =
  | Required<Pick<CountingSettings, 'bytes' | 'modules'>>
  | Omit<WaitingSettings, 'file'>;

/** In a directory that was never trusted nothing is followed and little is read. */
function checkFile(cwd: string, env: Env, path: string): Checked {
  const { trusted, problem } = trustIn(cwd, env);
  if (trusted === undefined) {
    const why = problem ?? 'this directory was never trusted';
    return { why, keys: isLinked(cwd, path) ? undefined : keysOfFile(path) };
  }
  const bytes = contentOf(path);
  const why = objection(cwd, path, bytes, trusted);
  if (why === undefined && bytes !== undefined) return { bytes, modules: trusted.modules };
  return { why: why ?? 'it cannot be read', keys: keysOfFile(path) };
}

/** One sentence for the person, with the keys that do not count. */
export function waitingSentence({ file, why, keys }: WaitingSettings): string {
  const what =
    keys === undefined
      ? 'what it sets was not looked at'
      : keys.length === 0
        ? 'it sets nothing that could be read'
        : `not in force: ${listed(keys.map(printable))}`;
  const [shown, usual] = [printable(file), USUAL.includes(file)];
  const command = usual ? 'cuff trust' : `CUFF_SETTINGS=${shown} cuff trust`;
  const waits = `The project's settings in ${shown} wait for a person to run \`${command}\``;
  return `${waits} (${printable(why)}); ${what}.`;
}

const KEYS_SHOWN_MAX = 12;

/** Another one is found only where the variable names it. */
const USUAL = ['settings.yml', join('.cuff', 'settings.yml')];

function listed(keys: readonly string[]): string {
  const more = keys.length - KEYS_SHOWN_MAX;
  const first = keys.slice(0, KEYS_SHOWN_MAX).join(', ');
  return more > 0 ? `${first} and ${more} more` : first;
}

/** Why this content does not count; undefined: it does. */
function objection(
  cwd: string,
  path: string,
  content: Uint8Array | undefined,
  trusted: TrustedDirectory,
): string | undefined {
  if (content === undefined) return 'it cannot be read';
  const known = trusted.files[nameOf(cwd, path)];
  if (known === undefined) return 'it was not there when this directory was trusted';
  if (known !== hashOf(content)) return 'it has changed since it was trusted';
  const changed = changedModule(trusted.modules);
  return changed === undefined ? undefined : `${changed} has changed since it was trusted`;
}

function changedModule(modules: Readonly<Record<string, string>>): string | undefined {
  return Object.entries(modules).find(([file, hash]) => {
    const bytes = contentOf(file, Number.POSITIVE_INFINITY);
    return bytes === undefined || hashOf(bytes) !== hash;
  })?.[0];
}

/** The name under which a file of the project is listed. */
export function nameOf(project: string, path: string): string {
  const root = realOf(project);
  return nameWithin(resolve(project), path) ?? nameWithin(root, realOf(path)) ?? path;
}

/** Undefined when it is no regular file, too long, or not to be read. Waits for no pipe. */
export function contentOf(path: string, bytesMax = FILE_BYTES_MAX): Uint8Array | undefined {
  try {
    return readRegular(path, bytesMax);
  } catch {
    return undefined; // then it has not the content that was trusted
  }
}

/** A link may lead to a file system that does not answer; only a person may choose that. */
function isHere(cwd: string, path: string): boolean {
  return isLinked(cwd, path) || isThere(path);
}

function isLinked(cwd: string, path: string): boolean {
  const folder = dirname(path);
  if (folder !== join(resolve(cwd), '.cuff')) return false;
  return lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}
