// Gemini CLI, tried with 0.61.0: `tmp/<project>/chats/session-*.jsonl`, of older versions one
// `.json` with `messages`. A message of the model holds its calls with their results; it may be
// written again when one of them is done, and the reader keeps the first whole one.

import { asObject, asString, type JsonObject } from '../../text/json.ts';
import {
  between,
  type CallRequest,
  type CallResult,
  callFact,
  objectsOf,
  refusal,
  type TranscriptFact,
  type TranscriptLine,
  type TranscriptOrigin,
  textOrNull,
  timeOf,
} from './call.ts';
import { editsOf, isFileTool } from './edits.ts';
import { shellReport } from './gemini-text.ts';

export function* geminiFacts(
  lines: Iterable<TranscriptLine>,
  origin: TranscriptOrigin,
): Generator<TranscriptFact, void, undefined> {
  let { session } = origin;
  const open = new Map<string, TranscriptFact>();
  for (const line of lines) {
    const { json } = line;
    session = asString(json.sessionId) ?? session;
    for (const call of objectsOf(json.toolCalls)) {
      const id = asString(call.id) ?? `line ${line.number}`;
      for (const fact of callFacts(id, call, line, { ...origin, session })) {
        open.delete(id);
        if (fact.kind === 'call' && fact.call.end === 'open') open.set(id, fact);
        else yield fact;
      }
    }
  }
  yield* open.values();
}

function* callFacts(
  id: string,
  call: JsonObject,
  { json, number }: TranscriptLine,
  { session, cwd }: TranscriptOrigin,
): Generator<TranscriptFact> {
  const args = asObject(call.args) ?? {};
  const name = asString(call.name) ?? '';
  const startedAt = timeOf(json.timestamp);
  if (name === 'run_shell_command') {
    const command = asString(args.command);
    if (command === undefined) {
      yield { kind: 'unknown', line: number };
      return;
    }
    const description = textOrNull(args.description);
    const directory = below(cwd, asString(args.dir_path) ?? asString(args.directory));
    const asked: CallRequest = {
      session,
      command,
      description,
      cwd: directory,
      startedAt,
      line: number,
    };
    const durationMs = between(startedAt, timeOf(call.timestamp));
    yield callFact('gemini', id, asked, { durationMs, ...geminiResult(call) });
  } else if (isFileTool('gemini', name) && call.status === 'success') {
    const common = { agent: 'gemini', session, call: id, tool: name, cwd, at: startedAt } as const;
    const edits = editsOf(args);
    if (edits.length === 0) yield { kind: 'unknown', line: number };
    for (const edit of edits) yield { kind: 'edit', edit: { ...common, ...edit, line: number } };
  }
}

/** A directory that a call names, from where the session works. */
export function below(cwd: string | null, named: string | undefined): string | null {
  if (named === undefined || named === '') return cwd;
  if (named.startsWith('/') || cwd === null) return named.startsWith('/') ? named : null;
  return `${cwd}/${named}`;
}

function geminiResult(call: JsonObject): CallResult {
  const [response] = objectsOf(call.result).map(({ functionResponse }) =>
    asObject(asObject(functionResponse)?.response),
  );
  const error = asString(response?.error);
  if (call.status === 'cancelled') return cancelled(error ?? '');
  if (error !== undefined) return failure(error);
  const text = asString(response?.output);
  if (text === undefined) return { exitCode: null, output: null, end: 'open' };
  const report = shellReport(text, asString(call.resultDisplay));
  return report ?? { exitCode: null, output: text, end: 'itself' };
}

function cancelled(reason: string): CallResult {
  if (/did not allow|denied|rejected/i.test(reason)) return refusal(reason, 'person');
  return { exitCode: null, output: reason, end: 'interrupted' };
}

function failure(error: string): CallResult {
  if (/^Tool execution blocked/.test(error)) return refusal(error, 'hook');
  if (/denied by policy|not allowed|Command substitution|blocked by policy/i.test(error)) {
    return refusal(error, 'config');
  }
  return { exitCode: null, output: error, end: 'failed' };
}
