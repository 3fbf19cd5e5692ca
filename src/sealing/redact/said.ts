// What the ledger says of redactions. Should the machine crash behind a leaf, that says what the
// next redaction finishes.

import type { Recipient } from '../../age/recipients.ts';
import type { Store } from '../../capture/store.ts';
import type { Disk } from '../../journal/files.ts';
import type { EntryPart } from '../../ledger/commitments.ts';
import { type Leaf, parseLeaf } from '../../ledger/leaf.ts';
import type { ByteRange } from '../../ledger/tokens.ts';
import type { ProcessId } from '../../types.ts';
import { ledgerLines } from '../leaf-lines.ts';
import type { Ledger } from '../ledger.ts';

export type RedactContext = {
  /** Undefined where the user wants none: then nothing says what was redacted. */
  readonly ledger: Ledger | undefined;
  /** Of the ledger, and of the captures. */
  readonly store: Store;
  readonly owner: ProcessId;
  /** One clause, for the leaves. */
  readonly why: string;
  readonly disk?: Disk | undefined;
  /** For whom a session is packed that is packed when it is redacted. May throw. */
  readonly recipients: () => readonly Recipient[];
};

export type Redactions = {
  /** Parts, by `entryKey`. */
  readonly entries: ReadonlyMap<string, ReadonlySet<EntryPart>>;
  /** Captures with a redaction and no leaf behind it that seals them anew. */
  readonly unfinished: ReadonlyMap<string, readonly ByteRange[]>;
};

export function entryKey(journal: string, session: string, sequence: number): string {
  return `${journal} ${session} ${sequence}`;
}

const STARTS = ['cuff/1 redact', 'cuff/1 capture '].map((text) => Buffer.from(text));

/** What the ledger says of redactions. Throws the error of the system call. */
export function saidBefore(stateRoot: string): Redactions {
  const entries = new Map<string, Set<EntryPart>>();
  const unfinished = new Map<string, readonly ByteRange[]>();
  for (const leaf of leavesOf(stateRoot)) {
    if (leaf.kind === 'redact') {
      const key = entryKey(leaf.journal, leaf.session, leaf.sequence);
      entries.set(key, new Set([...(entries.get(key) ?? []), ...leaf.parts]));
    } else if (leaf.kind === 'redact-capture') {
      const before = unfinished.get(leaf.run) ?? [];
      unfinished.set(leaf.run, [...before, ...(leaf.ranges ?? [])]);
    } else if (leaf.kind === 'capture') unfinished.delete(leaf.run);
  }
  return { entries, unfinished };
}

function* leavesOf(stateRoot: string): Generator<Leaf, void, undefined> {
  for (const { bytes } of ledgerLines(stateRoot)) {
    const wanted = STARTS.some((start) => bytes.subarray(0, start.length).equals(start));
    const leaf = wanted ? parseLeaf(bytes.toString()) : undefined;
    if (leaf !== undefined) yield leaf;
  }
}
