// The ledger by itself: are the leaves those that were signed, and those that were anchored? What
// the leaves say about journals is compared elsewhere, also when the answer is no.
import { type Checkpoint, checkpointOf } from '../../ledger/checkpoint.ts';
import { LEAF_BYTES_MAX, type Leaf, parseLeaf } from '../../ledger/leaf.ts';
import { checkSignature, type Note, parseNote } from '../../ledger/note.ts';
import { formatVerifierKey, parseVerifierKey, type VerifierKey } from '../../ledger/note-keys.ts';
import { leafHash, StoredHashes } from '../../ledger/tree.ts';
import type { Anchor } from './anchors.ts';
import { checkEpochs, type EpochReach } from './epoch-check.ts';
import type { Finding } from './findings.ts';
import { compareOutside, type OutsideReading, placeText } from './outside.ts';

export type LedgerFiles = {
  readonly leaves: Uint8Array;
  /** Derived; only to say which leaf was edited. */
  readonly hashes: Uint8Array;
  readonly checkpoint: string | undefined;
  readonly anchors: readonly Anchor[];
  /** What the places of the anchors say. */
  readonly outside?: readonly OutsideReading[];
  /** Of the ledger: its own, or an older one. */
  readonly key: VerifierKey | undefined;
  /** Notes in which an old key introduces its successor. */
  readonly introductions?: readonly string[];
  /** The key of a day, that a person kept. */
  readonly epoch?: VerifierKey | undefined;
};

export type NumberedLeaf = { readonly index: number; readonly leaf: Leaf };

export type LedgerReading = {
  readonly leaves: readonly NumberedLeaf[];
  /** Lines that have an end. */
  readonly size: number;
  /** How many of them a good checkpoint covers. */
  readonly signed: number;
  readonly checkpoint: Checkpoint | undefined;
  /** How far the keys of days reach. */
  readonly epoch: EpochReach | undefined;
  /** The largest one that holds, of those that do not only stand in a note beside the ledger. */
  readonly anchor: Anchor | undefined;
  /** A larger one of which there is only such a note. */
  readonly noted: Anchor | undefined;
  readonly findings: readonly Finding[];
};

export function readLedger(files: LedgerFiles): LedgerReading {
  const lines = linesOf(files.leaves);
  const tree = new StoredHashes();
  for (const line of lines) tree.append(leafHash(line));
  const leaves = lines.flatMap((line, index) => {
    const leaf = line.length > LEAF_BYTES_MAX ? undefined : parseLeaf(line.toString('latin1'));
    return leaf === undefined ? [] : [{ index, leaf }];
  });
  const signing = checkSigned(files, tree, leaves);
  const compared = compareOutside(files.anchors, files.outside ?? []);
  const anchored = checkAnchored(compared.anchors, tree, signing.checkpoint);
  return {
    leaves,
    size: tree.size,
    ...signing,
    epoch: signing.epoch,
    anchor: anchored.anchor,
    noted: anchored.noted,
    findings: [...signing.findings, ...compared.findings, ...anchored.findings],
  };
}

/** With their `\n`. A tail without one was never signed, or the lines before it are too few. */
function linesOf(bytes: Uint8Array): Buffer[] {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const lines: Buffer[] = [];
  let start = 0;
  for (let end = all.indexOf(0x0a); end >= 0; end = all.indexOf(0x0a, start)) {
    lines.push(all.subarray(start, end + 1));
    start = end + 1;
  }
  return lines;
}

type Signing = Pick<LedgerReading, 'signed' | 'checkpoint' | 'findings'> & {
  readonly epoch?: EpochReach | undefined;
};

function checkSigned(
  files: LedgerFiles,
  tree: StoredHashes,
  leaves: readonly NumberedLeaf[],
): Signing {
  const { checkpoint: text, hashes } = files;
  if (text === undefined) {
    const unsigned: Finding = { verdict: 'unsigned', count: tree.size, ...sinceOf(leaves, 0) };
    return { signed: 0, checkpoint: undefined, findings: tree.size === 0 ? [] : [unsigned] };
  }
  const note = parseNote(text);
  const checkpoint = note && checkpointOf(note);
  const key = note && files.key && successor(files.key, note, files, tree, leaves);
  const trouble = troubleWith(note && key && checkSignature(note, key), checkpoint, key, leaves);
  if (trouble !== undefined || checkpoint === undefined || note === undefined) {
    const bad: Finding = { verdict: 'checkpoint_bad', detail: trouble ?? 'it cannot be read' };
    return { signed: 0, checkpoint: undefined, findings: [bad] };
  }
  const { size, root } = checkpoint;
  if (size > tree.size) {
    const cut: Finding = { verdict: 'ledger_truncated', count: size - tree.size, leaf: tree.size };
    return { signed: 0, checkpoint, findings: [cut] };
  }
  if (Buffer.compare(tree.root(size), root) !== 0) {
    return { signed: 0, checkpoint, findings: editedLeaves(checkpoint, tree, hashes) };
  }
  const { epoch: kept, introductions = [] } = files;
  const { reach: epoch, findings } = checkEpochs(note, checkpoint, {
    ...{ kept, introductions, leaves, tree },
  });
  const rest = tree.size - size;
  const unsigned: Finding = { verdict: 'unsigned', count: rest, ...sinceOf(leaves, size) };
  const late = rest === 0 ? [] : [unsigned];
  return { signed: size, checkpoint, epoch, findings: [...findings, ...late] };
}

