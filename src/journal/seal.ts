// What a ledger is told of a journal while that is written. A journal knows nothing else of the
// ledger: whose it is, where it lies and whether it can be written are matters of src/sealing/.
// Nothing here throws, and nothing waits for a disk: a line of the journal is never worth less
// because it could not be sealed.

import type { EntryParts } from './entry-parts.ts';

/** Of one journal. */
export type JournalSeal = {
  /** The ledger that seals it, for the metadata of its sessions; undefined while it has no name. */
  readonly origin: string | undefined;
  /** Why leaves that there should be are not written; undefined when all are. */
  readonly trouble: string | undefined;
  /** For one line that is about to be written. */
  salt(): Uint8Array;
  /** A session begins, or is gone on with. */
  opened(
    session: string,
    about: {
      readonly at: number;
      readonly agent: string | null;
      /** The number of the first entry from now on. */
      readonly sequence: number;
    },
  ): void;
  /** An entry is on the disk. */
  entered(entry: SealedEntry): void;
  /** A line beside the entries is on the disk. */
  amended(line: SealedLine): void;
  /** A session has ended, for now. `count`: its entries. */
  closed(
    session: string,
    about: { readonly at: number; readonly status: string; readonly count: number },
  ): void;
};

type SealedEntry = {
  readonly session: string;
  readonly sequence: number;
  /** As the line says it. */
  readonly timestamp: string;
  readonly runId: string | null;
  /** Of an entry that a process without Node had to leave to others: `spool`. */
  readonly source: string | undefined;
  readonly salt: Uint8Array;
  readonly parts: () => EntryParts;
};

export type SealedLine = {
  readonly session: string;
  /** The number of the entry that the line belongs to; 0 for the session as a whole. */
  readonly sequence: number;
  readonly at: number;
  readonly kind: 'late-output' | 'edit';
  readonly salt: Uint8Array;
  /** The JSON of the line without its salt. */
  readonly text: string;
};

/** The ledger of a journal; undefined where there is none. Must not throw. */
export type SealOf = (directory: string) => JournalSeal | undefined;
