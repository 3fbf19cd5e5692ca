// OpenCode, tried with 1.18.33: `opencode.db`, whose rows of `part` are its records; older versions
// kept one JSON file for each below `storage/`. A part holds a call with its result, and changes
// until the call is done. The reader adds the session and its directory to each part.

import { asObject, asString, type JsonObject } from '../../text/json.ts';
import {
  between,
  type CallResult,
  callFact,
  codeOf,
  refusal,
  type TranscriptFact,
  type TranscriptLine,
  type TranscriptOrigin,
  textOrNull,
  timeOf,
} from './call.ts';
import { editsOf, isFileTool } from './edits.ts';

/** A row of `part` as a record of a transcript. */
export function partRecord(
  data: JsonObject,
  session: string,
  directory: string | null,
): JsonObject {
  return { ...data, sessionID: session, directory };
}

export function* opencodeFacts(
  lines: Iterable<TranscriptLine>,
  origin: TranscriptOrigin,
): Generator<TranscriptFact, void, undefined> {
  for (const { json, number: line } of lines) {
    const [tool, id] = [asString(json.tool), asString(json.callID)];
    const state = asObject(json.state);
    if (json.type !== 'tool' || tool === undefined || id === undefined) continue;
    if (state === undefined) {
      yield { kind: 'unknown', line };
      continue;
    }
    const session = asString(json.sessionID) ?? origin.session;
    const cwd = textOrNull(json.directory) ?? origin.cwd;
    const input = asObject(state.input) ?? {};
    const time = asObject(state.time);
    const startedAt = timeOf(time?.start);
    if (tool === 'bash') {
      const command = asString(input.command);
      if (command === undefined && isDone(state)) yield { kind: 'unknown', line };
      if (command === undefined) continue;
      const description = textOrNull(input.description);
      const directory = textOrNull(input.workdir) ?? cwd;
      const asked = { session, command, description, cwd: directory, startedAt, line };
      const durationMs = between(startedAt, timeOf(time?.end));
      yield callFact('opencode', id, asked, { durationMs, ...resultOf(state) });
    } else if (isFileTool('opencode', tool) && state.status === 'completed') {
      const common = { agent: 'opencode', session, call: id, tool, cwd, at: startedAt } as const;
      const edits = editsOf(input);
      if (edits.length === 0) yield { kind: 'unknown', line };
      for (const edit of edits) yield { kind: 'edit', edit: { ...common, ...edit, line } };
    }
  }
}

function isDone({ status }: JsonObject): boolean {
  return status === 'completed' || status === 'error';
}

const REFUSED = /rejected permission|user rejected|rule which prevents|permission denied by/i;

function resultOf(state: JsonObject): CallResult {
  if (!isDone(state)) return { exitCode: null, output: null, end: 'open' };
  const metadata = asObject(state.metadata);
  const error = asString(state.error);
  if (state.status === 'error' && error !== undefined && REFUSED.test(error)) {
    return refusal(error, /rule/.test(error) ? 'config' : 'person');
  }
  const file = asString(metadata?.outputPath);
  return {
    exitCode: codeOf(metadata?.exit),
    output: textOrNull(state.output) ?? textOrNull(metadata?.output) ?? error ?? null,
    end: state.status === 'error' ? 'failed' : 'itself',
    truncated: metadata?.truncated === true,
    ...(file !== undefined && { outputFile: file }),
  };
}
