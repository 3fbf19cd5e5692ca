// Codex, tried with 0.166.0: `sessions/Y/M/D/rollout-TIME-<id>.jsonl` and `archived_sessions/`. The
// best record of a command is the item `CommandExecution`, which code mode writes, too; where a
// rollout has none, a `function_call` is joined with its output. The script of a code mode call is
// JavaScript and no command: what it ran has items of its own.

import { fileURLToPath } from 'node:url';
import { asObject, asString, asStrings, type JsonObject, parseObject } from '../../text/json.ts';
import { quoteWords } from '../../text/printable.ts';
import { shellText } from '../../text/shells.ts';
import {
  between,
  type CallResult,
  callFact,
  codeOf,
  type Decider,
  OpenCalls,
  refusal,
  spanOf,
  type TranscriptFact,
  type TranscriptLine,
  type TranscriptOrigin,
  textOf,
  textOrNull,
  timeOf,
} from './call.ts';
import { editsOf, isFileTool } from './edits.ts';

type State = {
  session: string;
  cwd: string | null;
  approval: string | undefined;
  readonly open: OpenCalls;
};

export function* codexFacts(
  lines: Iterable<TranscriptLine>,
  { session, cwd }: TranscriptOrigin,
): Generator<TranscriptFact, void, undefined> {
  const state: State = { session, cwd, approval: undefined, open: new OpenCalls('codex') };
  for (const line of lines) {
    const payload = asObject(line.json.payload);
    if (payload === undefined) continue;
    if (line.json.type === 'session_meta') {
      // A subagent has a rollout and an `id` of its own, in the session of the main agent.
      state.session = asString(payload.session_id) ?? asString(payload.id) ?? state.session;
      state.cwd = textOrNull(payload.cwd) ?? state.cwd;
      if (state.cwd !== null) yield { kind: 'place', session: state.session, cwd: state.cwd };
    } else if (line.json.type === 'turn_context') {
      state.cwd = textOrNull(payload.cwd) ?? state.cwd;
      state.approval = asString(payload.approval_policy);
    } else if (line.json.type === 'response_item') yield* responseItem(payload, line, state);
    else if (line.json.type === 'event_msg') yield* event(payload, line, state);
  }
  yield* state.open.rest();
}

const SHELLS = new Set(['exec_command', 'shell', 'shell_command', 'local_shell', 'container.exec']);

function* responseItem(
  item: JsonObject,
  line: TranscriptLine,
  state: State,
): Generator<TranscriptFact> {
  const id = asString(item.call_id) ?? asString(item.id);
  if (id === undefined) return;
  const name = asString(item.name) ?? '';
  switch (item.type) {
    case 'function_call':
      if (SHELLS.has(name))
        yield* asked(id, parseObject(asString(item.arguments) ?? ''), line, state);
      else if (isFileTool('codex', name)) yield* edited(id, name, patchOf(item), line, state);
      return;
    case 'local_shell_call':
      yield* asked(id, asObject(item.action), line, state);
      return;
    case 'custom_tool_call':
      if (isFileTool('codex', name)) yield* edited(id, name, asString(item.input), line, state);
      return;
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'local_shell_call_output':
      yield* answered(id, item, line, state);
  }
}

function patchOf(item: JsonObject): JsonObject | string | undefined {
  return parseObject(asString(item.arguments) ?? '') ?? asString(item.arguments);
}

function* asked(
  id: string,
  input: JsonObject | undefined,
  line: TranscriptLine,
  state: State,
): Generator<TranscriptFact> {
  const command = commandOf(input?.cmd ?? input?.command);
  if (command === undefined) {
    yield { kind: 'unknown', line: line.number };
    return;
  }
  const call = {
    session: state.session,
    command,
    description: textOrNull(input?.justification),
    cwd: textOrNull(input?.workdir) ?? textOrNull(input?.working_directory) ?? state.cwd,
    startedAt: timeOf(line.json.timestamp),
    line: line.number,
  };
  yield* state.open.add(id, { kind: 'call', asked: call });
}

function* edited(
  id: string,
  tool: string,
  input: JsonObject | string | undefined,
  line: TranscriptLine,
  { session, cwd }: State,
): Generator<TranscriptFact> {
  const edits = input === undefined ? [] : editsOf(input);
  if (edits.length === 0) yield { kind: 'unknown', line: line.number };
  // Codex writes no structured result of a patch, so the call itself is the fact.
  for (const edit of edits) {
    const at = timeOf(line.json.timestamp);
    const common = { agent: 'codex', session, call: id, tool, cwd, at, line: line.number } as const;
    yield { kind: 'edit', edit: { ...common, ...edit } };
  }
}

/** A text, or the argv of a shell with its text. */
function commandOf(value: unknown): string | undefined {
  const argv = asStrings(value);
  return argv === undefined ? asString(value) : (shellText(argv) ?? quoteWords(argv));
}

