// How a command came out, for whoever asked for it and for the log.

import { createHash } from 'node:crypto';
import type { PluginLog } from './plugin.ts';
import type { Admitted } from './recorder-admission.ts';
import type { Place, Written } from './recorder-journal.ts';
import { type End, endOf, type Seen } from './recorder-run.ts';
import type { Run } from './running.ts';
import type { Ended, EntryDraft } from './types.ts';

/** How a command came out, without what it printed: somebody may keep this for long. */
export type Finish = Omit<Seen, 'streams'> & {
  /** Undefined for a run that the server left behind when it stopped. */
  readonly end: End | undefined;
  /** Why it could not be started, or was lost. */
  readonly failure: string | undefined;
  readonly durationMs: number;
  readonly workingDirectory: string;
  readonly timeoutSeconds: number;
  readonly timeoutAsked: number;
  readonly runId: string;
  /** Whether the bytes can be read later, by the run's id. */
  readonly captured: boolean;
  /** Why its capture is not where captures are kept. */
  readonly captureTrouble: string | undefined;
  readonly written: Written;
};

export const LEFT: Written = { recorded: false, why: 'it goes on without the server' };

export function resultOf(
  facts: {
    readonly command: Admitted;
    readonly run: Run;
    readonly seen: Seen;
    readonly durationMs: number;
  },
  ended: Ended | undefined,
  written: Written,
): Finish {
  const { command, run, durationMs } = facts;
  const { streams: _, ...seen } = facts.seen;
  return {
    ...seen,
    end: ended && endOf(ended),
    failure: ended?.outcome.kind === 'failed' ? ended.outcome.message : undefined,
    durationMs,
    workingDirectory: command.known.working_directory,
    timeoutSeconds: command.known.timeout_seconds,
    timeoutAsked: command.timeoutAsked,
    runId: run.id,
    captured: run.memory === undefined && run.recording.on,
    captureTrouble: run.recording.on ? undefined : run.recording.why,
    written,
  };
}

export function logEnd(
  log: PluginLog,
  about: {
    readonly ended: Ended;
    readonly draft: EntryDraft;
    readonly written: Written;
    readonly place: Place;
  },
): void {
  const { ended, draft, written, place } = about;
  const session_id = place.recorded ? place.writer.id : null;
  const trace = draft.trace_id === null ? {} : { trace_id: draft.trace_id };
  const entry = written.recorded ? { entry_id: written.entry.entry_id } : {};
  if (ended.outcome.kind === 'failed') {
    const error = ended.outcome.message || ended.outcome.error;
    log('error', 'Command could not be started', { session_id, ...entry, error, ...trace });
    return;
  }
  const hash = createHash('sha256').update(draft.command).digest('hex');
  log('debug', 'Command executed', {
    session_id,
    ...entry,
    command_hash: `sha256:${hash}`,
    duration_ms: draft.duration_ms,
    exit_code: draft.exit_code,
    ...trace,
  });
}
