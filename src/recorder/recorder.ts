// A shell that keeps a journal. Joins what executes commands, what writes them down, what looks
// after runs of servers that are gone, and what removes sessions whose time is over. What an answer
// looks like belongs to the door that gives it.

import { messageOf } from '../errors.ts';
import { entryTimestamp } from '../journal/entry.ts';
import type { JournalEnv } from '../journal/files.ts';
import { findSessions, type ReadSession, readSession } from '../journal/reader.ts';
import { removeSession, sessionsOlderThan } from '../journal/retention.ts';
import type { Changed } from '../journal/writer.ts';
import { type DiskProbe, recorderHealth } from '../ops/health.ts';
import type { ServerCounters } from '../ops/servers.ts';
import { thisProcess } from '../run/processes.ts';
import { attachRun } from '../shell/attach.ts';
import type { Capture } from '../shell/shell.ts';
import { traceCheck } from '../shell/trace-check.ts';
import { commandRedactor, redactor } from '../text/redact.ts';
import type { AgentContext, Entry, Health, SessionMetadata, StopCause } from '../types.ts';
import type { ExecuteRequest } from './admission.ts';
import { CatalogFeeder } from './catalog-feed.ts';
import {
  type Begun,
  type ExecuteCall,
  type ExecuteResult,
  Executor,
  type ExecutorOptions,
} from './execute.ts';
import { RecorderJournal, type Written } from './journal.ts';
import type { Ruled } from './question.ts';
import { recentEntries, withoutOutput } from './recent.ts';
import { type EarlierRun, Recovery } from './recovery.ts';
import type { RecorderSettings, SessionMode } from './settings.ts';

export type { Begun, ExecuteCall, ExecuteRequest, ExecuteResult };

const RETENTION_EVERY_MS = 600_000;
const DAY_MS = 86_400_000;
const TURNED_OFF = { recorded: false, why: 'recording is turned off in the settings' } as const;

export type RecorderOptions = Omit<ExecutorOptions, 'journal'> & {
  readonly settings: RecorderSettings;
  /** The project: what a session says about where it was. */
  readonly workingDirectory: string;
  /** While it says so no session is removed: those settings may keep sessions longer. */
  readonly settingsWait?: (() => boolean) | undefined;
  /** For tests: a disk that fails. */
  readonly journal?: Omit<JournalEnv, 'now'>;
  readonly disk?: DiskProbe;
};

export type SessionInfo = {
  readonly recording: boolean;
  /** Why nothing is recorded. */
  readonly why: string | undefined;
  readonly directory: string;
  readonly sessionMode: SessionMode;
  readonly session: SessionMetadata | undefined;
  readonly activeSessions: readonly string[];
  readonly earlierRuns: readonly EarlierRun[];
};

export class Recorder {
  readonly #options: RecorderOptions;
  readonly #journal: RecorderJournal;
  readonly #executor: Executor;
  /** Runs of which the journal lacks something, because it could not be written. */
  readonly #owed = new Set<string>();
  #settings: RecorderSettings;
  #recovery: Recovery | undefined;
  #catalog: CatalogFeeder;
  #retention: NodeJS.Timeout | undefined;
  #spaceLow = false;
  #closed = false;

