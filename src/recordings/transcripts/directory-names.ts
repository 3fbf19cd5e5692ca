// The directories that sessions of Gemini, Cline and Cursor worked in. Their transcripts do not say
// it: Gemini and Cline keep it in a file beside them, Cursor has the path in the name of a folder,
// from which it cannot be read back. So that is compared with the projects that are asked about.

import { createHash } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { asObject, asString, parseObject } from '../../text/json.ts';
import type { TranscriptFile } from './places.ts';

const BYTES_MAX = 1_048_576;

/** Null when it is not known. `projects`: absolute paths that it could be. */
export function directoryOf(file: TranscriptFile, projects: readonly string[]): string | null {
  if (file.agent === 'gemini') return geminiDirectory(file, projects);
  if (file.agent === 'cline') return clineDirectory(file);
  if (file.agent !== 'cursor') return null;
  const name = /\/projects\/([^/]+)\/agent-transcripts\//.exec(file.path)?.[1];
  return projects.find((project) => cursorName(project) === name) ?? null;
}

/** `<id>.json` lies beside `<id>.messages.json`. */
function clineDirectory({ path }: TranscriptFile): string | null {
  const beside = smallText(path.replace(/\.messages\.json$/, '.json')) ?? '';
  return asString(parseObject(beside)?.cwd) ?? null;
}

function cursorName(project: string): string {
  return project.replace(/[^A-Za-z0-9]+/g, '-').replace(/^-|-$/g, '');
}

function geminiDirectory({ path, root }: TranscriptFile, projects: readonly string[]) {
  const folder = /^(.*\/tmp\/[^/]+)\/chats\//.exec(path)?.[1] ?? dirname(dirname(path));
  const name = basename(folder);
  const noted = smallText(join(folder, '.project_root'))?.trim();
  if (noted?.startsWith('/') === true) return noted;
  const listed = asObject(parseObject(smallText(join(root, 'projects.json')) ?? '')?.projects);
  const known = Object.entries(listed ?? {}).find(([, short]) => asString(short) === name)?.[0];
  return known ?? projects.find((project) => hashOf(project) === name) ?? null;
}

function hashOf(project: string): string {
  return createHash('sha256').update(project).digest('hex');
}

function smallText(path: string): string | undefined {
  try {
    const stat = lstatSync(path);
    return stat.isFile() && stat.size <= BYTES_MAX ? readFileSync(path, 'utf8') : undefined;
  } catch {
    return undefined; // most versions have one of the two, or none
  }
}
