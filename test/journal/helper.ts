// Journals for tests: a directory of their own, a clock and timers that the test moves, drafts of
// entries, and a disk whose calls are counted and fail as told.
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Writers } from '../../src/journal/beside.ts';
import { entryTimestamp } from '../../src/journal/entry.ts';
import { DISK, type Disk, type JournalEnv } from '../../src/journal/files.ts';
import type { SessionFacts } from '../../src/journal/metadata.ts';
import type { AgentContext, EntryDraft, ProcessId } from '../../src/types.ts';

export const NOW = Date.parse('2026-01-18T14:30:52.123Z');
export const OWNER: ProcessId = { pid: 4321, startTime: 987_654 };
export const FACTS: SessionFacts = {
  workingDirectory: '/projects/demo',
  agentId: 'claude-code',
  conversationId: 'conv_abc123',
  owner: OWNER,
};
export const NOBODY: AgentContext = {
  agentId: null,
  conversationId: null,
  toolCallId: null,
  traceId: null,
};

export function tempDir(): string {
  const dir = fs.mkdtempSync(join(tmpdir(), 'cuff-journal-'));
  onTestFinished(() => fs.rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A journal that is not there yet. */
export function newJournal(): string {
  return join(tempDir(), '.cuff', 'recordings');
}

export function draftOf(change: Partial<EntryDraft> = {}): EntryDraft {
  return {
    timestamp: entryTimestamp(NOW),
    duration_ms: 1523,
    command: 'git status',
    description: 'Check working tree status',
    working_directory: '/projects/demo',
    shell: '/bin/bash',
    timeout_seconds: 120,
    timed_out: false,
    exit_code: 0,
    stdout: 'On branch main\n',
    stderr: '',
    output_truncated: false,
    output_truncated_bytes: null,
    environment: null,
    agent_id: 'claude-code',
    conversation_id: 'conv_abc123',
    tool_call_id: 'tc_xyz789',
    opencuff_version: '0.1.0',
    plugin_version: '1.0.0',
    run_id: '20260118-143052-0000abcd',
    end_reason: 'itself',
    signal: null,
    trace_id: null,
    context_source: 'self-reported',
    processes: null,
    failed_processes: null,
    process_list: null,
    failed_process_list: null,
    decision: null,
    ...change,
  };
}

export function contextOf(change: Partial<AgentContext>): AgentContext {
  return { ...NOBODY, ...change };
}

export type World = JournalEnv & {
  readonly writers: Writers;
  time: number;
  /** Moves the clock and fires what is due, in order. */
  readonly pass: (ms: number) => void;
  readonly timers: () => number;
};

/** Random bytes are those of the samples: `a7b3c9d2-e4f5`, then counted up from there. */
export function world(disk?: Disk): World {
  const timers = new Map<number, { at: number; action: () => void }>();
  let last = 0;
  let random = 0xa7b3c9d2e4f5n;
  const self: World = {
    writers: { owner: { pid: process.pid, startTime: 1 }, alive: () => true },
    time: NOW,
    now: () => self.time,
    random: () => {
      const bytes = Buffer.from(random.toString(16), 'hex');
      random += 1n;
      return bytes;
    },
    later: (ms, action) => {
      last += 1;
      const key = last;
      timers.set(key, { at: self.time + ms, action });
      return () => timers.delete(key);
    },
    timers: () => timers.size,
    pass: (ms) => {
      const until = self.time + ms;
      for (;;) {
        const due = [...timers]
          .filter(([, { at }]) => at <= until)
          .sort((a, b) => a[1].at - b[1].at);
        const [next] = due;
        if (next === undefined) break;
        timers.delete(next[0]);
        self.time = Math.max(self.time, next[1].at);
        next[1].action();
      }
      self.time = until;
    },
    ...(disk !== undefined && { fs: disk }),
  };
  return self;
}

export type Fail = (operation: number, name: string, path: string) => string | 'short' | undefined;

export type CountingDisk = Disk & { readonly calls: string[] };

const NAMES = [
  'openSync',
  'closeSync',
  'writeSync',
  'fstatSync',
  'lstatSync',
  'mkdirSync',
  'chmodSync',
  'renameSync',
  'unlinkSync',
  'write',
  'sync',
] as const;

/** The real disk, whose nth call fails as told. `short`: half of the bytes are written. */
export function faultyDisk(fail: Fail = () => undefined): CountingDisk {
  const calls: string[] = [];
  const disk: Record<string, unknown> = { calls };
  for (const name of NAMES) {
    const real = DISK[name] as (...args: unknown[]) => unknown;
    const promised = name === 'write' || name === 'sync';
    const call = (...args: unknown[]): unknown => {
      calls.push(name);
      const fault = fail(calls.length, name, String(args[0]));
      if (fault === 'short' && name === 'write') {
        const bytes = args[1] as Uint8Array;
        return real(args[0], bytes.subarray(0, Math.ceil(bytes.length / 2)));
      }
      if (fault === undefined || fault === 'short') return real(...args);
      if (name === 'closeSync') real(...args); // a close that fails has closed all the same
      throw Object.assign(new Error(`${fault}: told to fail`), { code: fault });
    };
    disk[name] = promised ? async (...args: unknown[]) => call(...args) : call;
  }
  return disk as unknown as CountingDisk;
}

export function mode(path: string): string {
  return (fs.statSync(path).mode & 0o7777).toString(8);
}

export function textOf(directory: string, name: string): string {
  return fs.readFileSync(join(directory, name), 'utf8');
}
