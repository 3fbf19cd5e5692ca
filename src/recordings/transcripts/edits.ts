// A call of a file tool as a fact: which file, and how many lines came and went. Tools differ in
// the names of their fields, not in what they say, so one reader serves all agents. The text itself
// is never kept.

import { AGENTS } from '../../text/agents.ts';
import { asString, type JsonObject } from '../../text/json.ts';
import { objectsOf, type TranscriptAgent, type TranscriptEdit } from './call.ts';

const PATHS = [
  ...['file_path', 'filePath', 'path', 'absolute_path', 'absolutePath', 'notebook_path'],
  ...['target_file', 'target_notebook'],
];
const BEFORE = ['old_string', 'oldString', 'old_str', 'oldText', 'old_text'];
const AFTER = ['new_string', 'newString', 'new_str', 'newText', 'new_text', 'new_source'];
const WHOLE = ['content', 'contents', 'file_text', 'fileText'];
const PATCHES = ['patch', 'patchText', 'diff', 'input'];

const FILES_MAX = 1000; // of one patch
const PATH_LENGTH_MAX = 4096;

export function isFileTool(agent: TranscriptAgent, name: string): boolean {
  return AGENTS[agent].fileTools.includes(name);
}

export type EditFacts = Pick<TranscriptEdit, 'path' | 'added' | 'removed'>;

/** The files that a call of a file tool names; none when it is not understood. */
export function editsOf(input: JsonObject | string): readonly EditFacts[] {
  if (typeof input === 'string') return patchEdits(input);
  const path = first(input, PATHS);
  const patch = first(input, PATCHES);
  if (path === undefined) return patch === undefined ? [] : patchEdits(patch);
  if (path === '' || path.length > PATH_LENGTH_MAX) return [];
  return [{ path, ...linesOf(input, patch) }];
}

function linesOf(
  input: JsonObject,
  patch: string | undefined,
): { readonly added: number | null; readonly removed: number | null } {
  const several = objectsOf(input.edits);
  if (several.length > 0) {
    const counts = several.map((one) => replaced(one));
    return {
      added: sum(counts.map((one) => one.added)),
      removed: sum(counts.map((o) => o.removed)),
    };
  }
  const whole = first(input, WHOLE);
  if (whole !== undefined) return { added: lineCount(whole), removed: null };
  if (first(input, [...BEFORE, ...AFTER]) !== undefined) return replaced(input);
  const [only] = patch === undefined ? [] : patchEdits(`*** Update File: x\n${patch}`);
  return { added: only?.added ?? null, removed: only?.removed ?? null };
}

function replaced(input: JsonObject): { readonly added: number; readonly removed: number } {
  return {
    added: lineCount(first(input, AFTER) ?? ''),
    removed: lineCount(first(input, BEFORE) ?? ''),
  };
}

const HEAD = /^\*\*\* (?:Add|Update|Delete) File: (.+)$/;

/** `*** Begin Patch`, a line for each file, and lines that begin with `+` or `-`. */
function patchEdits(patch: string): readonly EditFacts[] {
  const files: { path: string; added: number; removed: number }[] = [];
  for (const line of patch.split('\n')) {
    const path = HEAD.exec(line)?.[1]?.trim();
    if (path !== undefined && path.length <= PATH_LENGTH_MAX) {
      if (files.length === FILES_MAX) break;
      files.push({ path, added: 0, removed: 0 });
      continue;
    }
    const file = files.at(-1);
    if (file === undefined) continue;
    if (line.startsWith('+') && !line.startsWith('+++ ')) file.added += 1;
    else if (line.startsWith('-') && !line.startsWith('--- ')) file.removed += 1;
  }
  return files;
}

function first(input: JsonObject, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = Object.hasOwn(input, name) ? asString(input[name]) : undefined;
    if (value !== undefined) return value;
  }
  return undefined;
}

function lineCount(text: string): number {
  if (text === '') return 0;
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, one) => all + one, 0);
}
