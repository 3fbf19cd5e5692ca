// `<sid>.edits.jsonl`: the files that an agent's own tools wrote, one line each, beside the entries
// of the session. A line says which tool wrote which file when, how many lines came and went, and
// the hashes of the file before and after; the content is in no line. Several processes may append
// at once: a line is one write, and a reader skips what is none.

import { namesIn } from '../directories.ts';
import { asString, type JsonObject, parseObject } from '../text/json.ts';
import { appendBeside, type BesideEnv } from './beside.ts';
import { findSessionFiles, sessionFiles, sessionsDir } from './files.ts';
import { EDITS } from './ids.ts';
import { readAllLines } from './packed/source.ts';
import { placeTrouble } from './place.ts';

export type EditRecord = {
  /** As an entry has it. */
  readonly timestamp: string;
  readonly tool: string;
  /** Absolute. */
  readonly path: string;
  /** Null where the call does not tell. */
  readonly lines_added: number | null;
  readonly lines_removed: number | null;
  /** SHA-256 of the file; null where there was none, or none that could be read. */
  readonly hash_before: string | null;
  readonly hash_after: string | null;
  readonly failed: boolean;
  readonly agent_id: string | null;
  readonly conversation_id: string | null;
  readonly tool_call_id: string | null;
};

/** They are on the disk when this resolves. Rejects with `journal_unwritable`. */
export async function appendEdits(
  directory: string,
  sessionId: string,
  edits: readonly EditRecord[],
  env: BesideEnv,
): Promise<void> {
  const { edits: path } = sessionFiles(directory, sessionId);
  const lines = edits.map((edit) => ({ text: JSON.stringify(edit), sequence: 0 }));
  await appendBeside(path, lines, { directory, sessionId, kind: 'edit' }, env);
}

/** Those of a session, in the order of their lines; what is no edit is left out. Never throws. */
export function readEdits(directory: string, sessionId: string): readonly EditRecord[] {
  const path = findSessionFiles(directory, sessionId)?.edits;
  const text = path === undefined ? undefined : readAllLines(path)?.toString('utf8');
  const lines = (text ?? '').split('\n');
  return lines.flatMap((line) => editOf(parseObject(line)) ?? []);
}

export type EditQuery = {
  /** In the path, in letters of any size. */
  readonly text: string;
  /** Epoch milliseconds. */
  readonly since?: number | undefined;
  readonly agent?: string | undefined;
  readonly limit: number;
};

/** Files that agents' own tools wrote, the newest first. Never throws. */
export function searchEdits(directory: string, query: EditQuery): readonly EditRecord[] {
  if (placeTrouble(directory) !== undefined) return [];
  const ending = `${EDITS}.jsonl`;
  const text = query.text.toLowerCase();
  const ids = namesIn(sessionsDir(directory))
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length));
  return ids
    .flatMap((id) => readEdits(directory, id))
    .filter(({ path }) => path.toLowerCase().includes(text))
    .filter(({ timestamp }) => Date.parse(timestamp) >= (query.since ?? 0))
    .filter(({ agent_id }) => query.agent === undefined || agent_id === query.agent)
    .sort((a, b) => Date.parse(b.timestamp) - Date.parse(a.timestamp))
    .slice(0, query.limit);
}

function editOf(json: JsonObject | undefined): EditRecord | undefined {
  const [timestamp, tool] = [asString(json?.timestamp), asString(json?.tool)];
  const path = asString(json?.path);
  if (json === undefined || tool === undefined || path === undefined) return undefined;
  if (timestamp === undefined || Number.isNaN(Date.parse(timestamp))) return undefined;
  const count = (value: unknown): number | null =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
  const text = (value: unknown): string | null => asString(value) ?? null;
  return {
    timestamp,
    tool,
    path,
    lines_added: count(json.lines_added),
    lines_removed: count(json.lines_removed),
    hash_before: text(json.hash_before),
    hash_after: text(json.hash_after),
    failed: json.failed === true,
    agent_id: text(json.agent_id),
    conversation_id: text(json.conversation_id),
    tool_call_id: text(json.tool_call_id),
  };
}
