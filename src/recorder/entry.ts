// The entry of a command that is over: made of what was known before, how it ended, the heads of
// its output and its processes; written, counted and logged. An entry names the processes that the
// command left running; what they print goes to the file beside the session when the last of them
// is gone. How far the entry reaches is noted in the capture before the entry is written, so that
// the next server can finish this when the one that answered is gone.

import { createHash } from 'node:crypto';
import { type EntryReach, forgetReach, noteReach, reachOf } from '../capture/entry-marks.ts';
import type { Capture } from '../capture/store.ts';
import { messageOf } from '../errors.ts';
import type { SandboxWatch } from '../guard/sandbox-watch.ts';
import { hasRoom } from '../ops/health.ts';
import type { RecorderMetrics } from '../ops/metrics.ts';
import { OutputReader } from '../shell/output/reader.ts';
import type { Run } from '../shell/run.ts';
import type { Shell } from '../shell/shell.ts';
import type { Redactor } from '../text/redact.ts';
import { readProcesses, type TracedProcesses, UNTRACED_RUN } from '../tracing/entry.ts';
import type { Ended, Entry, EntryDraft, LaterOutput, Log, Survivor } from '../types.ts';
import type { Admission, Terms } from './admission.ts';
import {
  bytesWanted,
  type EndedRun,
  entryEnd,
  NO_OUTPUT,
  type ReadingShell,
  type RunOutput,
  type Streams,
  storedOutput,
} from './ending.ts';
import type { EntryReceipt, EntryTarget, RecorderJournal } from './journal.ts';
import { leakedBy } from './leaked.ts';

export type Around = {
  readonly journal: RecorderJournal;
  readonly metrics: RecorderMetrics;
  readonly log: Log;
};

export type StartedRun<S = Shell, R = Run> = {
  readonly admission: Admission;
  readonly shell: S;
  readonly run: R;
  readonly watch: SandboxWatch | undefined;
};

/** A command that is over. */
type CommandEnd = StartedRun<ReadingShell, EndedRun> & {
  readonly ended: Ended;
  readonly output: RunOutput;
  readonly durationMs: number;
};

type CommandEntry = Pick<TracedProcesses, 'failures'> & {
  readonly receipt: EntryReceipt;
  /** Protected files that became others. */
  readonly changed: readonly string[];
  /** Variables whose secret values it printed. */
  readonly leaked: readonly string[];
  /** To be called when the run has closed: its survivors may have printed or written more. */
  readonly later: (() => Promise<void>) | undefined;
};

/** How much of each stream its entry needs. */
export function storedBytesWanted(terms: Terms): number {
  return bytesWanted(terms.recording.outputBytesMax, secretsOf(terms));
}

function secretsOf({ recording, redact }: Terms): Terms['redact'] | undefined {
  return recording.redact ? redact : undefined;
}

/** Never rejects. */
export async function enterCommand(over: CommandEnd, around: Around): Promise<CommandEntry> {
  const { admission, run, ended, output, durationMs, watch } = over;
  const { terms, target, draft: known, how } = admission;
  const { captureOutput, outputBytesMax, trace } = terms.recording;
  const { survivors, heads } = output;
  const { dir } = run.recording;
  const end = entryEnd(ended);
  const { exit_code: exitCode, timed_out: timedOut } = end;
  around.metrics.command({ exitCode, timedOut, durationMs });
  const stored = captureOutput ? heads : undefined;
  const { entry: processes, failures } =
    trace === 'off' ? UNTRACED_RUN : readProcesses(dir, known.command, terms.redactCommand);
  const changed = watch?.changed(survivors.length === 0) ?? [];
  const leaked = leakedBy(terms, how.env, output);
  const draft = {
    ...known,
    ...end,
    ...(stored === undefined ? NO_OUTPUT : storedOutput(stored, outputBytesMax, secretsOf(terms))),
    ...processes,
    duration_ms: durationMs,
    run_id: run.id,
    ...survivorsField(survivors, terms.redact),
    ...leakedField(leaked),
    ...(known.decision && changed.length > 0 && { decision: { ...known.decision, changed } }),
  };
  const stays = stored !== undefined && survivors.length > 0;
  if (stays) noteEntryReach(dir, stored, around.log);
  const receipt = await writeEntry(target, draft, stored, around);
  const printed =
    stays && receipt.recorded === true ? laterOf(over, receipt, draft, around) : undefined;
  const later = survivors.length > 0 && watch !== undefined ? watched(watch, printed) : printed;
  logEnd(around.log, { ended, draft, receipt, target });
  return { receipt, failures, changed, leaked, later };
}

function watched(watch: SandboxWatch, printed: CommandEntry['later']): () => Promise<void> {
  return async () => {
    watch.changed(true);
    await printed?.();
  };
}

