// pi, tried with 1.5.0: `sessions/--<path>--/TIME_<id>.jsonl`, a format that pi documents. A call
// is a `toolCall` block, its result a message of the role `toolResult`. An exit code other than 0
// is the last line of a result that is an error; a result that is none is of a command that ended
// with 0. What a person typed with `!` has another role and is not an agent's command.

import { asObject, asString, type JsonObject } from '../../text/json.ts';
import {
  between,
  type CallResult,
  callFact,
  codeOf,
  OpenCalls,
  objectsOf,
  spanOf,
  type TranscriptFact,
  type TranscriptLine,
  type TranscriptOrigin,
  textOf,
  textOrNull,
  timeOf,
} from './call.ts';
import { editsOf, isFileTool } from './edits.ts';

export function* piFacts(
  lines: Iterable<TranscriptLine>,
  origin: TranscriptOrigin,
): Generator<TranscriptFact, void, undefined> {
  let { session, cwd } = origin;
  const open = new OpenCalls('pi');
  for (const line of lines) {
    const { json } = line;
    if (json.type === 'session') {
      session = asString(json.id) ?? session;
      cwd = textOrNull(json.cwd) ?? cwd;
    }
    const message = asObject(json.message);
    if (json.type !== 'message' || message === undefined) continue;
    if (message.role === 'assistant') {
      for (const block of objectsOf(message.content)) {
        yield* asked(block, line, { session, cwd }, open);
      }
    } else if (message.role === 'toolResult') yield* answered(message, line, open);
  }
  yield* open.rest();
}

function* asked(
  block: JsonObject,
  { json, number: line }: TranscriptLine,
  { session, cwd }: TranscriptOrigin,
  open: OpenCalls,
): Generator<TranscriptFact> {
  const [id, tool] = [asString(block.id), asString(block.name)];
  if (block.type !== 'toolCall' || id === undefined || tool === undefined) return;
  const input = asObject(block.arguments) ?? {};
  const at = timeOf(json.timestamp);
  if (tool === 'bash') {
    const command = asString(input.command);
    const description = textOrNull(input.description);
    if (command === undefined) yield { kind: 'unknown', line };
    else {
      const call = { session, command, description, cwd, startedAt: at, line };
      yield* open.add(id, { kind: 'call', asked: call });
    }
  } else if (isFileTool('pi', tool)) {
    const [edit] = editsOf(input);
    const common = { agent: 'pi', session, call: id, tool, cwd, at } as const;
    if (edit === undefined) yield { kind: 'unknown', line };
    else yield* open.add(id, { kind: 'edit', edit: { ...common, ...edit, line } });
  }
}

function* answered(
  message: JsonObject,
  { json }: TranscriptLine,
  open: OpenCalls,
): Generator<TranscriptFact> {
  const id = asString(message.toolCallId);
  const waiting = id === undefined ? undefined : open.take(id);
  if (id === undefined || waiting === undefined) return;
  if (waiting.kind === 'edit') {
    if (message.isError !== true) yield waiting;
    return;
  }
  const given = typeof message.durationMs === 'number' ? spanOf(message.durationMs) : null;
  const durationMs = given ?? between(waiting.asked.startedAt, timeOf(json.timestamp));
  yield callFact('pi', id, waiting.asked, { durationMs, ...resultOf(message) });
}

const EXIT = /(?:\n\n|^)Command exited with code (\d{1,10})\s*$/;

function resultOf(message: JsonObject): CallResult {
  const text = textOf(message.content);
  const details = asObject(message.details);
  const truncated = asObject(details?.truncation)?.truncated === true;
  if (message.isError !== true) {
    return { exitCode: 0, output: text === '(no output)' ? '' : text, end: 'itself', truncated };
  }
  const code = EXIT.exec(text)?.[1];
  if (code !== undefined) {
    const output = text.replace(EXIT, '');
    return { exitCode: codeOf(Number(code)), output, end: 'itself', truncated };
  }
  const end = /Command timed out after/.test(text)
    ? 'timeout'
    : /Command aborted/.test(text)
      ? 'interrupted'
      : 'failed';
  return { exitCode: null, output: text, end, truncated };
}