  constructor(options: RecorderOptions) {
    const { settings, log, metrics, workingDirectory } = options;
    this.#options = options;
    this.#settings = settings;
    this.#catalog = new CatalogFeeder(settings.recording.directory);
    const { alive } = options.shell.store;
    const owner = thisProcess();
    const writable = (): void => void this.#recovery?.retry();
    const owing = { owed: this.#owed, writable };
    const parts = { owner, alive, workingDirectory, env: this.#env(), log, metrics, ...owing };
    const changed: Changed = ({ session_id }) => this.#catalog.touch(session_id);
    this.#journal = new RecorderJournal({ ...parts, changed }, settings.recording);
    this.#executor = new Executor({ ...options, journal: this.#journal }, settings);
  }

  /** Makes a first session and looks after what servers that are gone have left. */
  start({ firstSession = true }: { readonly firstSession?: boolean } = {}): void {
    if (firstSession) this.#journal.start();
    this.#lookAfter();
    this.#retention = setInterval(() => {
      this.#retain();
      void this.#recovery?.retry();
    }, RETENTION_EVERY_MS).unref();
    // Before the first command, which would have to wait for it.
    if (this.#settings.recording.trace !== 'off') setImmediate(traceCheck, this.#options.env);
  }

  /** Rejects with an `ExecutionError` or `RecordingError` for a command that was not executed. */
  execute(
    request: ExecuteRequest,
    context: AgentContext,
    call: ExecuteCall = {},
  ): Promise<ExecuteResult> {
    return this.#executor.execute(request, context, call);
  }

  /** Starts it and comes back; its entry is written when it is over. Throws as `execute` does. */
  begin(request: ExecuteRequest, context: AgentContext, ruling: Ruled): Begun {
    return this.#executor.begin(request, context, ruling);
  }

  /** Goes on with a run of a server that is gone. Its entry is the recovery's. */
  adopt(capture: Capture): Begun {
    const { id, meta } = capture;
    return this.#executor.adopt({
      run: attachRun(this.#options.shell.store, capture),
      known: knownOf(capture),
      startedAt: meta?.startedAt ?? meta?.createdAt ?? 0,
      entered: async () => {
        if (this.#recovery === undefined || meta?.journal === undefined) return TURNED_OFF;
        await this.#recovery.entered(id);
        return { recorded: 'recovered' };
      },
    });
  }

  /** Whether there is a policy to ask. */
  get guarded(): boolean {
    return this.#options.guard?.active === true;
  }

  /** What may run. Rejects with a `RefusedError`, and that is in the journal then. */
  rule(request: ExecuteRequest, context: AgentContext, call: ExecuteCall): Promise<Ruled> {
    return this.#executor.rule(request, context, call);
  }

  /** Writes down that it was asked for and not executed. Rejects as `execute` does. */
  deny(request: ExecuteRequest, context: AgentContext): Promise<Written> {
    return this.#executor.deny(request, context);
  }

  /** Waits with `wait`: meanwhile the caller hears how it goes, and can cancel the run. */
  attend<T>(begun: Begun, call: ExecuteCall, wait: () => Promise<T>): Promise<T> {
    return this.#executor.attend(begun, call, wait);
  }

  sessionInfo(conversationId: string | null = null): SessionInfo {
    const { enabled, directory, sessionMode } = this.#settings.recording;
    return {
      recording: this.#journal.recording,
      why: enabled ? this.#journal.trouble : 'recording is turned off in the settings',
      directory,
      sessionMode,
      session: this.#journal.current(conversationId),
      activeSessions: this.#journal.active().map(({ session_id }) => session_id),
      earlierRuns: this.#recovery?.earlierRuns() ?? [],
    };
  }

  /** Of this conversation, or of the whole journal without one; newest first. */
  listRecent(count: number, conversationId: string | null): readonly Entry[] {
    const open = this.#journal.active().map(({ session_id }) => session_id);
    return recentEntries(this.#settings.recording.directory, count, open, conversationId);
  }

  /** The one session whose id contains `part`, without the output of its commands. */
  session(part: string): ReadSession | undefined {
    const { directory } = this.#settings.recording;
    const [id, ...others] = findSessions(directory, part);
    if (id === undefined || others.length > 0) return undefined;
    return readSession(directory, id, withoutOutput);
  }

  health(): Health {
    const { directory } = this.#settings.recording;
    const session = this.#journal.current()?.session_id;
    const { recording, trouble, entriesWritten: entries } = this.#journal;
    const facts = { directory, recording, trouble, session, entries };
    const health = recorderHealth(facts, this.#options.disk);
    const low = health.disk_space_ok === false;
    if (low && !this.#spaceLow) {
      this.#options.log('warn', 'Disk space low', { session_id: session ?? null, directory });
    }
    this.#spaceLow = low;
    return health;
  }

  counters(): ServerCounters {
    const { entriesWritten: entries, errors: recordingErrors } = this.#journal;
    return { commands: this.#executor.commands, entries, recordingErrors };
  }

  /** Commands that are executed from now on are started by `shell`. */
  async reload(settings: RecorderSettings, shell = this.#options.shell): Promise<void> {
    const { directory, enabled } = this.#settings.recording;
    const moved = settings.recording.directory !== directory;
    this.#settings = settings;
    this.#executor.reload(settings, shell);
    await this.#journal.reload(settings.recording);
    if (moved) {
      this.#catalog.close();
      this.#catalog = new CatalogFeeder(settings.recording.directory);
    }
    if (moved || !enabled) this.#lookAfter();
  }

  /** Entries of finished commands and the ends of sessions are written when this returns. */
  stopping(cause: StopCause): void {
    this.#executor.stopping(cause);
    this.#journal.endNow('shutdown', 'shutdown');
  }

  /** Runs end or are left as the settings say; then every session gets its end. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#retention);
    await this.#executor.close();
    await this.#recovery?.close();
    await this.#journal.close('shutdown', 'shutdown');
    this.#catalog.close();
  }

  #env(): JournalEnv {
    return { now: this.#options.now, ...this.#options.journal };
  }

  #lookAfter(): void {
    const { enabled, directory, redact } = this.#settings.recording;
    if (!enabled) return;
    void this.#recovery?.close();
    const { shell, log, env } = this.#options;
    const secrets = redactor({ ...env, ...this.#settings.execution.envOverrides });
    this.#recovery = new Recovery({
      store: shell.store,
      directory,
      owner: thisProcess(),
      env: this.#env(),
      log,
      redact: redact ? secrets : undefined,
      secrets: commandRedactor(secrets),
      owed: this.#owed,
      journal: this.#journal,
    });
    void this.#recovery.first.then(() => this.#retain());
  }

  /** Removes sessions whose time is over. What cannot be removed stays for the next time. */
  #retain(): void {
    const { retentionDays, directory, enabled } = this.#settings.recording;
    if (!enabled || retentionDays === 0 || this.#closed) return;
    const { log, now, shell, settingsWait } = this.#options;
    const { alive } = shell.store;
    const cutoff = now() - retentionDays * DAY_MS;
    const old = sessionsOlderThan(directory, cutoff, alive, { arrived: true });
    if (old.length > 0 && settingsWait?.() === true) {
      const fields = { sessions: old.length, retention_days: retentionDays };
      log('info', 'Old sessions kept while settings wait', fields);
      return;
    }
    for (const session_id of old) {
      try {
        removeSession(directory, session_id);
        log('info', 'Session removed', { session_id, retention_days: retentionDays });
      } catch (error) {
        const words = messageOf(error);
        log('warn', 'Session could not be removed', { session_id, error: words });
      }
    }
  }
}

/** What was known before the run; without an intent, as much of it as the capture has. */
function knownOf({ meta }: Capture): Begun['known'] {
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
