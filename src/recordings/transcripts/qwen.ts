// Qwen Code, tried with 0.24.4: `projects/<project>/chats/<id>.jsonl`. A call is a `functionCall`
// part of the model's line, its result a line `tool_result` that has the exit code as a number.

import { asObject, asString, type JsonObject } from '../../text/json.ts';
import {
  between,
  type CallResult,
  callFact,
  codeOf,
  OpenCalls,
  objectsOf,
  refusal,
  type TranscriptFact,
  type TranscriptLine,
  type TranscriptOrigin,
  textOrNull,
  timeOf,
} from './call.ts';
import { editsOf, isFileTool } from './edits.ts';
import { below } from './gemini.ts';
import { shellReport } from './gemini-text.ts';

export function* qwenFacts(
  lines: Iterable<TranscriptLine>,
  origin: TranscriptOrigin,
): Generator<TranscriptFact, void, undefined> {
  const open = new OpenCalls('qwen');
  for (const line of lines) {
    const parts = objectsOf(asObject(line.json.message)?.parts);
    if (line.json.type === 'assistant') {
      for (const { functionCall } of parts)
        yield* asked(asObject(functionCall), line, origin, open);
    } else if (line.json.type === 'tool_result') yield* answered(line, parts, open);
  }
  yield* open.rest();
}

function* asked(
  call: JsonObject | undefined,
  { json, number }: TranscriptLine,
  origin: TranscriptOrigin,
  open: OpenCalls,
): Generator<TranscriptFact> {
  const [id, name] = [asString(call?.id), asString(call?.name)];
  if (id === undefined || name === undefined) return;
  const args = asObject(call?.args) ?? {};
  const session = asString(json.sessionId) ?? origin.session;
  const cwd = textOrNull(json.cwd) ?? origin.cwd;
  const at = timeOf(json.timestamp);
  if (name === 'run_shell_command') {
    const command = asString(args.command);
    const description = textOrNull(args.description);
    const directory = below(cwd, asString(args.directory));
    if (command === undefined) yield { kind: 'unknown', line: number };
    else {
      const call = { session, command, description, cwd: directory, startedAt: at, line: number };
      yield* open.add(id, { kind: 'call', asked: call });
    }
  } else if (isFileTool('qwen', name)) {
    const [edit] = editsOf(args);
    if (edit === undefined) yield { kind: 'unknown', line: number };
    else {
      const common = { agent: 'qwen', session, call: id, tool: name, cwd, at } as const;
      yield* open.add(id, { kind: 'edit', edit: { ...common, ...edit, line: number } });
    }
  }
}

function* answered(
  { json }: TranscriptLine,
  parts: readonly JsonObject[],
  open: OpenCalls,
): Generator<TranscriptFact> {
  const result = asObject(json.toolCallResult);
  const id = asString(result?.callId);
  const waiting = id === undefined ? undefined : open.take(id);
  if (id === undefined || result === undefined || waiting === undefined) return;
  if (waiting.kind === 'edit') {
    if (result.status === 'success') yield waiting;
    return;
  }
  const durationMs = between(waiting.asked.startedAt, timeOf(json.timestamp));
  yield callFact('qwen', id, waiting.asked, { durationMs, ...resultOf(result, parts) });
}

function resultOf(result: JsonObject, parts: readonly JsonObject[]): CallResult {
  const [response] = parts.map(({ functionResponse }) =>
    asObject(asObject(functionResponse)?.response),
  );
  const text = asString(response?.error) ?? asString(response?.output) ?? '';
  const type = asString(result.errorType) ?? '';
  const display = asObject(result.resultDisplay);
  if (display?.type === 'shell_result') {
    return {
      exitCode: codeOf(display.exitCode),
      output: textOrNull(display.output) ?? textOrNull(display.text),
      end: display.outcome === 'timed_out' ? 'timeout' : 'itself',
      truncated: display.truncated === true,
    };
  }
  if (/denied|blocked|not_allowed|permission/i.test(type)) {
    return refusal(text, /hook/i.test(`${type} ${text}`) ? 'hook' : undefined);
  }
  if (result.status === 'cancelled') return { exitCode: null, output: text, end: 'interrupted' };
  const report = shellReport(text, asString(result.resultDisplay));
  if (report !== undefined) return report;
  const end = result.status === 'error' ? 'failed' : 'itself';
  return { exitCode: null, output: text, end };
}
