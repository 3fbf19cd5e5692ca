// Copilot CLI, tried with 1.0.102: `session-state/<id>/events.jsonl`. A call is an event
// `tool.execution_start`, its result `tool.execution_complete` with the exit code as a number.

import { asObject, asString, type JsonObject } from '../../text/json.ts';
import {
  between,
  type CallResult,
  callFact,
  codeOf,
  OpenCalls,
  refusal,
  type TranscriptFact,
  type TranscriptLine,
  type TranscriptOrigin,
  textOrNull,
  timeOf,
} from './call.ts';
import { editsOf, isFileTool } from './edits.ts';

export function* copilotFacts(
  lines: Iterable<TranscriptLine>,
  origin: TranscriptOrigin,
): Generator<TranscriptFact, void, undefined> {
  let { session, cwd } = origin;
  const open = new OpenCalls('copilot');
  for (const line of lines) {
    const data = asObject(line.json.data);
    if (data === undefined) continue;
    if (line.json.type === 'session.start' || line.json.type === 'session.resume') {
      session = asString(data.sessionId) ?? session;
      cwd = textOrNull(asObject(data.context)?.cwd) ?? cwd;
    } else if (line.json.type === 'tool.execution_start') {
      yield* asked(data, line, { session, cwd }, open);
    } else if (line.json.type === 'tool.execution_complete') yield* answered(data, line, open);
  }
  yield* open.rest();
}

function* asked(
  data: JsonObject,
  { json, number: line }: TranscriptLine,
  { session, cwd }: TranscriptOrigin,
  open: OpenCalls,
): Generator<TranscriptFact> {
  const [id, tool] = [asString(data.toolCallId), asString(data.toolName)];
  if (id === undefined || tool === undefined) return;
  const input = asObject(data.arguments) ?? asString(data.arguments) ?? {};
  const at = timeOf(json.timestamp);
  if (tool === 'bash') {
    const args = typeof input === 'string' ? {} : input;
    const command = asString(args.command);
    const description = textOrNull(args.description);
    if (command === undefined) yield { kind: 'unknown', line };
    else {
      const call = { session, command, description, cwd, startedAt: at, line };
      yield* open.add(id, { kind: 'call', asked: call });
    }
  } else if (isFileTool('copilot', tool)) {
    const [edit] = isLook(input) ? [] : editsOf(input);
    const common = { agent: 'copilot', session, call: id, tool, cwd, at } as const;
    if (edit !== undefined) {
      yield* open.add(id, { kind: 'edit', edit: { ...common, ...edit, line } });
    }
  }
}

/** `str_replace_editor` also shows files. */
function isLook(input: JsonObject | string): boolean {
  return typeof input !== 'string' && input.command === 'view';
}

function* answered(
  data: JsonObject,
  { json }: TranscriptLine,
  open: OpenCalls,
): Generator<TranscriptFact> {
  const id = asString(data.toolCallId);
  const waiting = id === undefined ? undefined : open.take(id);
  if (id === undefined || waiting === undefined) return;
  if (waiting.kind === 'edit') {
    if (data.success === true) yield waiting;
    return;
  }
  const durationMs = between(waiting.asked.startedAt, timeOf(json.timestamp));
  yield callFact('copilot', id, waiting.asked, { durationMs, ...resultOf(data) });
}

const STATUS_LINE = /\n?<shellId: \S{1,40} completed with exit code -?\d{1,10}>\s*$/;

function resultOf(data: JsonObject): CallResult {
  const error = asObject(data.error);
  if (error !== undefined) {
    const message = asString(error.message) ?? '';
    if (/denied|rejected/i.test(`${asString(error.code) ?? ''} ${message}`)) {
      return refusal(message, /preToolUse hook/i.test(message) ? 'hook' : undefined);
    }
    return { exitCode: null, output: message, end: 'failed' };
  }
  const content = textOrNull(asObject(data.result)?.content);
  return {
    exitCode: codeOf(asObject(data.shellExecution)?.exitCode),
    output: content?.replace(STATUS_LINE, '') ?? null,
    end: 'itself',
    truncated: /Output too large to read at once|<output too long/i.test(content ?? ''),
  };
}