/** The key that signed the note, if `key` or one that it introduced did. */
function successor(
  key: VerifierKey,
  note: Note,
  { introductions = [] }: LedgerFiles,
  tree: StoredHashes,
  leaves: readonly NumberedLeaf[],
): VerifierKey {
  let known = [key];
  for (const text of introductions) {
    const introduction = parseNote(text);
    const head = introduction && checkpointOf(introduction);
    if (introduction === undefined || head === undefined || head.size > tree.size) continue;
    const signed = known.some((one) => checkSignature(introduction, one) === 'verified');
    if (!signed || Buffer.compare(tree.root(head.size), head.root) !== 0) continue;
    const named = leaves.flatMap(({ leaf, index }) => {
      const vkey = leaf.kind === 'key' && index < head.size ? leaf.vkey : '';
      const named = parseVerifierKey(vkey);
      return named?.name === key.name ? named : []; // and not that of a day
    });
    known = [...known, ...named];
  }
  return known.find((one) => checkSignature(note, one) === 'verified') ?? key;
}

function troubleWith(
  signature: ReturnType<typeof checkSignature> | undefined,
  checkpoint: Checkpoint | undefined,
  key: VerifierKey | undefined,
  leaves: readonly NumberedLeaf[],
): string | undefined {
  if (key === undefined) return 'there is no key to check it with';
  if (checkpoint === undefined) return 'it cannot be read';
  if (checkpoint.origin !== key.name) return `it is of ${checkpoint.origin}`;
  if (signature === 'absent') return 'the key of the ledger did not sign it';
  if (signature === 'wrong') return 'its signature is not that of its text';
  const named = leaves.flatMap(({ leaf }) =>
    leaf.kind === 'key' && leaf.vkey.startsWith(`${key.name}+`) ? [leaf.vkey] : [],
  );
  const known = named.length === 0 || named.includes(formatVerifierKey(key));
  return known ? undefined : 'the ledger names another key';
}

/** The first leaf that says when it was made. */
function sinceOf(leaves: readonly NumberedLeaf[], from: number): Pick<Finding, 'at'> {
  for (const { index, leaf } of leaves) {
    if (index >= from && 'at' in leaf) return { at: leaf.at };
  }
  return {};
}

const EDITED_MAX = 20; // more say no more

/** Which leaves, where the stored hashes still are those that were signed. */
function editedLeaves(
  { size, root }: Checkpoint,
  tree: StoredHashes,
  bytes: Uint8Array,
): readonly Finding[] {
  const stored = new StoredHashes(bytes);
  const usable = stored.size >= size && Buffer.compare(stored.root(size), root) === 0;
  const edited: Finding[] = [];
  for (let leaf = 0; usable && leaf < size && edited.length < EDITED_MAX; leaf += 1) {
    const same = Buffer.compare(stored.leaf(leaf), tree.leaf(leaf)) === 0;
    if (!same) edited.push({ verdict: 'ledger_edited', leaf });
  }
  return edited.length === 0 ? [{ verdict: 'ledger_edited' }] : edited;
}

function checkAnchored(
  anchors: readonly Anchor[],
  tree: StoredHashes,
  checkpoint: Checkpoint | undefined,
): Pick<LedgerReading, 'anchor' | 'noted' | 'findings'> {
  const findings: Finding[] = [];
  let [anchor, noted]: (Anchor | undefined)[] = [];
  for (const one of anchors) {
    const { size, kind, where, at, source } = one;
    if (size <= tree.size && one.holds(tree.root(size))) {
      if (source === 'note' && size >= (noted?.size ?? 0)) noted = one;
      if (source !== 'note' && size >= (anchor?.size ?? 0)) anchor = one;
      continue;
    }
    const older = checkpoint !== undefined && size > checkpoint.size;
    findings.push({
      verdict: older ? 'rolled_back' : 'history_rewritten',
      count: size,
      detail: placeText({ kind, where }),
      ...(at !== undefined && { at }),
    });
  }
  const more = noted !== undefined && noted.size > (anchor?.size ?? 0);
  return { anchor, noted: more ? noted : undefined, findings };
}