function* event(
  payload: JsonObject,
  line: TranscriptLine,
  state: State,
): Generator<TranscriptFact> {
  if (payload.type === 'item_completed') {
    const item = asObject(payload.item);
    if (item?.type !== 'CommandExecution') return;
    const startedAt = timeOf(payload.started_at_ms);
    yield* executed({ ...item, thread: payload.thread_id }, startedAt, line, state);
  } else if (payload.type === 'exec_command_end') {
    yield* executed({ ...payload, id: payload.call_id }, null, line, state);
  }
}

function* executed(
  item: JsonObject,
  startedAt: number | null,
  line: TranscriptLine,
  state: State,
): Generator<TranscriptFact> {
  const id = asString(item.id);
  const before = id === undefined ? undefined : state.open.take(id);
  const waiting = before?.kind === 'call' ? before.asked : undefined;
  const command = commandOf(item.command) ?? waiting?.command;
  if (id === undefined || command === undefined) {
    yield { kind: 'unknown', line: line.number };
    return;
  }
  const durationMs = spanOfDuration(item.duration);
  const endedAt = timeOf(line.json.timestamp);
  const began = startedAt ?? waiting?.startedAt ?? earlier(endedAt, durationMs);
  const call = {
    session: sessionOf(item, state),
    command: waiting?.command ?? command,
    description: waiting?.description ?? null,
    cwd: directoryOf(item.cwd) ?? waiting?.cwd ?? state.cwd,
    startedAt: began,
    line: waiting?.line ?? line.number,
  };
  const output = outputOf(item);
  const found: CallResult =
    item.status === 'declined'
      ? refusal(output ?? 'declined')
      : { exitCode: codeOf(item.exit_code), output, end: 'itself', ...allowed(state) };
  yield callFact('codex', id, call, { durationMs, ...found });
}

function sessionOf({ thread }: JsonObject, { session }: State): string {
  return session === '' ? (asString(thread) ?? session) : session;
}

function outputOf(item: JsonObject): string | null {
  const parts = [item.stdout, item.stderr].map((part) => asString(part) ?? '');
  return asString(item.aggregated_output) ?? (parts.join('') || null);
}

function directoryOf(value: unknown): string | null {
  const text = textOrNull(value);
  if (text === null || !text.startsWith('file://')) return text;
  try {
    return fileURLToPath(text);
  } catch {
    return null; // of another host, or no path
  }
}

function spanOfDuration(value: unknown): number | null {
  const json = asObject(value);
  const [secs, nanos] = [json?.secs, json?.nanos];
  if (typeof secs !== 'number' || typeof nanos !== 'number') return null;
  return spanOf(secs * 1000 + nanos / 1_000_000);
}

function earlier(at: number | null, ms: number | null): number | null {
  return at === null ? null : at - (ms ?? 0);
}

/** With `never` Codex asks nobody: its configuration is what let the command run. */
function allowed({ approval }: State): { readonly decidedBy?: Decider } {
  return approval === 'never' ? { decidedBy: 'config' } : {};
}

function* answered(
  id: string,
  item: JsonObject,
  line: TranscriptLine,
  state: State,
): Generator<TranscriptFact> {
  const waiting = state.open.take(id);
  if (waiting?.kind !== 'call') return;
  const text = textOf(item.output);
  const durationMs = between(waiting.asked.startedAt, timeOf(line.json.timestamp));
  yield callFact('codex', id, waiting.asked, { durationMs, ...result(text, state) });
}

const REJECTED = /^(?:exec command )?rejected by user|^exec_command failed.*rejected by user/i;
const BLOCKED = /^Command blocked by PreToolUse hook/;
const HEAD = /^(?:Chunk ID|Exit code|Wall time|Process|Total output lines|Original token count)\b/;

function result(text: string, state: State): CallResult {
  if (REJECTED.test(text)) return refusal(text, 'person');
  if (BLOCKED.test(text)) return refusal(text, 'hook');
  const json = parseObject(text);
  const metadata = asObject(json?.metadata);
  if (metadata !== undefined) {
    const seconds = metadata.duration_seconds;
    const exitCode = codeOf(metadata.exit_code);
    const output = textOrNull(json?.output);
    const span = typeof seconds === 'number' ? { durationMs: spanOf(seconds * 1000) } : {};
    return { exitCode, output, end: 'itself', ...span, ...allowed(state) };
  }
  const at = HEAD.test(text) ? /(?:^|\n)Output:\n/.exec(text) : null;
  const head = at === null ? '' : text.slice(0, at.index);
  const code = /^(?:Process exited with code|Exit code:) (-?\d{1,10})$/m.exec(head)?.[1];
  return {
    exitCode: code === undefined ? null : codeOf(Number(code)),
    output: at === null ? text : text.slice(at.index + at[0].length),
    end: 'itself',
    truncated: /tokens truncated|^Total output lines:/m.test(text),
    ...allowed(state),
  };
}
