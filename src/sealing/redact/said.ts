// What is redacted is written down first: its leaf is in the signed ledger before a byte is
// changed. Should the machine crash in between, the leaf says what the next redaction finishes.

import * as fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Store } from '../../capture/store.ts';
import { AppError } from '../../errors.ts';
import type { Disk } from '../../journal/files.ts';
import type { EntryPart } from '../../ledger/commitments.ts';
import { formatLeaf, type Leaf, parseLeaf } from '../../ledger/leaf.ts';
import type { ByteRange } from '../../ledger/tokens.ts';
import type { ProcessId } from '../../types.ts';
import { leafLines } from '../leaf-lines.ts';
import type { Ledger } from '../ledger.ts';
import { sealFile } from '../place.ts';

export type RedactContext = {
  /** Undefined where the user wants none: then nothing says what was redacted. */
  readonly ledger: Ledger | undefined;
  /** Of the ledger, and of the captures. */
  readonly store: Store;
  readonly owner: ProcessId;
  /** One clause, for the leaves. */
  readonly why: string;
  readonly disk?: Disk | undefined;
};

const SIGN_TRIES = 100;
const SIGN_PAUSE_MS = 50; // another process is signing, which takes a few milliseconds

/** Rejects with `state_unwritable` unless they are in the signed ledger. */
export async function sayFirst(ledger: Ledger | undefined, leaves: readonly Leaf[]): Promise<void> {
  if (ledger === undefined) return;
  for (const leaf of leaves) {
    formatLeaf(leaf); // throws for what none can say; `note` would only log it
    ledger.note(leaf);
  }
  for (let tries = 1; ledger.trouble === undefined; tries += 1) {
    const sealed = await ledger.sign();
    if (sealed?.kind === 'signed' || sealed?.kind === 'current') return;
    if (sealed?.kind === 'refused') throw unsigned(sealed.why);
    if (sealed === undefined || tries === SIGN_TRIES) break;
    await delay(SIGN_PAUSE_MS);
  }
  throw unsigned(ledger.trouble ?? 'it cannot be signed');
}

export function unsigned(why: string): AppError {
  return new AppError('state_unwritable', `The ledger cannot be written (${why}).`, {
    hint: 'Nothing was redacted, because no leaf would say so. See what is wrong: cuff verify',
  });
}

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
  for (const leaf of leavesOf(sealFile(stateRoot, 'leaves'))) {
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

function* leavesOf(path: string): Generator<Leaf, void, undefined> {
  if (!fs.existsSync(path)) return;
  const fd = fs.openSync(path, 'r');
  try {
    for (const { bytes } of leafLines(fd, 0, fs.fstatSync(fd).size)) {
      const wanted = STARTS.some((start) => bytes.subarray(0, start.length).equals(start));
      const leaf = wanted ? parseLeaf(bytes.toString()) : undefined;
      if (leaf !== undefined) yield leaf;
    }
  } finally {
    fs.closeSync(fd);
  }
}
