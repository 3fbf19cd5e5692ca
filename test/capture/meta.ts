// A meta.json and a final.json with nothing special about them, for tests and their programs.
import type { CaptureFinal, CaptureMeta, JournalIntent, ProcessId } from '../../src/types.ts';

export const NOW = Date.UTC(2026, 10, 15, 21, 38, 35, 123);
export const STARTER: ProcessId = { pid: 100, startTime: 1_000 };
export const RUNNER: ProcessId = { pid: 200, startTime: 2_000 };
export const CHILD: ProcessId = { pid: 300, startTime: 3_000 };

export function metaOf(id: string, changes: Partial<CaptureMeta> = {}): CaptureMeta {
  return {
    id,
    command: { kind: 'argv', argv: ['echo', 'hi'] },
    cwd: '/tmp',
    createdAt: NOW,
    retentionSeconds: 86_400,
    transport: 'pipe',
    transportMode: 'pipe',
    ttyAttached: false,
    starter: STARTER,
    outputBytesMax: 1_073_741_824,
    ...changes,
  };
}

export function finalOf(changes: Partial<CaptureFinal> = {}): CaptureFinal {
  return {
    state: 'exited',
    outcome: { kind: 'exited', code: 0 },
    at: NOW,
    endedBy: 'itself',
    outputBytes: 0,
    lostBytes: 0,
    outputClosed: true,
    survivors: [],
    ...changes,
  };
}

/** Of a command of an agent. */
export const INTENT: JournalIntent = {
  directory: '/nonexistent/recordings',
  sessionId: 'sess_1',
  captureOutput: true,
  redact: false,
  outputBytesMax: 1_000,
  draft: {
    timestamp: '2026-11-15T21:38:35.000Z',
    command: 'make',
    description: null,
    working_directory: '/',
    shell: '/bin/bash',
    timeout_seconds: 0,
    environment: null,
    agent_id: null,
    conversation_id: null,
    tool_call_id: null,
    opencuff_version: '0.1.0',
    plugin_version: '0.1.0',
    trace_id: null,
    context_source: null,
    decision: null,
  },
};
