// The entry of one command whose process is not a server: `cuff run --journal`, and the shell of an
// agent. It takes the same steps as a command of a server: a session for its entry, an intent in
// the capture, and the entry on the disk before the caller hears of the end. The session is given
// up at once, so that the next process can go on with it.

import packageJson from '../../package.json' with { type: 'json' };
import type { Capture, Store } from '../capture/store.ts';
import { openCapture } from '../capture/store.ts';
import type { SandboxWatch } from '../guard/sandbox-watch.ts';
import { entryTimestamp } from '../journal/entry.ts';
import type { RecorderMetrics } from '../ops/metrics.ts';
import { thisProcess } from '../run/processes.ts';
import { storeAround } from '../shell/store.ts';
import type { EntryOrigin } from '../text/entry-origin.ts';
import { UNTRACED } from '../tracing/entry.ts';
import type {
  AgentContext,
  Ended,
  EndReason,
  EntryDecision,
  Env,
  JournalIntent,
  Log,
} from '../types.ts';
import { type Admission, admit, intentOf, type RunRequest, termsOf } from './admission.ts';
import { DENIED, NO_OUTPUT, readOutputOf, storedOutput } from './ending.ts';
import { type Around, enterCommand, leakedField, storedBytesWanted, writeEntry } from './entry.ts';
import { type EntryReceipt, RecorderJournal } from './journal.ts';
import { leakedIn } from './leaked.ts';
import type { RecordingSettings } from './settings.ts';

export type SingleOptions = {
  readonly store: Store;
  readonly recording: RecordingSettings;
  /** The project, for the session. */
  readonly project: string;
  readonly request: Pick<RunRequest, 'command' | 'description' | 'killAfterMs'> & {
    readonly cwd: string;
    readonly shell: string;
  };
  readonly context: AgentContext;
  readonly contextSource?: 'environment' | undefined;
  readonly origin?: EntryOrigin;
  readonly decision?: EntryDecision | null;
  readonly env: Env;
  readonly log?: Log;
};

/** How a run of this process ended; `dir` is undefined where there is no capture. */
type SingleEnd = {
  readonly id: string;
  readonly dir: string | undefined;
  readonly ended: Ended;
  readonly durationMs: number;
  readonly watch?: SandboxWatch | undefined;
};

/** How a client says that a command ended. */
type ToldEnd = {
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** Null where the client does not tell. */
  readonly exitCode: number | null;
  readonly interrupted: boolean;
  /** Both streams, as the client mixed them. */
  readonly output: string | null;
  /** The client has cut it. */
  readonly truncated: boolean;
};

export type SingleEntry = {
  /** For meta.json, so that the entry can be written without us. Undefined: there will be none. */
  readonly intent: JournalIntent | undefined;
  /** Writes that it was not executed. Never rejects. */
  deny(): Promise<EntryReceipt>;
  /** Writes what a client tells of a command that it ran by itself. Never rejects. */
  report(told: ToldEnd): Promise<EntryReceipt>;
  /**
   * Writes the entry. `later` records what survivors print, once they are gone; `writeIndex` is for
   * when the caller has its answer. Never rejects.
   */
  finish(end: SingleEnd): Promise<{
    readonly receipt: EntryReceipt;
    readonly later: (() => Promise<void>) | undefined;
    readonly writeIndex: () => Promise<void>;
  }>;
};

export const NO_METRICS: RecorderMetrics = {
  command: () => undefined,
  entry: () => undefined,
  recordingError: () => undefined,
  activeSessions: () => undefined,
  policyDecision: () => undefined,
  shadowDivergence: () => undefined,
  text: async () => '',
};

