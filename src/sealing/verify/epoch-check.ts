// The keys of days: does one that was kept, or the first that was introduced, lead to the key that
// signed the checkpoint? Each step is a note that the older key signed, over a tree that names the
// newer one; all of those trees have to be in the ledger as it is. So the key of a day alone can
// rewrite nothing that was there before that day: the keys that could are destroyed.
import { type Checkpoint, checkpointOf } from '../../ledger/checkpoint.ts';
import { epochDay } from '../../ledger/epoch.ts';
import type { Leaf } from '../../ledger/leaf.ts';
import { checkSignature, type Note, parseNote } from '../../ledger/note.ts';
import { parseVerifierKey, type VerifierKey } from '../../ledger/note-keys.ts';
import type { StoredHashes } from '../../ledger/tree.ts';
import type { Finding } from './findings.ts';

export type EpochFiles = {
  /** That a person kept; without one it begins with the first that was introduced. */
  readonly kept: VerifierKey | undefined;
  readonly introductions: readonly string[];
  readonly leaves: readonly { readonly index: number; readonly leaf: Leaf }[];
  readonly tree: StoredHashes;
};

export type EpochReach = {
  /** Days: of the key that it begins with, and of the one that signed. */
  readonly from: string;
  readonly to: string;
  /** How many leaves were there before that day. */
  readonly size: number;
};

export type EpochCheck = { readonly reach?: EpochReach; readonly findings: readonly Finding[] };

type DayKey = { readonly key: VerifierKey; readonly day: string; readonly index: number };

/** Of a checkpoint that the key of the ledger signed. */
export function checkEpochs(
  note: Note,
  { origin }: Checkpoint,
  { kept, introductions, leaves, tree }: EpochFiles,
): EpochCheck {
  const named = leaves.flatMap(({ leaf, index }): DayKey[] => {
    const key = leaf.kind === 'key' ? parseVerifierKey(leaf.vkey) : undefined;
    const day = key && epochDay(key.name, origin);
    return key === undefined || day === undefined ? [] : [{ key, day, index }];
  });
  const day = kept && epochDay(kept.name, origin);
  if (kept !== undefined && day === undefined) return broken(`the key is of ${kept.name}`);
  const notes = introductions.map(parseNote).filter((one) => one !== undefined);
  const first =
    kept && day !== undefined ? { key: kept, day, index: -1 } : firstIntroduced(named, notes);
  if (first === undefined) return { findings: [] };
  let known = [first];
  const heads: { readonly size: number; readonly day: string }[] = [];
  for (const introduction of notes) {
    const head = checkpointOf(introduction);
    if (head === undefined) continue;
    const signers = known.filter(({ key }) => checkSignature(introduction, key) === 'verified');
    const [oldest] = signers.map((one) => one.day).sort();
    if (oldest === undefined || head.origin !== origin) continue;
    // A crash may leave one that is newer than the checkpoint, over leaves that are there.
    if (head.size > tree.size || Buffer.compare(tree.root(head.size), head.root) !== 0) {
      return broken(`what the key of ${oldest} signed is not in it`, head.size);
    }
    // Days never go back: the key of a day introduces none of an older one.
    const next = named.filter((one) => one.index < head.size && one.day > oldest);
    known = [...known, ...next.filter((one) => !known.includes(one))];
    heads.push({ size: head.size, day: oldest });
  }
  const days = known.filter(({ key }) => checkSignature(note, key) === 'verified');
  const last = days
    .map((one) => one.day)
    .sort()
    .at(-1);
  if (last === undefined) return broken(`no key that the one of ${first.day} leads to signed it`);
  // What the last key signed alone could be signed anew with it.
  const older = heads.filter((head) => head.day < last).map((head) => head.size);
  return { reach: { from: first.day, to: last, size: Math.max(0, ...older) }, findings: [] };
}

/** A crash may leave the leaf of a key that never signed. */
function firstIntroduced(named: readonly DayKey[], notes: readonly Note[]): DayKey | undefined {
  const signed = ({ key }: DayKey): boolean =>
    notes.some((note) => checkSignature(note, key) === 'verified');
  return named.find(signed);
}

function broken(detail: string, count?: number): EpochCheck {
  return { findings: [{ verdict: 'epoch_broken', detail, ...(count !== undefined && { count }) }] };
}
