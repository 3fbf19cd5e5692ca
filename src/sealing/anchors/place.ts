// What every kind of anchor does: put a signed root somewhere that the holder of the account cannot
// rewrite, and read what is there. Trouble is an `AnchorTrouble` with one clause that says why; an
// anchor that fails is tried again with the next one, and stops nothing else.

import type { Checkpoint } from '../../ledger/checkpoint.ts';
import type { Note } from '../../ledger/note.ts';
import type { Env } from '../../types.ts';

export type SignedHead = Checkpoint & { readonly note: Note };

export type AnchorTools = {
  readonly stateRoot: string;
  /** Programs in it are not used: it may have come from elsewhere. */
  readonly project: string;
  readonly env: Env;
  readonly now: () => number;
  /** After it nothing more is waited for. */
  readonly signal: AbortSignal;
  /** The sockets of the system's log; of tests. */
  readonly syslog?: readonly string[] | undefined;
};

/** A root that the place has of this ledger. */
export type OutsideHead = {
  readonly size: number;
  readonly root: Uint8Array;
  /** Epoch milliseconds. */
  readonly at: number | undefined;
};

/** What `put` leaves behind for the record: a commit, a cosigned note, a code. */
export type Receipt = { readonly receipt: string | null; readonly note?: Note };

export type AnchorPlace = {
  readonly put: (head: SignedHead, where: string, tools: AnchorTools) => Promise<Receipt>;
  /** Undefined where a place cannot be read by us. */
  readonly read:
    | ((origin: string, where: string, tools: AnchorTools) => Promise<readonly OutsideHead[]>)
    | undefined;
};

export class AnchorTrouble extends Error {}
