// Chooses the session that a call's entry goes to. `per_conversation`: one for each conversation,
// and by day for calls that name none; `per_day`: one for each calendar day where this process is;
// `continuous`: one. A session is made when it is first needed, and a broken one is replaced then.
// By day and by conversation a server goes on with the session of a server that was stopped or
// crashed; beside one that still runs it makes a session that says which one it is part of.
import { errnoOf } from '../errors.ts';
import type { AgentContext, ProcessId, SessionStatus, VcsState } from '../types.ts';
import { type Claim, claimSession, holdSession } from './claim.ts';
import { continuable } from './continuation.ts';
import { errno, type JournalEnv, unwritable } from './files.ts';
import { IndexKeeper } from './index-keeper.ts';
import { resumeSession, type SessionListener, type SessionWriter, startSession } from './writer.ts';

export type SessionMode = 'per_conversation' | 'per_day' | 'continuous';

export type SessionsOptions = {
  readonly directory: string;
  readonly mode: SessionMode;
  readonly workingDirectory: string;
  readonly owner: ProcessId | null;
  readonly env: JournalEnv;
  /** Whether a process lives. Without it no session of another server is gone on with. */
  readonly alive?: (one: ProcessId) => boolean;
  /** Sessions that were ended are free for other processes, although this one lives on. */
  readonly disowns?: boolean;
  /** Whether runs that earlier writers left without entries have them by now. */
  readonly lookedFor?: () => boolean;
  /** The state of the project's repository, asked when a session begins. Must not throw. */
  readonly vcs?: () => VcsState | undefined;
  /** Told whenever a session's metadata changed: for what else is derived from it. */
  readonly changed?: SessionListener;
};

// A conversation that was silent for a day is over; should it go on, it gets another session.
const SILENCE_MS = 86_400_000;

const NO_CALLER: AgentContext = {
  agentId: null,
  conversationId: null,
  toolCallId: null,
  traceId: null,
};

const NONE = { free: [], root: undefined };

const DAY = 'day ';
const CONVERSATION = 'conversation ';

type Open = { readonly writer: SessionWriter; usedAt: number; used: boolean };

