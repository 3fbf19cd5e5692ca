// Cline, read from the payloads of its hooks (3.0.65): `sessions/<id>/<id>.messages.json`. A call
// of `run_commands` has several commands, each with a result of its own; the second and further
// ones get the place behind the id. Its blocks are understood in the two ways that its versions
// write them: as the Anthropic API has them, and as the hooks do.

import { AGENTS } from '../../text/agents.ts';
import { asObject, asString, asStrings, type JsonObject, parseJson } from '../../text/json.ts';
import {
  between,
  type CallResult,
  callFact,
  codeOf,
  OpenCalls,
  objectsOf,
  refusal,
  spanOf,
  type TranscriptFact,
  type TranscriptLine,
  type TranscriptOrigin,
  textOf,
  timeOf,
} from './call.ts';
import { editsOf, isFileTool } from './edits.ts';

type Call = { readonly id: string; readonly name: string; readonly input: JsonObject };
type Result = { readonly id: string; readonly output: unknown; readonly facts: JsonObject };
type Place = TranscriptOrigin & { readonly line: number; readonly at: number | null };

export function* clineFacts(
  lines: Iterable<TranscriptLine>,
  origin: TranscriptOrigin,
): Generator<TranscriptFact, void, undefined> {
  const open = new OpenCalls('cline');
  for (const { json, number } of lines) {
    const session = asString(asObject(json.sessionContext)?.rootSessionId) ?? origin.session;
    const [root] = asStrings(json.workspaceRoots) ?? [];
    const at = timeOf(json.timestamp) ?? timeOf(json.ts);
    const place = { session, cwd: root ?? origin.cwd, line: number, at };
    for (const call of callsOf(json)) yield* asked(call, place, open);
    for (const result of resultsOf(json)) yield* answered(result, place, open);
  }
  yield* open.rest();
}

function callsOf(json: JsonObject): readonly Call[] {
  const blocks = [
    asObject(json.tool_call),
    ...objectsOf(json.content).filter(({ type }) => type === 'tool_use' || type === 'tool-call'),
  ];
  return blocks.flatMap((block) => {
    const id = asString(block?.id) ?? asString(block?.toolCallId);
    const name = asString(block?.name) ?? asString(block?.toolName);
    if (id === undefined || name === undefined) return [];
    return [{ id, name, input: asObject(block?.input) ?? asObject(block?.args) ?? {} }];
  });
}

function resultsOf(json: JsonObject): readonly Result[] {
  const hook = asObject(json.tool_result);
  const blocks = objectsOf(json.content).filter(
    ({ type }) => type === 'tool_result' || type === 'tool-result',
  );
  return [...(hook === undefined ? [] : [hook]), ...blocks].flatMap((facts) => {
    const id = asString(facts.id) ?? asString(facts.tool_use_id) ?? asString(facts.toolCallId);
    if (id === undefined) return [];
    return [{ id, facts, output: facts.output ?? facts.content ?? facts.result }];
  });
}

function* asked(
  { id, name, input }: Call,
  place: Place,
  open: OpenCalls,
): Generator<TranscriptFact> {
  const { session, cwd, line, at } = place;
  if (AGENTS.cline.shellTools.includes(name)) {
    const commands = asStrings(input.commands) ?? asStrings([input.command]) ?? [];
    if (commands.length === 0) yield { kind: 'unknown', line };
    for (const [index, command] of commands.entries()) {
      const call = { session, command, description: null, cwd, startedAt: at, line };
      yield* open.add(numbered(id, index), { kind: 'call', asked: call });
    }
  } else if (isFileTool('cline', name)) {
    const [edit] = editsOf(input);
    const common = { agent: 'cline', session, call: id, tool: name, cwd, at, line } as const;
    if (edit !== undefined) yield* open.add(id, { kind: 'edit', edit: { ...common, ...edit } });
  }
}

function numbered(id: string, index: number): string {
  return index === 0 ? id : `${id}#${index + 1}`;
}

function* answered(result: Result, place: Place, open: OpenCalls): Generator<TranscriptFact> {
  const { id, facts } = result;
  const single = open.get(id);
  if (single?.kind === 'edit') {
    open.take(id);
    if (facts.is_error !== true && facts.error === undefined) yield single;
    return;
  }
  const parts = partsOf(result.output);
  for (let index = 0; ; index += 1) {
    const waiting = open.take(numbered(id, index));
    if (waiting?.kind !== 'call') return;
    const startedAt = timeOf(facts.startedAt) ?? waiting.asked.startedAt;
    const given = typeof facts.durationMs === 'number' ? spanOf(facts.durationMs) : null;
    const durationMs = given ?? between(waiting.asked.startedAt, place.at);
    const part = parts[index] ?? { text: parts.length === 0 ? textOf(result.output) : '' };
    const call = { ...waiting.asked, startedAt };
    yield callFact('cline', numbered(id, index), call, { durationMs, ...resultOf(part, facts) });
  }
}

/** One for each command: `{query, result, error, success}`, perhaps as the text of its JSON. */
function partsOf(output: unknown): readonly JsonObject[] {
  const text = typeof output === 'string' ? output : textOf(output);
  const parts = objectsOf(text.startsWith('[') ? parseJson(text) : output);
  return parts.some(({ query }) => query !== undefined) ? parts : [];
}

const EXIT = /^\[Command exited with code (-?\d{1,10})\]\n?/;

function resultOf(part: JsonObject, facts: JsonObject): CallResult {
  const text = asString(part.result) ?? asString(part.text) ?? '';
  const error = asString(part.error) ?? asString(facts.error) ?? '';
  if (/denied|rejected|cancelled by (?:the )?user|blocked by hook/i.test(error)) {
    return refusal(error, /hook/i.test(error) ? 'hook' : 'person');
  }
  const code = EXIT.exec(text)?.[1] ?? /^Command exited with code (-?\d{1,10})$/.exec(error)?.[1];
  const exitCode = code === undefined ? (part.success === true ? 0 : null) : codeOf(Number(code));
  return { exitCode, output: text.replace(EXIT, ''), end: 'itself' };
}
