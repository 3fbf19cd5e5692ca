// The user's own settings as text, for keys that a project cannot set. Small, because `cuff run`
// looks here after every command.
import { settingsCandidates } from '../places.ts';
import { readRegular } from '../trust/bounded-read.ts';
import type { Env } from '../types.ts';

const FILE_BYTES_MAX = 256 * 1024; // as much as settings may have

export type OwnSettings = { readonly path: string; readonly text: string };

/** Those in which the word stands. A file that cannot be read says nothing. Never throws. */
export function ownSettingsWith(word: string, cwd: string, env: Env): OwnSettings[] {
  return settingsCandidates(cwd, env)
    .filter(({ own }) => own)
    .map(({ path }) => ({ path, text: textOf(path) }))
    .filter(({ text }) => text.includes(word));
}

function textOf(path: string): string {
  try {
    return Buffer.from(readRegular(path, FILE_BYTES_MAX) ?? []).toString('utf8');
  } catch {
    return ''; // there is none, or none that we may read
  }
}
