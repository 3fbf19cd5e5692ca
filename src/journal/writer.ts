// One session being written. An entry is on the disk when its promise resolves, and its number is
// its place in the file. The metadata follows at most once a second and at the end: readers
// of an active session count its lines. Nothing but `append` and starting can fail.
import { type AppError, errnoOf } from '../errors.ts';
import { defined } from '../text/json.ts';
import type { Entry, EntryDraft, ProcessId, SessionMetadata, SessionStatus } from '../types.ts';
import { decodeMetadata, encodeMetadata, entryTimestamp, wholeSeconds } from './entry.ts';
import { endsTorn, entryOfRun, tallyOf } from './entry-lines.ts';
import {
  closeQuietly,
  createEntries,
  DISK,
  type Disk,
  ensureJournal,
  findSessionFiles,
  type JournalEnv,
  plainFile,
  readText,
  reopenEntries,
  replaceFile,
  type SessionFiles,
  sessionFiles,
  unwritable,
} from './files.ts';
import { GroupCommit } from './group-commit.ts';
import { entryId, newJournalSessionId } from './ids.ts';
import {
  metadataOf,
  newMetadata,
  ownerField,
  type SessionFacts,
  touched,
  withEntry,
} from './metadata.ts';
import { MetadataFile } from './metadata-file.ts';
import type { JournalSeal } from './seal.ts';
import { SessionSeal } from './session-seal.ts';

const ID_TRIES_MAX = 5; // two sessions of one second with the same 48 random bits

/** Told whenever the metadata changed: for what is derived from it. */
export type SessionListener = (metadata: SessionMetadata, sizeBytes: number) => void;

/** Makes the session's files. Throws `journal_unwritable`. */
export function startSession(
  directory: string,
  facts: SessionFacts,
  env: JournalEnv,
  changed?: SessionListener,
): SessionWriter {
  const disk = env.fs ?? DISK;
  ensureJournal(directory, disk);
  const now = env.now();
  const seal = env.seal?.(directory);
  for (let tries = 1; ; tries += 1) {
    const id = newJournalSessionId(now, env.random);
    const files = sessionFiles(directory, id);
    let fd: number | undefined;
    try {
      fd = createEntries(files.entries, disk);
      const metadata = newMetadata(id, { ...facts, sealedBy: seal?.origin }, now);
      replaceFile(files.metadata, encodeMetadata(metadata), disk);
      const file = new GroupCommit(files.entries, fd, disk, 'new');
      const runIds = new Set<string>();
      const begun = { files, file, metadata, written: metadata, sequence: 0, runIds, seal };
      return new SessionWriter(begun, env, changed);
    } catch (error) {
      if (fd !== undefined) {
        closeQuietly(fd, disk);
        removeFiles(files, disk);
      } else if (errnoOf(error) === 'EEXIST' && tries < ID_TRIES_MAX) continue;
      throw unwritable(files.entries, error);
    }
  }
}

function removeFiles(files: SessionFiles, disk: Disk): void {
  for (const path of [files.metadata, files.entries]) {
    try {
      disk.unlinkSync(path);
    } catch {
      // An empty session stays behind; the next recovery removes it.
    }
  }
}

/**
 * For recovery: goes on with the session of an owner who is dead. An unfinished line is ended
 * first, and a run that has its entry already gets no second one. Throws `journal_unwritable`.
 */
export function resumeSession(
  directory: string,
  sessionId: string,
  env: JournalEnv,
  changed?: SessionListener,
): SessionWriter {
  const disk = env.fs ?? DISK;
  const files = findSessionFiles(directory, sessionId) ?? sessionFiles(directory, sessionId);
  let fd: number | undefined;
  try {
    fd = reopenEntries(files.entries, disk);
    if (endsTorn(files.entries)) disk.writeSync(fd, '\n');
    const tally = tallyOf(files.entries);
    const stored = decodeMetadata(readText(files.metadata) ?? '');
    const modifiedAt = plainFile(files.entries)?.mtimeMs ?? env.now();
    const metadata = metadataOf(sessionId, stored, tally, modifiedAt);
    const file = new GroupCommit(files.entries, fd, disk, 'resumed');
    const { runIds } = tally;
    // The metadata may know of entries that the file has lost: their numbers are not given again.
    const sequence = Math.max(tally.sequence, stored?.entry_count ?? 0);
    const seal = env.seal?.(directory);
    const begun = { files, file, metadata, written: undefined, sequence, runIds, seal };
    return new SessionWriter(begun, env, changed);
  } catch (error) {
    if (fd !== undefined) closeQuietly(fd, disk);
    throw unwritable(files.entries, error);
  }
}

type Begun = {
  readonly files: SessionFiles;
  readonly file: GroupCommit;
  readonly metadata: SessionMetadata;
  /** What the metadata file is known to say. */
  readonly written: SessionMetadata | undefined;
  /** Of the last entry in the file. */
  readonly sequence: number;
  /** Runs whose entries are in the file already. */
  readonly runIds: ReadonlySet<string>;
  readonly seal: JournalSeal | undefined;
};

