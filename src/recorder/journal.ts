// Where a recorder writes its entries, and what it does when it cannot: the command goes on, its
// answer says why it was not recorded, and the next command tries again with a new session.

import { errnoOf, messageOf } from '../errors.ts';
import { vcsState } from '../git/vcs.ts';
import type { BesideEnv } from '../journal/beside.ts';
import { appendEdits, type EditRecord } from '../journal/edits.ts';
import type { JournalEnv } from '../journal/files.ts';
import { appendLater } from '../journal/later.ts';
import { Sessions } from '../journal/sessions.ts';
import type { SessionWriter } from '../journal/writer.ts';
import { type DiskProbe, recorderHealth } from '../ops/health.ts';
import type { RecorderMetrics } from '../ops/metrics.ts';
import { anchorState, failedAnchorTexts } from '../sealing/anchors/state.ts';
import type { Ledger } from '../sealing/ledger.ts';
import { openLedger } from '../sealing/open.ts';
import type { Store } from '../shell/captures.ts';
import type {
  AgentContext,
  EntryDraft,
  Env,
  Health,
  JournalIntent,
  LaterOutput,
  Log,
  ProcessId,
  SessionMetadata,
  SessionStatus,
} from '../types.ts';
import type { RecordingSettings, SessionMode } from './settings.ts';

export type JournalParts = {
  readonly owner: ProcessId;
  readonly store: Pick<Store, 'root' | 'alive'>;
  readonly workingDirectory: string;
  /** Whether an ended session is free for other processes, although the owner lives. */
  readonly disowns?: boolean;
  readonly env: JournalEnv;
  /** Of the process. */
  readonly variables: Env;
  readonly log: Log;
  readonly metrics: RecorderMetrics;
  /** Runs that were answered without an entry, although there should be one. */
  readonly owed: Set<string>;
  /** Told when an entry was written while some are owed. */
  readonly writable: () => void;
  /** Told after every change of a session: for what is derived from them. */
  readonly changed: (metadata: SessionMetadata, sizeBytes: number) => void;
};

/** `chosen`: the settings say so, and nothing is wrong. */
type Unrecorded = {
  readonly recorded: false;
  readonly why: string;
  readonly chosen?: true;
};

/** Where a command's entry will go, or why it will go nowhere. */
export type EntryTarget = { readonly recorded: true; readonly writer: SessionWriter } | Unrecorded;

/** The entry of a command, or why it has none. `recovered`: the recovery has written it. */
export type EntryReceipt =
  | { readonly recorded: true; readonly entryId: string; readonly sessionId: string }
  | { readonly recorded: 'recovered' }
  | Unrecorded;

const OFF = 'recording is turned off in the settings';

const TURNED_OFF = { recorded: false, why: OFF, chosen: true } as const;

/** Of a run that another server has started, and this one keeps no journal. */
export const NO_ENTRIES: EntryReceipt = { recorded: false, why: OFF };

export type JournalInfo = {
  readonly recording: boolean;
  /** Why nothing is recorded. */
  readonly why: string | undefined;
  readonly directory: string;
  readonly sessionMode: SessionMode;
  readonly session: SessionMetadata | undefined;
  readonly activeSessions: readonly string[];
};

export class RecorderJournal {
  readonly #parts: JournalParts;
  /** Seals what is written; undefined where the user wants none. */
  readonly ledger: Ledger | undefined;
  readonly #statuses = new Map<string, SessionStatus>();
  #settings: RecordingSettings;
  #sessions: Sessions | undefined;
  #last: SessionWriter | undefined;
  /** What went wrong with the last command's entry. */
  #trouble: string | undefined;
  #spaceLow = false;
  /** What earlier servers left without entries has them: nothing here lacks any of theirs. */
  lookedFor = false;
  entriesWritten = 0;
  errors = 0;

  constructor(parts: JournalParts, settings: RecordingSettings) {
    this.#parts = parts;
    this.#settings = settings;
    const { owner, store, env, log, workingDirectory: cwd, variables } = parts;
    const about = { owner, alive: store.alive, now: env.now, log, cwd, env: variables };
    this.ledger = openLedger({ ...about, stateRoot: store.root });
  }

  get recording(): boolean {
    return this.#settings.enabled && this.#trouble === undefined;
  }