export class Sessions {
  readonly #options: SessionsOptions;
  readonly #index: IndexKeeper;
  readonly #open = new Map<string, Open>();
  /** Broken ones; their end is written when the disk takes something again. */
  readonly #interrupted = new Set<SessionWriter>();
  readonly #ending = new Set<Promise<void>>();
  readonly #claims = new Map<SessionWriter, Claim>();
  /** Sessions of dead servers while recovery writes their entries. */
  readonly #recovering = new Map<string, SessionWriter>();
  /** Those that recovery is done with, while their ends are written. */
  readonly #closing = new Map<string, SessionWriter>();
  /** Days and conversations that have had a session here. */
  readonly #known = new Set<string>();

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#index = new IndexKeeper(options.directory, options.env);
  }

  /** Makes the session for calls that say nothing about themselves. Throws `journal_unwritable`. */
  start(): SessionWriter {
    return this.#session(NO_CALLER, this.#options.env.now()).writer;
  }

  /**
   * For a command that began at `at`: one that is entered late goes to the session of its day.
   * Throws `journal_unwritable`; the next call tries again.
   */
  writerFor(context: AgentContext, at = this.#options.env.now()): SessionWriter {
    const open = this.#session(context, at);
    open.used = true;
    open.usedAt = this.#options.env.now();
    return open.writer;
  }

  active(): readonly SessionWriter[] {
    return [...this.#open.values()].map(({ writer }) => writer);
  }

  /** Ends those that are over without waiting for a call: of another day, or long silent. */
  endOver(): void {
    this.#endOthers(this.#options.env.now());
  }

  /** Those that never end: of these, old lines are packed while they are written. */
  endless(): readonly SessionWriter[] {
    return this.#options.mode === 'continuous' ? this.active() : [];
  }

  /** Marks it interrupted, now or when that can be written; the next call gets a new session. */
  replaceBroken(writer: SessionWriter): void {
    for (const [key, open] of this.#open) if (open.writer === writer) this.#open.delete(key);
    this.#interrupted.add(writer);
    this.#end(writer, 'interrupted', reasonOf(writer));
  }

  /**
   * Writes finished entries and the ends of all sessions before it returns: the process may be
   * killed at any moment. `closeAll` does the rest. Never throws.
   */
  endNow(status: SessionStatus, endReason: string): void {
    for (const writer of this.active()) writer.endNow(status, endReason);
  }

  /** Tries again to end the broken ones; those that have their end can be gone on with. */
  async settled(): Promise<void> {
    this.#retryInterrupted();
    await Promise.all(this.#ending);
  }

  /** Ends every session and writes the index. Never throws. */
  async closeAll(status: SessionStatus, endReason: string): Promise<void> {
    await this.endAll(status, endReason);
    await this.closeIndex();
  }

  /** In a large journal this takes long. */
  closeIndex(): Promise<void> {
    return this.#index.close();
  }

  /** `closeIndex` is to come behind it. Never throws. */
  async endAll(status: SessionStatus, endReason: string): Promise<void> {
    for (const writer of this.active()) {
      if (writer.broken) this.replaceBroken(writer);
      else this.#end(writer, status, endReason);
    }
    this.#open.clear();
    await this.settled();
  }

  #session(context: AgentContext, at: number): Open {
    const now = this.#options.env.now();
    const key = this.#keyFor(context, at);
    const found = this.#open.get(key);
    if (found !== undefined && !found.writer.broken) return found;
    if (found !== undefined) this.replaceBroken(found.writer);
    this.#endOthers(now);
    // What broke here, or ended for a new day, is not gone on with.
    const { free, root } = this.#known.has(key) ? NONE : this.#others(key, at);
    this.#known.add(key);
    const writer = this.#resumed(free);
    const open: Open =
      writer === undefined
        ? ((root === undefined ? this.#adopted(context, key) : undefined) ?? {
            writer: this.#begin(context, key, root),
            usedAt: now,
            used: false,
          })
        : { writer, usedAt: now, used: true };
    this.#open.set(key, open);
    return open;
  }

  #keyFor({ conversationId }: AgentContext, at: number): string {
    const { mode } = this.#options;
    if (mode === 'continuous') return mode;
    const named = mode === 'per_conversation' && conversationId !== null;
    return named ? `${CONVERSATION}${conversationId}` : dayKey(at);
  }

  #begin(context: AgentContext, group: string, partOf: string | undefined): SessionWriter {
    const { agentId, conversationId } = context;
    const { directory, workingDirectory, owner, env, vcs } = this.#options;
    const about = { agentId, conversationId, owner, group, partOf };
    const facts = { workingDirectory, ...about, vcs: vcs?.() };
    const writer = startSession(directory, facts, env, this.#changed);
    this.#claims.set(writer, holdSession(directory, writer.id));
    this.#retryInterrupted();
    return writer;
  }

  readonly #changed: SessionListener = (metadata, sizeBytes) => {
    this.#index.note(metadata, sizeBytes);
    this.#options.changed?.(metadata, sizeBytes);
  };

  #others(group: string, at: number): ReturnType<typeof continuable> {
    const { directory, workingDirectory, owner, alive, mode } = this.#options;
    if (mode === 'continuous' || owner === null || alive === undefined) return NONE;
    const wanted = { group, workingDirectory, owner, since: at - SILENCE_MS };
    return continuable(directory, wanted, alive);
  }

  /** Goes on with the first of these that no other writer has. */
  #resumed(ids: readonly string[]): SessionWriter | undefined {
    const { owner } = this.#options;
    for (const id of ids) {
      try {
        const writer = this.recover(id);
        this.#recovering.delete(id);
        if (owner !== null) writer.goOn(owner, this.#options.lookedFor);
        return writer;
      } catch {
        // Another server has it, or it cannot be written: a new one may be.
      }
    }
    return undefined;
  }

  /**
   * For recovery: the writer of a session whose server is gone, or which this server goes on with.
   * Throws `journal_unwritable`, also when another process writes it. `recovered` must follow.
   */
  recover(id: string): SessionWriter {
    const { directory, owner, env, alive = () => false } = this.#options;
    const known = this.active().find((writer) => writer.id === id) ?? this.#recovering.get(id);
    if (known !== undefined) return known;
    const claimed = (): Claim | undefined =>
      owner === null ? undefined : claimSession(directory, id, owner, alive, env.fs);
    const claim = this.#handedOver(id) ?? claimed();
    if (claim === undefined) throw unwritable(id, errno('EBUSY', 'another process writes it'));
    try {
      const writer = resumeSession(directory, id, env, this.#changed);
      this.#claims.set(writer, claim);
      this.#recovering.set(id, writer);
      return writer;
    } catch (error) {
      claim.release();
      throw error;
    }
  }

  /** Ends it again, unless a caller has got it meanwhile. */
  async recovered(writer: SessionWriter, status: SessionStatus, reason: string): Promise<void> {
    if (!this.#recovering.delete(writer.id)) return;
    this.#closing.set(writer.id, writer);
    this.#end(writer, status, reason);
    await Promise.all(this.#ending);
    this.#closing.delete(writer.id);
  }

  /**
   * The claim of a session whose end is being written: a call need not wait for that. The files of
   * a session without entries are about to be removed.
   */
  #handedOver(id: string): Claim | undefined {
    const writer = this.#closing.get(id);
    if (writer === undefined || writer.metadata.entry_count === 0) return undefined;
    const claim = this.#claims.get(writer);
    this.#claims.delete(writer);
    return claim;
  }

  /** A session that `start` made and no call has used is the one for the first conversation. */
  #adopted({ agentId, conversationId }: AgentContext, group: string): Open | undefined {
    for (const [key, open] of this.#open) {
      if (open.used || open.writer.broken) continue;
      this.#open.delete(key);
      this.#known.delete(key);
      open.writer.adopt({ agentId, conversationId, group, vcs: this.#options.vcs?.() });
      return open;
    }
    return undefined;
  }

  /** Another day ends the day before; a long silence ends a conversation. */
  #endOthers(now: number): void {
    for (const [key, { writer, usedAt }] of this.#open) {
      const dayOver = key.startsWith(DAY) && key !== dayKey(now);
      const silent = key.startsWith(CONVERSATION) && now - usedAt > SILENCE_MS;
      if (!dayOver && !silent) continue;
      this.#open.delete(key);
      this.#end(writer, 'complete', dayOver ? 'day_change' : 'silence');
    }
  }

  #retryInterrupted(): void {
    for (const writer of this.#interrupted) this.#end(writer, 'interrupted', reasonOf(writer));
  }

  #end(writer: SessionWriter, status: SessionStatus, endReason: string): void {
    if (this.#options.disowns === true) writer.disown();
    const ending = writer.finalize(status, endReason).then(() => {
      this.#ending.delete(ending);
      if (!writer.settled) return;
      this.#interrupted.delete(writer);
      this.#claims.get(writer)?.release();
      this.#claims.delete(writer);
    });
    this.#ending.add(ending);
  }
}

/** The calendar day where this process is. */
function dayKey(now: number): string {
  const date = new Date(now);
  return `${DAY}${date.getFullYear()}-${date.getMonth() + 1}-${date.getDate()}`;
}

function reasonOf({ trouble }: SessionWriter): string {
  return `write_failed: ${errnoOf(trouble?.cause) ?? 'unknown'}`;
}