/** Why it ended, whatever came afterwards. */
export function plainReason({ end_reason }: SessionMetadata): string | null {
  return end_reason?.endsWith(LATE) ? end_reason.slice(0, -LATE.length) : end_reason;
}

/** Behind the reason why a session ended that got entries afterwards, or may still get some. */
const LATE = ', late entries';

function lateReason(reason: string | null): string {
  return reason?.endsWith(LATE) ? reason : `${reason ?? ''}${LATE}`;
}

/** It was ended in order and had the entries of all runs that were over by then. */
export function endedWhole({ status, end_reason }: SessionMetadata): boolean {
  const inOrder = status === 'complete' || status === 'shutdown';
  return inOrder && end_reason?.endsWith(LATE) !== true;
}

export class SessionWriter {
  readonly id: string;
  readonly #files: SessionFiles;
  readonly #disk: Disk;
  readonly #file: GroupCommit;
  readonly #metadata: MetadataFile;
  readonly #now: () => number;
  readonly #changed: SessionListener | undefined;
  readonly #runIds: ReadonlySet<string>;
  readonly #seal: SessionSeal;
  readonly #origin: string | undefined;
  #sequence: number;
  #ended: boolean;
  /** This process gave it its end. */
  #endedHere = false;
  /** Entries that are not known to be on the disk yet. */
  readonly #unconfirmed = new Set<Entry>();
  /** Commands that were started for this session and have no entry yet. */
  #expected = 0;
  /** `endNow` ended it while commands were still running. */
  #endedEarly = false;
  /** The writer before this one may have left runs without entries. */
  #lacking = (): boolean => false;
  #settling: Promise<void> = Promise.resolve();

  constructor(begun: Begun, env: JournalEnv, changed: SessionListener | undefined) {
    const { files, file, metadata, written } = begun;
    this.id = metadata.session_id;
    this.#files = files;
    this.#disk = env.fs ?? DISK;
    this.#file = file;
    this.#metadata = new MetadataFile(files.metadata, () => file.named(), env, metadata, written);
    this.#now = env.now;
    this.#changed = changed;
    this.#runIds = begun.runIds;
    this.#seal = new SessionSeal(begun.seal, env.now);
    this.#origin = begun.seal?.origin;
    this.#sequence = begun.sequence;
    this.#ended = metadata.status !== 'active';
    this.#tell(file.size);
  }

  get metadata(): SessionMetadata {
    return this.#metadata.latest;
  }

  /** A write failed: it takes no more entries. */
  get broken(): boolean {
    return this.#file.broken !== undefined;
  }

  /** Why it takes no more entries. */
  get trouble(): AppError | undefined {
    return this.#file.broken;
  }

  /** Its end is on the disk, or nothing is left that could have one. */
  get settled(): boolean {
    return this.#ended && this.#metadata.current;
  }

