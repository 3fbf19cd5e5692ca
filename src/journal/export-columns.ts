// Entries and sessions as rows, for formats that have columns. The order is that of the files.
import type { Entry, SessionMetadata } from '../types.ts';

export type Cell = string | number | boolean | null;

export const ENTRY_COLUMNS = [
  'entry_id',
  'session_id',
  'sequence_number',
  'timestamp',
  'duration_ms',
  'command',
  'description',
  'working_directory',
  'shell',
  'timeout_seconds',
  'timed_out',
  'exit_code',
  'stdout',
  'stderr',
  'output_truncated',
  'output_truncated_bytes',
  'environment',
  'agent_id',
  'conversation_id',
  'tool_call_id',
  'opencuff_version',
  'plugin_version',
  'run_id',
  'end_reason',
  'signal',
  'trace_id',
  'context_source',
  'processes',
  'failed_processes',
  'process_list',
  'failed_process_list',
  'decision',
  'survivors',
  'later',
  'source',
  'shell_text',
  'wrapper',
  'leaked',
] as const satisfies readonly (keyof Entry)[];

export const SESSION_COLUMNS = [
  'session_id',
  'created_at',
  'last_updated',
  'entry_count',
  'total_duration_ms',
  'status',
  'commands_succeeded',
  'commands_failed',
  'commands_timed_out',
  'working_directory',
  'agent_id',
  'conversation_id',
  'end_reason',
] as const satisfies readonly (keyof SessionMetadata)[];

/** What is no single value, as JSON. */
export function entryCells(entry: Entry): Cell[] {
  return ENTRY_COLUMNS.map((column) => {
    const value = entry[column] ?? null;
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
  });
}

export function sessionCells(metadata: SessionMetadata): Cell[] {
  return SESSION_COLUMNS.map((column) => metadata[column]);
}
