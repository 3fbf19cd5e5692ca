// Which files an agent's own tool is about to write, by the arguments of the call. Names of
// arguments differ between agents and versions, so that every known one is looked at; a patch names
// its files in its text. A path that is not found here is not judged, so more is better than less.

import { asObject, asString, type JsonObject } from '../text/json.ts';
import type { FileEdit } from './call.ts';

const PATH_KEYS = [
  ...['file_path', 'filePath', 'absolute_path', 'absolutePath', 'path', 'target_file'],
  ...['targetFile', 'notebook_path', 'notebookPath', 'file', 'filename', 'fileName', 'uri'],
];

const INCOMING_KEYS = [
  ...['content', 'contents', 'file_text', 'fileText', 'new_string', 'newString', 'new_str'],
  ...['newText', 'new_source', 'code', 'code_edit', 'insert_text', 'text'],
];

const OUTGOING_KEYS = ['old_string', 'oldString', 'old_str', 'oldText', 'old_source'];

const PATCH_KEYS = ['patch', 'patchText', 'input', 'diff', 'command', 'patch_text'];

/** Lists of edits: each may name a file of its own. */
const LIST_KEYS = ['edits', 'replacements', 'files', 'changes'];

const EDITS_MAX = 1_000; // no tool writes more files at once

export function fileEdits(input: JsonObject): readonly FileEdit[] {
  const found = [...editsOf(input, undefined), ...patchesOf(input)];
  return found.slice(0, EDITS_MAX);
}

function editsOf(input: JsonObject, above: string | undefined): readonly FileEdit[] {
  const own = first(input, PATH_KEYS);
  const path = own === undefined ? above : plainPath(own);
  const list = LIST_KEYS.flatMap((key) => {
    const value = input[key];
    return Array.isArray(value) ? value : [];
  });
  const inner = list.flatMap((entry) => {
    if (typeof entry === 'string') return [edit(plainPath(entry))];
    const one = asObject(entry);
    return one === undefined ? [] : editsOf(one, path);
  });
  const [incoming, outgoing] = [first(input, INCOMING_KEYS), first(input, OUTGOING_KEYS)];
  const says = incoming !== undefined || outgoing !== undefined;
  // A list says what is done to the file above it; the file itself is judged in either case.
  if (path === undefined || (inner.length > 0 && own === undefined && !says)) return inner;
  if (inner.some((one) => one.path === path) && !says) return inner;
  return [edit(path, { incoming, outgoing }), ...inner];
}

function edit(path: string, more: Partial<FileEdit> = {}): FileEdit {
  return { path, removes: false, incoming: undefined, outgoing: undefined, ...more };
}

function first(input: JsonObject, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = Object.hasOwn(input, key) ? asString(input[key]) : undefined;
    if (value !== undefined) return value;
  }
  return undefined;
}

/** `file:///a%20b` is `/a b`; a NUL ends a path, as it does for the system. */
function plainPath(path: string): string {
  const [name = ''] = path.split('\0', 1);
  if (!/^file:\/\//i.test(name)) return name;
  const rest = name.replace(/^file:\/\/[^/]*/i, '');
  try {
    return decodeURIComponent(rest);
  } catch {
    return rest; // no escape, only a percent sign
  }
}

function patchesOf(input: JsonObject): readonly FileEdit[] {
  return PATCH_KEYS.flatMap((key) => {
    const value = input[key];
    const texts = Array.isArray(value) ? value : [value];
    return texts.flatMap((text) => (typeof text === 'string' ? patchFiles(text) : []));
  });
}

/** `*** Update File: x`, with `*** Move to: y`, and unified diffs. */
function patchFiles(patch: string): readonly FileEdit[] {
  const files: { path: string; removes: boolean; added: string[]; removed: string[] }[] = [];
  const open = (path: string, removes: boolean): void => {
    files.push({ path, removes, added: [], removed: [] });
  };
  for (const line of patch.split(/\r?\n/)) {
    const own = /^\s*\*\*\* (Add|Update|Delete|Move) (?:File|to): (.*)$/.exec(line);
    const header = /^(?:---|\+\+\+) (.*)$/.exec(line);
    if (own !== null) open((own[2] ?? '').trim(), own[1] === 'Delete');
    else if (header !== null) {
      const path = diffPath(header[1] ?? '');
      if (path !== undefined && files.at(-1)?.path !== path) open(path, false);
    } else if (line.startsWith('+')) files.at(-1)?.added.push(line.slice(1));
    else if (line.startsWith('-')) files.at(-1)?.removed.push(line.slice(1));
  }
  return files
    .filter(({ path }) => path !== '')
    .map(({ path, removes, added, removed }) => {
      const text = (lines: readonly string[]): string | undefined =>
        lines.length === 0 ? undefined : `${lines.join('\n')}\n`;
      return { path, removes, incoming: text(added), outgoing: text(removed) };
    });
}

/** Without the `a/` of git and the time that diff adds. */
function diffPath(text: string): string | undefined {
  const [name = ''] = text.split('\t', 1);
  const path = name.trim().replace(/^"(.*)"$/, '$1');
  return path === '' || path === '/dev/null' ? undefined : path.replace(/^[ab]\//, '');
}