  /**
   * Resolves with the entry once its line is on the disk; rejects with `journal_unwritable`. A run
   * that outlasts its session has its entry there all the same: the status stays as it is.
   */
  async append(draft: EntryDraft): Promise<Entry> {
    const written = draft.run_id !== null && this.#runIds.has(draft.run_id);
    const before = written ? entryOfRun(this.#files.entries, draft.run_id) : undefined;
    if (before !== undefined) return before;
    const late = this.#ended;
    this.#sequence += 1;
    const entry = placed(draft, this.id, this.#sequence, this.#now());
    this.#unconfirmed.add(entry);
    const line = this.#seal.line(entry);
    try {
      await this.#file.add(line.text);
      line.written();
    } catch (error) {
      this.#metadata.forget(); // what was refused may be in the file, whole or in part
      throw error;
    } finally {
      this.#unconfirmed.delete(entry);
    }
    const counted = withEntry(learned(this.metadata, entry), entry);
    const { end_reason } = counted;
    this.#change(late ? { ...counted, end_reason: lateReason(end_reason) } : counted);
    return entry;
  }

  /** `owner` is its writer from now on. `lookedFor`: whether what it lacked was looked for. */
  goOn(owner: ProcessId, lookedFor: () => boolean = () => false): void {
    this.#ended = false;
    if (!endedWhole(this.metadata)) this.#lacking = () => !lookedFor();
    const now = this.#now();
    const { end_reason: _, ...before } = this.metadata;
    const active = { ...before, status: 'active', end_reason: null } as const;
    const sealed = { ...(this.#origin !== undefined && { sealed_by: this.#origin }) };
    const resumed = {
      ...active,
      ...sealed,
      owner: ownerField(owner),
      resumed_at: wholeSeconds(now),
    };
    this.#metadata.latest = touched(resumed, now);
    this.#metadata.write();
    this.#tell(this.#file.size);
  }

  /** Lets `work` pack some of its lines; entries wait meanwhile. Rejects as that does. */
  packed(work: () => Promise<void>): Promise<void> {
    return this.#file.replaced(work);
  }

  /** A command was started whose entry belongs here; `arrived` when that was written or refused. */
  expect(): void {
    this.#expected += 1;
  }

  arrived(): void {
    this.#expected -= 1;
  }

  /**
   * Writes the finished entries and then the end before it returns, because the process may be
   * killed at any moment. Entries of commands that still run come later. Never throws.
   */
  endNow(status: SessionStatus, endReason: string): void {
    this.#file.flush();
    if (this.#ended || this.broken || this.#empty) return;
    this.#endedEarly = true;
    this.#end(status, endReason);
    let counted = this.metadata;
    for (const entry of this.#unconfirmed) counted = withEntry(counted, entry);
    this.#metadata.writeEndNow(counted);
    this.#tell(this.#file.size);
  }

  /** Any process may go on with it once it has its end, also while this one lives. */
  disown(): void {
    this.#metadata.latest = { ...this.metadata, owner: null };
  }

  /** Writes the metadata with this status. The first status stays. Never throws. */
  finalize(status: SessionStatus, endReason: string): Promise<void> {
    if (!this.#ended) this.#end(status, endReason);
    else if (this.#endedEarly && this.#expected === 0) {
      const end_reason = this.#reason(endReason); // nothing of this writer is late now
      if (this.metadata.end_reason !== end_reason) {
        this.#metadata.latest = { ...this.metadata, end_reason };
      }
    }
    return this.#settle();
  }

  #end(status: SessionStatus, endReason: string): void {
    this.#ended = true;
    this.#endedHere = true;
    this.#metadata.cancel();
    const end_reason = this.#reason(endReason);
    this.#metadata.latest = touched({ ...this.metadata, status, end_reason }, this.#now());
  }

  #reason(endReason: string): string {
    return this.#expected > 0 || this.#lacking() ? lateReason(endReason) : endReason;
  }

  /** Nothing was recorded, neither here nor in the file beside it, and nothing will be. */
  get #empty(): boolean {
    const entries = this.metadata.entry_count + this.#unconfirmed.size;
    if (entries + this.#expected > 0 || this.broken) return false;
    return plainFile(this.#files.edits) === undefined;
  }

  /** Says whose it is, at once: the server that goes on after a crash looks for the group. */
  adopt(facts: Pick<SessionFacts, 'agentId' | 'conversationId' | 'group' | 'vcs'>): void {
    const { agentId, conversationId, ...more } = facts;
    const whose = { agent_id: agentId, conversation_id: conversationId, ...defined(more) };
    this.#metadata.latest = touched({ ...this.metadata, ...whose }, this.#now());
    this.#metadata.write();
    this.#tell(this.#file.size);
  }

  #change(metadata: SessionMetadata): void {
    this.#metadata.latest = touched(metadata, this.#now());
    if (this.#ended) {
      void this.#settle(); // and tells when it is done
      return;
    }
    this.#tell(this.#file.size);
    this.#metadata.writeSoon();
  }

  /** One after the other: a late entry may come while the end is being written. */
  #settle(): Promise<void> {
    // A file that cannot even be counted is left to recovery.
    this.#settling = this.#settling.then(() => this.#writeEnd()).catch(() => undefined);
    return this.#settling;
  }

  async #writeEnd(): Promise<void> {
    await this.#file.close();
    if (this.#empty && plainFile(this.#files.entries)?.size === 0) {
      removeFiles(this.#files, this.#disk);
      this.#metadata.abandon();
      this.#tell(0);
      return;
    }
    this.#metadata.latest = this.#seal.closed(this.metadata, this.#endedHere);
    this.#endedHere = false;
    if (this.#metadata.current) {
      await this.#metadata.writeEnd(); // `endNow` wrote it and did not wait for the disk
      return;
    }
    if (this.broken) {
      const { counts } = tallyOf(this.#files.entries);
      this.#metadata.latest = { ...this.metadata, ...counts };
    }
    await this.#metadata.writeEnd();
    if (this.settled) this.#tell(plainFile(this.#files.entries)?.size ?? this.#file.size);
  }

  #tell(sizeBytes: number): void {
    try {
      this.#changed?.(this.metadata, sizeBytes);
    } catch {
      // Derived things can be derived again; an entry that is on the disk is not refused for them.
    }
  }
}

/** A session that the server began with, before any caller came, learns whose it is. */
function learned(metadata: SessionMetadata, { agent_id }: Entry): SessionMetadata {
  const first = metadata.entry_count === 0 && metadata.agent_id === null;
  return first ? { ...metadata, agent_id } : metadata;
}

/** A time or a number that no reader would accept would cost the whole line. */
function placed(draft: EntryDraft, sessionId: string, sequence: number, now: number): Entry {
  const parsed = Date.parse(draft.timestamp);
  const startedAt = Number.isNaN(parsed) ? now : parsed;
  return {
    ...draft,
    entry_id: entryId(startedAt, sequence, sessionId),
    session_id: sessionId,
    sequence_number: sequence,
    timestamp: startedAt === parsed ? draft.timestamp : entryTimestamp(now),
    duration_ms: Math.max(0, Math.round(draft.duration_ms) || 0),
    timeout_seconds: Math.max(0, Math.ceil(draft.timeout_seconds) || 0),
  };
}
