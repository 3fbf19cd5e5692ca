// A meta.json and a final.json with nothing special about them, for tests and their programs.
import type { CaptureFinal, CaptureMeta, ProcessId } from '../../src/types.ts';

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
