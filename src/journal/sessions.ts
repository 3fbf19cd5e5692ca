// Chooses the session that a call's entry goes to. `per_conversation`: one for each conversation,
// and by day for calls that name none; `per_day`: one for each calendar day where this process is;
// `continuous`: one. A session is made when it is first needed, and a broken one is replaced then.
import { errnoOf } from '../errors.ts';
import type { AgentContext, ProcessId, SessionMetadata, SessionStatus } from '../types.ts';
import type { JournalEnv } from './files.ts';
import { IndexKeeper } from './index-keeper.ts';
import { type Changed, type SessionWriter, startSession } from './writer.ts';

export type SessionMode = 'per_conversation' | 'per_day' | 'continuous';

export type SessionsOptions = {
  readonly directory: string;
  readonly mode: SessionMode;
  readonly workingDirectory: string;
  readonly owner: ProcessId | null;
  readonly env: JournalEnv;
  /** Told whenever a session's metadata changed: for what else is derived from it. */
  readonly changed?: Changed;
};

// A conversation that was silent for a day is over; should it go on, it gets another session.
const SILENCE_MS = 86_400_000;

const NOBODY: AgentContext = {
  agentId: null,
  conversationId: null,
  toolCallId: null,
  traceId: null,
};

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

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#index = new IndexKeeper(options.directory, options.env);
  }

  /** Makes the session for calls that say nothing about themselves. Throws `journal_unwritable`. */
  start(): SessionWriter {
    return this.#session(NOBODY).writer;
  }

  /** Throws `journal_unwritable`; the next call tries again. */
  writerFor(context: AgentContext): SessionWriter {
    const open = this.#session(context);
    open.used = true;
    open.usedAt = this.#options.env.now();
    return open.writer;
  }

  active(): readonly SessionWriter[] {
    return [...this.#open.values()].map(({ writer }) => writer);
  }

  /** Marks it interrupted, now or when that can be written; the next call gets a new session. */
  replaceBroken(writer: SessionWriter): void {
    for (const [key, open] of this.#open) if (open.writer === writer) this.#open.delete(key);
    this.#interrupted.add(writer);
    this.#end(writer, 'interrupted', reasonOf(writer));
  }

  /** Ends every session and writes the index. Never throws. */
  async closeAll(status: SessionStatus, endReason: string): Promise<void> {
    for (const writer of this.active()) {
      if (writer.broken) this.replaceBroken(writer);
      else this.#end(writer, status, endReason);
    }
    this.#open.clear();
    this.#retryInterrupted();
    await Promise.all(this.#ending);
    await this.#index.close();
  }

  #session(context: AgentContext): Open {
    const now = this.#options.env.now();
    const key = this.#keyFor(context, now);
    const found = this.#open.get(key);
    if (found !== undefined && !found.writer.broken) return found;
    if (found !== undefined) this.replaceBroken(found.writer);
    this.#endOthers(now);
    const open = this.#adopted(context) ?? {
      writer: this.#begin(context),
      usedAt: now,
      used: false,
    };
    this.#open.set(key, open);
    return open;
  }

  #keyFor({ conversationId }: AgentContext, now: number): string {
    const { mode } = this.#options;
    if (mode === 'continuous') return mode;
    const named = mode === 'per_conversation' && conversationId !== null;
    return named ? `${CONVERSATION}${conversationId}` : dayKey(now);
  }

  #begin({ agentId, conversationId }: AgentContext): SessionWriter {
    const { directory, workingDirectory, owner, env } = this.#options;
    const facts = { workingDirectory, agentId, conversationId, owner };
    const writer = startSession(directory, facts, env, (metadata, sizeBytes) =>
      this.#changed(metadata, sizeBytes),
    );
    this.#retryInterrupted();
    return writer;
  }

  /** A session that `start` made and no call has used is the one for the first conversation. */
  #adopted({ agentId, conversationId }: AgentContext): Open | undefined {
    for (const [key, open] of this.#open) {
      if (open.used || open.writer.broken) continue;
      this.#open.delete(key);
      open.writer.adopt(agentId, conversationId);
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

  #changed(metadata: SessionMetadata, sizeBytes: number): void {
    this.#index.note(metadata, sizeBytes);
    this.#options.changed?.(metadata, sizeBytes);
  }

  #retryInterrupted(): void {
    for (const writer of this.#interrupted) this.#end(writer, 'interrupted', reasonOf(writer));
  }

  #end(writer: SessionWriter, status: SessionStatus, endReason: string): void {
    const ending = writer.finalize(status, endReason).then(() => {
      this.#ending.delete(ending);
      if (writer.settled) this.#interrupted.delete(writer);
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