/** Throws an `ExecutionError` for a directory that is none, a `RecordingError` in strict mode. */
export function openSingle(options: SingleOptions): SingleEntry {
  const { store, log = () => undefined } = options;
  const journal = singleJournal(options);
  const admission = admission_(options, journal);
  if (admission.target.recorded) admission.target.writer.expect();
  const around: Around = { journal, metrics: NO_METRICS, log };
  return {
    intent: intentOf(admission),
    async deny() {
      const ended = { ...DENIED, ...NO_OUTPUT, ...UNTRACED, duration_ms: 0, run_id: null };
      const receipt = await writeEntry(
        admission.target,
        { ...admission.draft, ...ended },
        undefined,
        around,
      );
      if (admission.target.recorded) admission.target.writer.arrived();
      await journal.close('shutdown', 'shutdown');
      return receipt;
    },
    async report(told) {
      const ended = toldEnd(told, admission);
      const timestamp = entryTimestamp(told.startedAt);
      const draft = { ...admission.draft, ...ended, ...UNTRACED, timestamp, run_id: null };
      const receipt = await writeEntry(admission.target, draft, undefined, around);
      if (admission.target.recorded) admission.target.writer.arrived();
      await journal.close('shutdown', 'shutdown');
      return receipt;
    },
    async finish({ id, dir, ended, durationMs, watch }) {
      const where = dir === undefined ? lost(id) : ({ on: true, dir } as const);
      const at = dir === undefined ? store : storeAround(store, dir);
      const open = (one: string): Capture => openCapture(at, one);
      const run = { id, recording: where, memory: undefined, silent: false };
      const output = readOutputOf({ open }, run, storedBytesWanted(admission.terms));
      const over = { admission, shell: { open }, run, ended, output, durationMs, watch };
      const { receipt, later } = await enterCommand(over, around);
      const writeIndex = await journal.release('shutdown', 'shutdown');
      return { receipt, later, writeIndex };
    },
  };
}

/** The journal of a process that writes there once, and gives up its session at once. */
export function singleJournal({
  store,
  recording,
  project,
  env,
  log = () => undefined,
}: Pick<SingleOptions, 'store' | 'recording' | 'project' | 'env' | 'log'>): RecorderJournal {
  return new RecorderJournal(
    {
      owner: thisProcess(),
      store,
      log,
      workingDirectory: project,
      variables: env,
      disowns: true,
      env: { now: store.now },
      metrics: NO_METRICS,
      owed: new Set(),
      writable: () => undefined,
      changed: () => undefined,
    },
    recording,
  );
}

function toldEnd({ durationMs, exitCode, interrupted, output, truncated }: ToldEnd, of: Admission) {
  const { captureOutput, outputBytesMax, redact } = of.terms.recording;
  const bytes = Buffer.from(output ?? '');
  const none = { bytes: Buffer.alloc(0), total: 0 };
  const secrets = redact ? of.terms.redact : undefined;
  const stored =
    output === null || !captureOutput
      ? NO_OUTPUT
      : storedOutput(
          { stdout: { bytes, total: bytes.length }, stderr: none },
          outputBytesMax,
          secrets,
        );
  const end_reason: EndReason = interrupted ? 'cancelled' : 'itself';
  return {
    ...stored,
    ...leakedField(leakedIn(of.terms, bytes)),
    output_truncated: stored.output_truncated || truncated,
    timed_out: false,
    exit_code: exitCode,
    signal: null,
    end_reason,
    duration_ms: durationMs,
  };
}

function lost(id: string): { readonly on: false; readonly dir: string; readonly why: string } {
  return { on: false, dir: '', why: `there is no capture ${id}` };
}

function admission_(options: SingleOptions, journal: RecorderJournal): Admission {
  const { recording, request, context, contextSource, origin, decision = null, env } = options;
  const { cwd, shell, command, description, killAfterMs } = request;
  const terms = termsOf(
    {
      recording,
      workingDirectory: cwd,
      shell,
      environment: 'inherit',
      envOverrides: {},
      liveRunsMax: Number.POSITIVE_INFINITY,
      onShutdown: 'leave',
    },
    env,
  );
  const around = { journal, pluginVersion: packageJson.version, now: options.store.now, decision };
  const admission = admit({ command, description, killAfterMs }, context, terms, around);
  const text = origin?.shell_text;
  const draft = {
    ...admission.draft,
    ...(contextSource !== undefined && { context_source: contextSource }),
    ...origin,
    ...(text !== undefined && { shell_text: terms.redactCommand(text) }),
  };
  return { ...admission, draft };
}
