// A run of a dead server that this one goes on with. Its entry is written by the recovery.

import { entryTimestamp } from '../journal/entry.ts';
import { attachRun } from '../shell/attach.ts';
import type { Run } from '../shell/run.ts';
import type { Capture, Shell } from '../shell/shell.ts';
import { readProcesses, UNTRACED_RUN } from '../tracing/entry.ts';
import type { Ended, JournalIntent } from '../types.ts';
import type { Terms } from './admission.ts';
import { type Ending, type OpenEnding, readOutputOf } from './ending.ts';
import type { EntryReceipt } from './journal.ts';

type Adoption = {
  readonly run: Run;
  readonly draft: JournalIntent['draft'];
  /** `receipt`: resolves when the recovery has written the entry. */
  readonly finish: (ended: Ended | undefined, receipt: Receipt) => Promise<Ending | OpenEnding>;
};

type Receipt = EntryReceipt | Promise<EntryReceipt>;

export function adoption(
  shell: Shell,
  capture: Capture,
  { redactCommand }: Terms,
  now: () => number,
): Adoption {
  const { meta } = capture;
  const run = attachRun(shell.store, capture);
  const draft = draftOf(capture);
  const startedAt = meta?.startedAt ?? meta?.createdAt ?? 0;
  return {
    run,
    draft,
    async finish(ended, receipt) {
      const { survivors, lostBytes, ...found } = readOutputOf(shell, run, 0);
      const { failures } =
        meta?.trace?.enabled === true
          ? readProcesses(capture.dir, draft.command, redactCommand)
          : UNTRACED_RUN;
      return {
        ended,
        durationMs: Math.max(0, (ended?.at ?? now()) - startedAt),
        survivors,
        lostBytes,
        captureTrouble: undefined,
        receipt: await receipt,
        findings: { ...found, failures },
      };
    },
  };
}

/** What its intent says; without an intent, as much of it as the capture has. */
function draftOf({ meta }: Capture): JournalIntent['draft'] {
  if (meta?.journal !== undefined) return meta.journal.draft;
  const { command, cwd = '', createdAt = 0 } = meta ?? {};
  return {
    timestamp: entryTimestamp(createdAt),
    command: command?.kind === 'shell' ? command.text : (command?.argv.join(' ') ?? ''),
    description: null,
    working_directory: cwd,
    shell: meta?.argv[0] ?? '',
    timeout_seconds: 0,
    environment: null,
    agent_id: null,
    conversation_id: null,
    tool_call_id: null,
    opencuff_version: '',
    plugin_version: '',
    trace_id: null,
    context_source: null,
    decision: null,
  };
}
