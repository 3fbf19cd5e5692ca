// The key `journal` of meta.json: the part of a journal entry that is known before the run:
// {directory, session_id, capture_output, output_bytes_max, redact?, entry: {...}}, where `entry`
// has the names of the journal's own lines and `session_id` is null when the journal could not be
// written. The next server of the project reads it after the starter died.
import { decisionOf } from '../text/entry-decision.ts';
import { asCount, asObject, asString, type JsonObject } from '../text/json.ts';
import type { JournalIntent } from '../types.ts';

export function encodeIntent(intent: JournalIntent): JsonObject {
  return {
    directory: intent.directory,
    session_id: intent.sessionId,
    capture_output: intent.captureOutput,
    output_bytes_max: intent.outputBytesMax,
    ...(intent.redact && { redact: true }),
    entry: intent.draft,
  };
}

/** Undefined for anything that is not a whole intent. */
export function decodeIntent(value: unknown): JournalIntent | undefined {
  const json = asObject(value);
  const directory = asString(json?.directory);
  const sessionId = json?.session_id === null ? null : asString(json?.session_id);
  const outputBytesMax = asCount(json?.output_bytes_max);
  const draft = decodeDraft(asObject(json?.entry));
  if (directory === undefined || sessionId === undefined) return undefined;
  if (outputBytesMax === undefined || draft === undefined) return undefined;
  return {
    directory,
    sessionId,
    draft,
    captureOutput: json?.capture_output === true,
    outputBytesMax,
    redact: json?.redact === true,
  };
}

function decodeDraft(json: JsonObject | undefined): JournalIntent['draft'] | undefined {
  const timestamp = asString(json?.timestamp);
  const command = asString(json?.command);
  const workingDirectory = asString(json?.working_directory);
  const shell = asString(json?.shell);
  const timeoutSeconds = asCount(json?.timeout_seconds);
  if (json === undefined || timestamp === undefined || command === undefined) return undefined;
  if (workingDirectory === undefined || shell === undefined) return undefined;
  if (timeoutSeconds === undefined) return undefined;
  return {
    timestamp,
    command,
    description: asString(json.description) ?? null,
    working_directory: workingDirectory,
    shell,
    timeout_seconds: timeoutSeconds,
    environment: strings(json.environment),
    agent_id: asString(json.agent_id) ?? null,
    conversation_id: asString(json.conversation_id) ?? null,
    tool_call_id: asString(json.tool_call_id) ?? null,
    opencuff_version: asString(json.opencuff_version) ?? '',
    plugin_version: asString(json.plugin_version) ?? '',
    trace_id: asString(json.trace_id) ?? null,
    context_source: json.context_source === 'self-reported' ? 'self-reported' : null,
    decision: decisionOf(json.decision),
  };
}

function strings(value: unknown): Readonly<Record<string, string>> | null {
  const entries = Object.entries(asObject(value) ?? {});
  const kept = entries.filter((pair): pair is [string, string] => typeof pair[1] === 'string');
  return asObject(value) === undefined ? null : Object.fromEntries(kept);
}
