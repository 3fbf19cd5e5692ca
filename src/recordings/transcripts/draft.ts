// A call of a transcript as the start of an entry. Its facts are the agent's own word and marked as
// such. Secrets are taken out, also of output: agents keep what was printed for longer than we do.

import packageJson from '../../../package.json' with { type: 'json' };
import { entryTimestamp } from '../../journal/entry.ts';
import { NO_OUTPUT, storedOutput } from '../../recorder/ending.ts';
import type { Redactor } from '../../text/redact.ts';
import type { EndReason, EntryDecision, EntryDraft } from '../../types.ts';
import type { CallEnd, TranscriptCall } from './call.ts';

export type DraftTerms = {
  readonly captureOutput: boolean;
  readonly outputBytesMax: number;
  readonly redactOutput: Redactor;
  readonly redactCommand: Redactor;
};

/** `at`: when it began, for a transcript that does not say. */
export function draftOf(call: TranscriptCall, at: number, terms: DraftTerms): EntryDraft {
  const { redactCommand } = terms;
  const { agent, session, description, denied } = call;
  return {
    timestamp: entryTimestamp(call.startedAt ?? at),
    duration_ms: call.durationMs ?? 0,
    command: redactCommand(call.command),
    description: description === null ? null : redactCommand(description),
    working_directory: call.cwd ?? '/',
    shell: '',
    timeout_seconds: 0, // it is not known that there was a limit
    timed_out: call.end === 'timeout',
    exit_code: call.exitCode,
    ...outputOf(call, terms),
    ...(denied !== undefined && { stderr: redactCommand(denied) }),
    environment: null,
    agent_id: call.sidechain === undefined ? agent : `${agent}:${call.sidechain}`,
    conversation_id: session,
    tool_call_id: call.call,
    opencuff_version: packageJson.version,
    plugin_version: 'import',
    run_id: null,
    end_reason: REASONS[call.end],
    signal: null,
    trace_id: null,
    context_source: 'self-reported',
    processes: null,
    failed_processes: null,
    process_list: null,
    failed_process_list: null,
    decision: decisionOf(call),
    source: 'transcript',
  };
}

const REASONS: { readonly [end in CallEnd]: EndReason } = {
  itself: 'itself',
  timeout: 'timeout',
  interrupted: 'interrupted',
  failed: 'failed',
  denied: 'denied',
  open: 'interrupted',
};

function outputOf({ output, truncated }: TranscriptCall, terms: DraftTerms) {
  if (!terms.captureOutput || output === null) return NO_OUTPUT;
  const bytes = Buffer.from(output);
  const streams = {
    stdout: { bytes, total: bytes.length },
    stderr: { bytes: Buffer.alloc(0), total: 0 },
  };
  const stored = storedOutput(streams, terms.outputBytesMax, terms.redactOutput);
  // The agent keeps both streams as one text.
  return { ...stored, stderr: null, output_truncated: stored.output_truncated || truncated };
}

/** What the agent, its configuration or its user decided; a word of theirs, not of our policy. */
function decisionOf({ end, decidedBy }: TranscriptCall): EntryDecision | null {
  const refused = end === 'denied';
  if (!refused && decidedBy === undefined) return null;
  return {
    verdict: refused ? 'deny' : 'allow',
    code: 'client',
    mode: 'enforce',
    rule: null,
    approved: null,
    ...(decidedBy !== undefined && { by: decidedBy }),
  };
}
