// Where the journal is, as far as that can be known without the machinery that reads settings:
// `cuff record list` must start at once, and most settings leave the journal where it usually is.

import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { settingsCandidates } from './settings-paths.ts';

type Env = Readonly<Record<string, string | undefined>>;

const FOLDER = '.cuff';
const NAME = 'recordings';

/** Undefined: only reading the settings can tell. */
export function usualDirectory(cwd: string, env: Env): string | undefined {
  if (env.CUFF_SETTINGS) return undefined;
  const file = settingsCandidates(cwd, env).find(({ path }) => isThere(path))?.path;
  return file === undefined || leavesItThere(file) ? nearestJournal(cwd) : undefined;
}

/** The journal in the usual place: of `cwd`, or of the nearest directory above that has one. */
export function nearestJournal(cwd: string): string {
  const start = resolve(cwd);
  for (let folder = start; ; folder = dirname(folder)) {
    const journal = join(folder, FOLDER, NAME);
    if (existsSync(journal)) return journal;
    if (folder === dirname(folder)) return join(start, FOLDER, NAME);
  }
}

/** The project that a journal in the usual place belongs to. */
export function projectOf(journal: string): string | undefined {
  const usual = basename(journal) === NAME && basename(dirname(journal)) === FOLDER;
  return usual ? dirname(dirname(journal)) : undefined;
}

const MENTIONED = /\bdirectory\b.*/g;
const USUAL = /^directory["']?\s*:\s*(["']?)\.cuff\/recordings\/?\1\s*(#.*)?$/;

/** Every `directory` that stands in the file, whatever it belongs to, is the usual one. */
function leavesItThere(file: string): boolean {
  try {
    const text = readFileSync(file, 'utf8');
    return [...text.matchAll(MENTIONED)].every(([line]) => USUAL.test(line.trimEnd()));
  } catch {
    return false; // whoever reads it properly says what is wrong with it
  }
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false; // a file where a directory should be
  }
}
