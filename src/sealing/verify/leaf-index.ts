// The leaves of a ledger by what they are about: sessions, journals and captures.
import type { EntryPart } from '../../ledger/commitments.ts';
import type { LeafOf } from '../../ledger/leaf.ts';
import { VOUCHED_BY_SESSION } from '../place.ts';
import type { NumberedLeaf } from './ledger-check.ts';

export type SealedEntry = {
  readonly index: number;
  readonly leaf: LeafOf<'entry'>;
  /** Its session had ended without it, and was not opened again. */
  readonly afterEnd: boolean;
};

export type SealedSession = {
  readonly journal: string;
  readonly session: string;
  readonly entries: SealedEntry[];
  readonly amends: LeafOf<'amend'>[];
  /** By the number of the entry. */
  readonly redacted: Map<number, Set<EntryPart>>;
  readonly redactions: LeafOf<'redact'>[];
  /** How many entries it had when it ended; undefined where the last that was said is no end. */
  closed: number | undefined;
  tombstone: LeafOf<'tombstone'> | undefined;
};

export type SealedCapture = {
  readonly index: number;
  /** The last one: a redaction is followed by another. */
  readonly leaf: LeafOf<'capture'>;
};

export type Fork = { readonly from: string; readonly index: number; readonly at: number };

export class LeafIndex {
  /** By journal, then by id. */
  readonly journals = new Map<string, Map<string, SealedSession>>();
  /** Entries by their commitment to the facts. */
  readonly byFacts = new Map<string, SealedEntry[]>();
  readonly captures = new Map<string, SealedCapture>();
  readonly pinned = new Set<string>();
  readonly redactedCaptures: LeafOf<'redact-capture'>[] = [];
  /** By run: the number of the last such leaf. */
  readonly redactedAt = new Map<string, number>();
  /** By the name of the copy. */
  readonly forks = new Map<string, Fork>();
  readonly forgotten = new Map<string, LeafOf<'tombstone'>>();
  readonly gaps: LeafOf<'gap'>[] = [];

  constructor(leaves: readonly NumberedLeaf[]) {
    for (const numbered of leaves) this.#add(numbered);
  }

  session(journal: string, session: string): SealedSession | undefined {
    return this.journals.get(journal)?.get(session);
  }

  #add({ index, leaf }: NumberedLeaf): void {
    if (leaf.kind === 'open') this.#of(leaf).closed = undefined;
    else if (leaf.kind === 'close') this.#of(leaf).closed = leaf.count;
    else if (leaf.kind === 'entry') this.#entry({ index, leaf });
    else if (leaf.kind === 'amend') this.#of(leaf).amends.push(leaf);
    else if (leaf.kind === 'redact') this.#redacted(leaf);
    else if (leaf.kind === 'tombstone') this.#buried(leaf);
    else if (leaf.kind === 'capture') this.captures.set(leaf.run, { index, leaf });
    else if (leaf.kind === 'pin') this.pinned.add(leaf.run);
    else if (leaf.kind === 'unpin') this.pinned.delete(leaf.run);
    else if (leaf.kind === 'redact-capture') this.#redactedCapture({ index, leaf });
    else if (leaf.kind === 'fork') this.forks.set(leaf.journal, { ...leaf, index });
    else if (leaf.kind === 'gap') this.gaps.push(leaf);
  }

  #entry({ index, leaf }: NumberedLeaf & { readonly leaf: LeafOf<'entry'> }): void {
    const same = this.byFacts.get(leaf.facts) ?? [];
    const again = same.some(
      (one) => one.leaf.session === leaf.session && one.leaf.journal === leaf.journal,
    );
    // Of two processes that sealed one line at once, the first has said it.
    if (again) return;
    const session = this.#of(leaf);
    const sealed = { index, leaf, afterEnd: isAfterEnd(leaf, session) };
    this.byFacts.set(leaf.facts, [...same, sealed]);
    session.entries.push(sealed);
  }

  #redacted(leaf: LeafOf<'redact'>): void {
    const session = this.#of(leaf);
    const parts = session.redacted.get(leaf.sequence) ?? new Set();
    for (const part of leaf.parts) parts.add(part);
    session.redacted.set(leaf.sequence, parts);
    session.redactions.push(leaf);
  }

  #redactedCapture({ index, leaf }: { index: number; leaf: LeafOf<'redact-capture'> }): void {
    this.redactedCaptures.push(leaf);
    this.redactedAt.set(leaf.run, index);
  }

  #buried(leaf: LeafOf<'tombstone'>): void {
    const { journal, session } = leaf;
    if (session === null) this.forgotten.set(journal, leaf);
    else this.#of({ journal, session }).tombstone = leaf;
  }

  #of({ journal, session }: Pick<SealedSession, 'journal' | 'session'>): SealedSession {
    const sessions = this.journals.get(journal) ?? new Map<string, SealedSession>();
    this.journals.set(journal, sessions);
    const known = sessions.get(session);
    if (known !== undefined) return known;
    const made: SealedSession = {
      journal,
      session,
      entries: [],
      amends: [],
      redacted: new Map(),
      redactions: [],
      closed: undefined,
      tombstone: undefined,
    };
    sessions.set(session, made);
    return made;
  }
}

/**
 * A writer opens a session before its first line. A late leaf may be of an entry that was there
 * when the session was ended by another process, or of one whose run vouches for it.
 */
function isAfterEnd(
  { origin, sequence, run }: LeafOf<'entry'>,
  { closed }: SealedSession,
): boolean {
  if (closed === undefined) return false;
  if (origin !== 'late') return true;
  return sequence > closed && (run === null || run === VOUCHED_BY_SESSION);
}
