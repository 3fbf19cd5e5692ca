// Claude Code, tried with 2.1.325: `projects/<cwd>/<session>.jsonl`, and of subagents
// `<session>/subagents/agent-*.jsonl`. A call is a `tool_use` block of an assistant's line, its
// result a `tool_result` block of a user's line. An exit code other than 0 is an error that begins
// with `Exit code N`; a success is 0 unless Claude says that it interpreted the code.

import { asObject, asString, type JsonObject } from '../../text/json.ts';
import {
  between,
  type CallResult,
  callFact,
  codeOf,
  type Decider,
  OpenCalls,
  objectsOf,
  refusal,
  type TranscriptFact,
  type TranscriptLine,
  type TranscriptOrigin,
  textOf,
  textOrNull,
  timeOf,
} from './call.ts';
import { type EditFacts, editsOf, isFileTool } from './edits.ts';

export function* claudeFacts(
  lines: Iterable<TranscriptLine>,
  origin: TranscriptOrigin,
): Generator<TranscriptFact, void, undefined> {
  const open = new OpenCalls('claude');
  for (const line of lines) {
    const { json } = line;
    const content = objectsOf(asObject(json.message)?.content);
    if (json.type === 'assistant') {
      for (const block of content) yield* asked(block, line, origin, open);
    } else if (json.type === 'user') {
      for (const block of content) yield* answered(block, line, open);
    }
  }
  yield* open.rest();
}

function* asked(
  block: JsonObject,
  { json, number }: TranscriptLine,
  origin: TranscriptOrigin,
  open: OpenCalls,
): Generator<TranscriptFact> {
  const [id, name] = [asString(block.id), asString(block.name)];
  if (block.type !== 'tool_use' || id === undefined || name === undefined) return;
  const input = asObject(block.input) ?? {};
  const common = {
    session: asString(json.sessionId) ?? origin.session,
    cwd: textOrNull(json.cwd) ?? origin.cwd,
    line: number,
    ...sidechain(json),
  };
  const at = timeOf(json.timestamp);
  if (name === 'Bash') {
    const command = asString(input.command);
    if (command === undefined) yield { kind: 'unknown', line: number };
    else {
      const description = textOrNull(input.description);
      const call = { ...common, command, description, startedAt: at };
      yield* open.add(id, { kind: 'call', asked: call });
    }
  } else if (isFileTool('claude', name)) {
    const [edit] = editsOf(input);
    if (edit === undefined) yield { kind: 'unknown', line: number };
    else {
      const facts = { agent: 'claude', call: id, tool: name, at, ...common, ...edit } as const;
      yield* open.add(id, { kind: 'edit', edit: facts });
    }
  }
}

function sidechain({ isSidechain, agentId }: JsonObject): { readonly sidechain?: string } {
  const agent = asString(agentId);
  if (isSidechain !== true && agent === undefined) return {};
  return { sidechain: agent ?? 'sidechain' };
}

function* answered(
  block: JsonObject,
  { json }: TranscriptLine,
  open: OpenCalls,
): Generator<TranscriptFact> {
  const id = asString(block.tool_use_id);
  if (block.type !== 'tool_result' || id === undefined) return;
  const waiting = open.take(id);
  if (waiting === undefined) return;
  if (waiting.kind === 'edit') {
    if (block.is_error === true) return;
    yield { kind: 'edit', edit: { ...waiting.edit, ...patched(json.toolUseResult) } };
    return;
  }
  const durationMs = between(waiting.asked.startedAt, timeOf(json.timestamp));
  yield callFact('claude', id, waiting.asked, { durationMs, ...result(block, json) });
}

function result(block: JsonObject, json: JsonObject): CallResult {
  const text = textOf(block.content);
  const permission = asObject(json.permissionDecision);
  const by = deciderOf(asString(permission?.source));
  const denied = permission?.decision === 'reject' || asString(json.toolDenialKind) !== undefined;
  if (denied || (block.is_error === true && permission === undefined && REFUSED.test(text))) {
    return refusal(text, by ?? (HOOK.test(text) ? 'hook' : undefined));
  }
  const decided = by === undefined ? {} : { decidedBy: by };
  if (block.is_error === true) return { ...failure(text), ...decided };
  const structured = asObject(json.toolUseResult);
  return { ...success(structured, text), ...decided };
}

/** Of versions that did not write who decided. */
const REFUSED = new RegExp(
  [
    "^The user doesn't want to (?:proceed|take this action)",
    '^Permission to use \\S+ .*(?:denied|been denied)',
    '^Claude requested permissions',
    '^This command requires approval',
    '^PreToolUse:\\w+ hook',
  ].join('|'),
);
const HOOK = /^PreToolUse:\w+ hook/;
const EXIT = /^(?:Error: )?Exit code (\d{1,10})(?:\n([\s\S]*))?$/;
const TIMED_OUT = /^(?:Error: )?Command timed out/;
const INTERRUPTED = /^\[Request interrupted by user|^(?:Error: )?Command was aborted/;

function failure(text: string): CallResult {
  const [, code, output = ''] = EXIT.exec(text) ?? [];
  if (code !== undefined) {
    return { exitCode: codeOf(Number(code)), output, end: 'itself', truncated: isCut(output) };
  }
  const end = TIMED_OUT.test(text) ? 'timeout' : INTERRUPTED.test(text) ? 'interrupted' : 'failed';
  return { exitCode: null, output: text, end, truncated: isCut(text) };
}

function success(structured: JsonObject | undefined, text: string): CallResult {
  if (structured === undefined) return { exitCode: null, output: text, end: 'itself' };
  const parts = [asString(structured.stdout) ?? '', asString(structured.stderr) ?? ''];
  const output = parts.filter((part) => part !== '').join('\n');
  const file = asString(structured.persistedOutputPath);
  const known =
    asString(structured.stdout) !== undefined &&
    structured.interrupted !== true &&
    structured.returnCodeInterpretation === undefined &&
    structured.backgroundTaskId === undefined;
  return {
    exitCode: known ? 0 : null,
    output,
    end: structured.interrupted === true ? 'interrupted' : 'itself',
    truncated: file !== undefined || isCut(output),
    ...(file !== undefined && { outputFile: file }),
  };
}

function isCut(output: string): boolean {
  return /\[\d+ (?:characters|lines) truncated\]/.test(output);
}

function deciderOf(source: string | undefined): Decider | undefined {
  if (source === 'config' || source === 'hook') return source;
  return source !== undefined && /^user|person|prompt/.test(source) ? 'person' : undefined;
}

/** Claude writes the patch that it applied beside the result. */
function patched(value: unknown): Partial<EditFacts> {
  const hunks = objectsOf(asObject(value)?.structuredPatch);
  if (hunks.length === 0) return {};
  let [added, removed] = [0, 0];
  for (const { lines } of hunks) {
    for (const line of Array.isArray(lines) ? lines : []) {
      if (typeof line !== 'string') continue;
      if (line.startsWith('+')) added += 1;
      else if (line.startsWith('-')) removed += 1;
    }
  }
  return { added, removed };
}
