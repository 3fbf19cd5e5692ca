// The key `journal` of meta.json: the part of a journal entry that is known before the run:
// {directory, session_id, capture_output, output_bytes_max, redact?, entry: {...}}, where `entry`
// has the names of the journal's own lines and `session_id` is null when the journal could not be
// written. The next server of the project reads it after the starter died.
import { decisionOf } from '../text/entry-decision.ts';
import { originFields } from '../text/entry-origin.ts';
import { asCount, asObject, asOneOf, asString, type JsonObject, whole } from '../text/json.ts';
import { CONTEXT_SOURCES, type JournalIntent } from '../types.ts';

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
  const intent = whole({
    directory: asString(json?.directory),
    sessionId: json?.session_id === null ? null : asString(json?.session_id),
    draft: decodeDraft(asObject(json?.entry) ?? {}),
    outputBytesMax: asCount(json?.output_bytes_max),
  });
  const [captureOutput, redact] = [json?.capture_output === true, json?.redact === true];
  return intent && { ...intent, captureOutput, redact };
}

function decodeDraft(json: JsonObject): JournalIntent['draft'] | undefined {
  const required = whole({
    timestamp: asString(json.timestamp),
    command: asString(json.command),
    working_directory: asString(json.working_directory),
    shell: asString(json.shell),
    timeout_seconds: asCount(json.timeout_seconds),
  });
  return (
    required && {
      ...required,
      description: asString(json.description) ?? null,
      environment: strings(json.environment),
      agent_id: asString(json.agent_id) ?? null,
      conversation_id: asString(json.conversation_id) ?? null,
      tool_call_id: asString(json.tool_call_id) ?? null,
      opencuff_version: asString(json.opencuff_version) ?? '',
      plugin_version: asString(json.plugin_version) ?? '',
      trace_id: asString(json.trace_id) ?? null,
      context_source: asOneOf(CONTEXT_SOURCES, json.context_source) ?? null,
      decision: decisionOf(json.decision),
      ...originFields(json),
    }
  );
}

function strings(value: unknown): Readonly<Record<string, string>> | null {
  const entries = Object.entries(asObject(value) ?? {});
  const kept = entries.filter((pair): pair is [string, string] => typeof pair[1] === 'string');
  return asObject(value) === undefined ? null : Object.fromEntries(kept);
}
