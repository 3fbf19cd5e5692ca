// How a command came out, for whoever asked for it and for the log.

import { createHash } from 'node:crypto';
import type { Run } from '../shell/run.ts';
import type { Shell } from '../shell/shell.ts';
import type { Ended, EntryDraft, Log } from '../types.ts';
import type { Admitted } from './admission.ts';
import type { Place, Written } from './journal.ts';
import { type End, endOf, type Seen, seenOf } from './run.ts';

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

/** Of a run that was taken over: `recovered` is an entry that the recovery wrote. */
export type AnyFinish = Omit<Finish, 'written'> & {
  readonly written: Written | { readonly recorded: 'recovered' };
};

export const LEFT: Written = { recorded: false, why: 'it goes on without the server' };

export function resultOf<W>(
  facts: {
    readonly command: Pick<Admitted, 'known' | 'timeoutAsked'>;
    readonly run: Run;
    readonly seen: Seen;
    readonly durationMs: number;
  },
  ended: Ended | undefined,
  written: W,
): Omit<Finish, 'written'> & { readonly written: W } {
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

/** A run of a server that is gone, and what its intent said. */
export type Adopted = {
  readonly run: Run;
  readonly known: Admitted['known'];
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Resolves when its entry is written. */
  readonly entered: () => Promise<AnyFinish['written']>;
};

/** `ending`: how it ended; undefined when the server stops and leaves it. */
export async function finishAdopted(
  shell: Shell,
  { run, known, startedAt, entered }: Adopted,
  ending: Promise<Ended | undefined>,
  now: () => number,
): Promise<AnyFinish> {
  const ended = await ending;
  const durationMs = Math.max(0, (ended?.at ?? now()) - startedAt);
  const command = { known, timeoutAsked: known.timeout_seconds };
  const facts = { command, run, seen: seenOf(shell, run, 0), durationMs };
  return resultOf(facts, ended, ended === undefined ? LEFT : await entered());
}

export function logEnd(
  log: Log,
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
    const lost = ended.outcome.error === 'runner_lost';
    const message = lost ? 'Command was lost' : 'Command could not be started';
    log('error', message, { session_id, ...entry, error, ...trace });
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
