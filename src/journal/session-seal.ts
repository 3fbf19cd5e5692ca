// What the ledger hears of one session, from the process that writes it: that it begins, as its
// first entry is about to be written, each entry once its line is on the disk, and that it ends. A
// session without entries is not spoken of.

import type { Entry, SessionMetadata } from '../types.ts';
import { encodeEntry, encodeSalted } from './entry.ts';
import type { JournalSeal } from './seal.ts';

type EntryLine = {
  /** With its `\n`. */
  readonly text: string;
  /** To be called when it is on the disk. */
  readonly written: () => void;
};

export class SessionSeal {
  readonly #seal: JournalSeal | undefined;
  readonly #now: () => number;
  #open = false;

  constructor(seal: JournalSeal | undefined, now: () => number) {
    this.#seal = seal;
    this.#now = now;
  }

  line(entry: Entry): EntryLine {
    const seal = this.#seal;
    if (seal === undefined) return { text: encodeEntry(entry), written: () => undefined };
    const { session_id: session, sequence_number: sequence, agent_id: agent } = entry;
    // Before the line: one that a crash leaves without a leaf is then not behind the session's end.
    if (!this.#open) seal.opened(session, { at: this.#now(), agent, sequence });
    this.#open = true;
    const salt = seal.salt();
    const { text, parts } = encodeSalted(entry, salt);
    return { text, written: () => this.#entered(seal, entry, { salt, parts }) };
  }

  #entered(
    seal: JournalSeal,
    entry: Entry,
    sealed: Pick<Parameters<JournalSeal['entered']>[0], 'salt' | 'parts'>,
  ): void {
    const { session_id: session, sequence_number: sequence, timestamp, run_id: runId } = entry;
    const { source } = entry;
    seal.entered({ session, sequence, timestamp, runId, source, ...sealed });
  }

  /**
   * The session has its end. `ended`: this process gave it one, with or without entries of ours.
   * Gives back the metadata, with the reason if its leaves could not be written.
   */
  closed(metadata: SessionMetadata, ended: boolean): SessionMetadata {
    const { session_id, status, entry_count: count, sealed_by } = metadata;
    const seal = this.#seal;
    if (seal === undefined || count === 0) return metadata;
    if (!this.#open && (!ended || sealed_by !== seal.origin)) return metadata;
    this.#open = false;
    seal.closed(session_id, { at: this.#now(), status, count });
    const { trouble } = seal;
    return trouble === undefined ? metadata : { ...metadata, unsealed: trouble };
  }
}