  /** The session that was used last, if it is still open; else any that is. */
  current(conversationId: string | null = null): SessionMetadata | undefined {
    const open = this.#sessions?.active() ?? [];
    const own = open.find(({ metadata }) => metadata.conversation_id === conversationId);
    const last = open.find((writer) => writer === this.#last);
    return ((conversationId === null ? undefined : own) ?? last ?? open[0])?.metadata;
  }

  info(conversationId: string | null): JournalInfo {
    const { enabled, directory, sessionMode } = this.#settings;
    return {
      recording: this.recording,
      why: enabled ? this.#trouble : OFF,
      directory,
      sessionMode,
      session: this.current(conversationId),
      activeSessions: this.active().map(({ session_id }) => session_id),
    };
  }

  health(disk: DiskProbe | undefined): Health {
    const { directory } = this.#settings;
    const session = this.current()?.session_id;
    const { recording, entriesWritten: entries } = this;
    const about = { directory, recording, trouble: this.#trouble, session, entries };
    const health = recorderHealth(about, disk);
    const low = health.disk_space_ok === false;
    if (low && !this.#spaceLow) {
      this.#parts.log('warn', 'Disk space low', { session_id: session ?? null, directory });
    }
    this.#spaceLow = low;
    return this.ledger === undefined ? health : withAnchors(health, this.#parts.store.root);
  }

  active(): readonly SessionMetadata[] {
    return (this.#sessions?.active() ?? []).map(({ metadata }) => metadata);
  }

  /** Makes the directory and a first session. A journal that cannot be written is not an error. */
  start(): void {
    if (!this.#settings.enabled) return;
    this.#try(() => this.#open().start());
  }

  target(context: AgentContext): EntryTarget {
    if (!this.#settings.enabled) return TURNED_OFF;
    const found = this.#try(() => this.#open().writerFor(context));
    if (found === undefined) return { recorded: false, why: this.#trouble ?? '' };
    this.#last = found;
    return { recorded: true, writer: found };
  }

  /** The entry of a command that is over: it is on the disk, or owed. Never rejects. */
  async write(target: EntryTarget, draft: EntryDraft): Promise<EntryReceipt> {
    const { run_id } = draft;
    const receipt = target.recorded ? await this.#append(target.writer, draft) : target;
    if (target.recorded && run_id !== null) target.writer.arrived();
    if (receipt.recorded) {
      if (this.#parts.owed.size > 0) this.#parts.writable();
    } else if (receipt.chosen !== true && run_id !== null) this.owe(run_id);
    return receipt;
  }

  /** The journal lacks something of this run, and gets it when it can be written. */
  owe(runId: string): void {
    this.#parts.owed.add(runId);
  }

  async #append(writer: SessionWriter, draft: EntryDraft): Promise<EntryReceipt> {
    try {
      const { entry_id: entryId, session_id: sessionId } = await writer.append(draft);
      this.entriesWritten += 1;
      this.works(writer);
      return { recorded: true, entryId, sessionId };
    } catch (error) {
      const { message, type } = troubleOf(error);
      this.#degrade('Recording write failed', writer.id, message, type);
      this.#sessions?.replaceBroken(writer);
      this.#count();
      return { recorded: false, why: message };
    }
  }

  /** An entry could be written, whatever was wrong before. */
  works(writer: SessionWriter): void {
    if (this.#trouble !== undefined) this.#recovered(writer);
  }

  /** For a command that is entered late; undefined while the journal cannot be written. */
  placeLate(directory: string, draft: JournalIntent['draft']): SessionWriter | undefined {
    if (directory !== this.#settings.directory || !this.#settings.enabled) return undefined;
    const { agent_id: agentId, conversation_id: conversationId, timestamp } = draft;
    const context = { agentId, conversationId, toolCallId: null, traceId: null };
    const at = Date.parse(timestamp);
    return this.#try(() => this.#open().writerFor(context, Number.isNaN(at) ? undefined : at));
  }

  /** Resolves when sessions that broke have their end, as far as it can be written. */
  async settled(): Promise<void> {
    await this.#sessions?.settled();
  }

  /** Ends sessions that are over. Gives those that never are, which have to be packed open. */
  endOver(): readonly SessionWriter[] {
    this.#sessions?.endOver();
    return this.#sessions?.endless() ?? [];
  }

  /** What came behind an entry. Rejects with `journal_unwritable`. */
  later(directory: string, sessionId: string, later: LaterOutput): Promise<void> {
    return appendLater(directory, sessionId, [later], this.#besideEnv);
  }

  /** Files that an agent's own tools wrote. Rejects with `journal_unwritable`. */
  edits(sessionId: string, edits: readonly EditRecord[]): Promise<void> {
    return appendEdits(this.#settings.directory, sessionId, edits, this.#besideEnv);
  }

  /** The writer of a session for its recovery; see `Sessions.recover`. */
  recover(directory: string, id: string): SessionWriter {
    if (directory !== this.#settings.directory) throw new Error(`${directory} was given up`);
    return this.#open().recover(id);
  }

  async recovered(writer: SessionWriter, status: SessionStatus, reason: string): Promise<void> {
    if (this.#sessions === undefined) await writer.finalize(status, reason);
    else await this.#sessions.recovered(writer, status, reason);
  }

  /** Another directory or mode, or none at all, ends the sessions there are. */
  async reload(next: RecordingSettings): Promise<void> {
    const before = this.#settings;
    const moved = next.directory !== before.directory || next.sessionMode !== before.sessionMode;
    this.#settings = next;
    if (!next.enabled) await this.close('complete', 'recording_disabled');
    else if (moved) await this.close('complete', 'config_reload');
    if (next.enabled && (moved || !before.enabled)) this.start();
    const { directory, enabled } = next;
    const session_id = this.current()?.session_id ?? null;
    this.#parts.log('info', 'Configuration changed', { session_id, directory, recording: enabled });
  }

  /** What `close` will write of finished commands is written when this returns. */
  endNow(status: SessionStatus, endReason: string): void {
    this.#sessions?.endNow(status, endReason);
  }

  async close(status: SessionStatus, endReason: string): Promise<void> {
    const writeIndex = await this.release(status, endReason);
    await writeIndex();
  }

  /** Others may go on with its sessions. What it gives writes the index, which is derived. */
  async release(status: SessionStatus, endReason: string): Promise<() => Promise<void>> {
    const sessions = this.#sessions;
    this.#sessions = undefined;
    this.#last = undefined;
    this.#trouble = undefined;
    await sessions?.endAll(status, endReason);
    this.lookedFor = false;
    await this.ledger?.close();
    this.#count();
    return async () => sessions?.closeIndex();
  }

  #open(): Sessions {
    const { owner, workingDirectory, disowns = false } = this.#parts;
    const { directory, sessionMode: mode } = this.#settings;
    const changed = (metadata: SessionMetadata, sizeBytes: number): void => {
      this.#note(metadata);
      this.#parts.changed(metadata, sizeBytes);
    };
    const { alive } = this.#parts.store;
    const where = { directory, mode, workingDirectory, owner, alive, disowns };
    const vcs = () => vcsState(workingDirectory);
    this.#sessions ??= new Sessions({
      ...where,
      env: this.#sealedEnv,
      changed,
      vcs,
      lookedFor: () => this.lookedFor,
    });
    return this.#sessions;
  }

  #try(open: () => SessionWriter): SessionWriter | undefined {
    try {
      return open();
    } catch (error) {
      const { message, type } = troubleOf(error);
      const session = this.#last?.id ?? null;
      this.#degrade('Recording directory not writable', session, message, type);
      return undefined;
    } finally {
      this.#count();
    }
  }

  /** Said once: the commands until it works again say it in their answers. */
  #degrade(message: string, session_id: string | null, error: string, type: string): void {
    const level = this.#trouble === undefined ? 'warn' : 'debug';
    this.#trouble = error;
    this.errors += 1;
    this.#parts.metrics.recordingError(type);
    this.#parts.log(level, message, { session_id, error, degraded: true });
  }

  #recovered({ id: session_id }: SessionWriter): void {
    this.#gap(this.#trouble);
    this.#trouble = undefined;
    this.#parts.log('warn', 'Recording recovered from disabled state', { session_id });
  }

  get #sealedEnv(): JournalEnv {
    return { ...this.#parts.env, seal: this.ledger?.sealOf() };
  }

  get #besideEnv(): BesideEnv {
    const { owner, store } = this.#parts;
    return { ...this.#sealedEnv, writers: { owner, alive: store.alive } };
  }

  /** Commands were not recorded, and from here on they are again. */
  #gap(why: string | undefined): void {
    const journal = this.ledger?.journal(this.#settings.directory);
    if (journal === undefined || why === undefined) return;
    this.ledger?.note({ kind: 'gap', journal, at: this.#parts.env.now(), why });
  }

  #note(metadata: SessionMetadata): void {
    const { session_id, status, entry_count, total_duration_ms, working_directory } = metadata;
    const known = this.#statuses.get(session_id);
    if (known === undefined) {
      const message = metadata.resumed_at === undefined ? 'Session started' : 'Session resumed';
      this.#parts.log('info', message, { session_id, working_directory });
    }
    if (known !== status && status !== 'active') {
      const totals = { session_id, entry_count, total_duration_ms, status };
      this.#parts.log('info', 'Session finalized', totals);
    }
    this.#statuses.set(session_id, status);
  }

  #count(): void {
    this.#parts.metrics.activeSessions(this.#sessions?.active().length ?? 0);
  }
}

/** A ledger whose anchors fail is no reason to record nothing: the server stays healthy. */
function withAnchors(health: Health, stateRoot: string): Health {
  const state = anchorState(stateRoot);
  if (state?.last === undefined && (state?.failed.length ?? 0) === 0) return health;
  if (state === undefined) return health;
  const reasons = [...health.reasons, ...failedAnchorTexts(state)];
  const at = state.last && new Date(state.last.at).toISOString();
  return { ...health, last_anchor: at ?? null, reasons };
}

const MESSAGES: Readonly<Record<string, string>> = {
  ENOSPC: 'disk full',
  EDQUOT: 'disk quota exceeded',
  EROFS: 'read-only file system',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'the directory is gone',
};

/** Why something could not be written: as a message, and as a label of few values. */
function troubleOf(error: unknown): { readonly message: string; readonly type: string } {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const type = errnoOf(cause) ?? 'unknown';
  return { message: MESSAGES[type] ?? messageOf(error), type };
}