/** `stored`: the streams that the entry has a copy of. */
export async function writeEntry(
  target: EntryTarget,
  draft: EntryDraft,
  stored: Streams | undefined,
  { journal, metrics }: Around,
): Promise<EntryReceipt> {
  const receipt = await journal.write(target, draft);
  if (receipt.recorded) {
    const bytes = stored === undefined ? 0 : stored.stdout.total + stored.stderr.total;
    metrics.entry({ bytes, truncated: draft.output_truncated });
  }
  return receipt;
}

function laterOf(
  { admission, shell, run, output }: CommandEnd,
  { entryId, sessionId }: Extract<EntryReceipt, { recorded: true }>,
  { survivors = [] }: EntryDraft,
  around: Around,
): () => Promise<void> {
  const { terms } = admission;
  const { directory, outputBytesMax } = terms.recording;
  const reach = { stdout: output.heads.stdout.total, stderr: output.heads.stderr.total };
  const keep = { directory, outputBytesMax, redact: secretsOf(terms), reach };
  const entry = { entry_id: entryId, session_id: sessionId, survivors };
  return async () => {
    const done = await recordLater(() => shell.open(run.id), entry, keep, around);
    if (!done) around.journal.owe(run.id);
  };
}

function logEnd(
  log: Log,
  about: {
    readonly ended: Ended;
    readonly draft: EntryDraft;
    readonly receipt: EntryReceipt;
    readonly target: EntryTarget;
  },
): void {
  const { ended, draft, receipt, target } = about;
  const session_id = target.recorded ? target.writer.id : null;
  const trace = draft.trace_id === null ? {} : { trace_id: draft.trace_id };
  const entry = receipt.recorded === true ? { entry_id: receipt.entryId } : {};
  if (draft.leaked !== undefined) {
    const fields = { session_id, ...entry, variables: draft.leaked };
    log('warn', 'Command printed the value of a secret variable', fields);
  }
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

/** The field of an entry; no field for a command that printed no secret. */
export function leakedField(leaked: readonly string[]): Pick<Entry, 'leaked'> {
  return leaked.length === 0 ? {} : { leaked };
}

/** The field of an entry; no field for a command that left nothing. */
export function survivorsField(
  survivors: readonly Survivor[],
  redact: Redactor,
): Pick<Entry, 'survivors'> {
  if (survivors.length === 0) return {};
  return { survivors: survivors.map(({ pid, command }) => ({ pid, command: redact(command) })) };
}

/** Notes what an entry will tell of a run that may still print. Never throws. */
export function noteEntryReach(dir: string, { stdout, stderr }: Streams, log: Log): void {
  try {
    noteReach(dir, { stdout: stdout.total, stderr: stderr.total });
  } catch (error) {
    // Then only this server can record what comes later.
    log('warn', 'Reach of an entry not noted', { dir, error: messageOf(error) });
  }
}

/** How much of each stream is kept, and without which secrets. */
type Keep = { readonly outputBytesMax: number; readonly redact: Redactor | undefined };

/**
 * Writes what came behind the entry of a run that has closed. True when nothing is left to do;
 * what could not be written stays noted in the capture.
 */
export async function recordLater(
  open: () => Capture,
  entry: Pick<LaterOutput, 'entry_id' | 'survivors'> & { readonly session_id: string },
  keep: Keep & { readonly directory: string; readonly reach?: EntryReach },
  { journal, log }: { readonly journal: Pick<RecorderJournal, 'later'>; readonly log: Log },
): Promise<boolean> {
  const { entry_id, session_id, survivors } = entry;
  try {
    const capture = open();
    const reach = reachOf(capture.dir) ?? keep.reach;
    if (reach === undefined) return true;
    const output = laterOutput(capture, reach, keep);
    const later = { entry_id, survivors, output };
    const { length } = output.stdout + output.stderr;
    if (!hasRoom(keep.directory, length)) throw new Error('the disk has no room for it');
    if (length > 0) await journal.later(keep.directory, session_id, later);
    forgetReach(capture.dir);
    return true;
  } catch (error) {
    log('warn', 'Later output not recorded', { session_id, entry_id, error: messageOf(error) });
    return false;
  }
}

/** Throws when the capture cannot be read. */
function laterOutput(
  capture: Capture,
  reach: EntryReach,
  { outputBytesMax, redact }: Keep,
): LaterOutput['output'] {
  const streams = OutputReader.of(capture).heads(bytesWanted(outputBytesMax, redact), reach);
  const { stdout, stderr, output_truncated: cut } = storedOutput(streams, outputBytesMax, redact);
  const missing = [streams.stdout, streams.stderr].some(({ bytes, total }) => bytes.length < total);
  return { stdout: stdout ?? '', stderr: stderr ?? '', truncated: cut || missing };
}
