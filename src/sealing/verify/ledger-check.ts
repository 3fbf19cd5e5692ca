// The ledger by itself: are the leaves those that were signed, and those that were anchored? What
// the leaves say about journals is compared elsewhere, also when the answer is no.
import { type Checkpoint, checkpointOf } from '../../ledger/checkpoint.ts';
import { type Leaf, parseLeaf } from '../../ledger/leaf.ts';
import { checkSignature, parseNote } from '../../ledger/note.ts';
import { formatVerifierKey, type VerifierKey } from '../../ledger/note-keys.ts';
import { leafHash, StoredHashes } from '../../ledger/tree.ts';
import type { Anchor } from './anchors.ts';
import type { Finding } from './findings.ts';

export type LedgerFiles = {
  readonly leaves: Uint8Array;
  /** Derived; only to say which leaf was edited. */
  readonly hashes: Uint8Array;
  readonly checkpoint: string | undefined;
  readonly anchors: readonly Anchor[];
  /** Of the ledger. */
  readonly key: VerifierKey | undefined;
};

export type NumberedLeaf = { readonly index: number; readonly leaf: Leaf };

export type LedgerReading = {
  readonly leaves: readonly NumberedLeaf[];
  /** Lines that have an end. */
  readonly size: number;
  /** How many of them a good checkpoint covers. */
  readonly signed: number;
  readonly checkpoint: Checkpoint | undefined;
  /** The largest one that holds. */
  readonly anchor: Anchor | undefined;
  readonly findings: readonly Finding[];
};

export function readLedger(files: LedgerFiles): LedgerReading {
  const lines = linesOf(files.leaves);
  const tree = new StoredHashes();
  for (const line of lines) tree.append(leafHash(line));
  const leaves = lines.flatMap((line, index) => {
    const leaf = parseLeaf(line.toString('latin1'));
    return leaf === undefined ? [] : [{ index, leaf }];
  });
  const signing = checkSigned(files, tree, leaves);
  const anchored = checkAnchored(files.anchors, tree, signing.checkpoint);
  return {
    leaves,
    size: tree.size,
    ...signing,
    anchor: anchored.anchor,
    findings: [...signing.findings, ...anchored.findings],
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

type Signing = Pick<LedgerReading, 'signed' | 'checkpoint' | 'findings'>;

function checkSigned(
  { checkpoint: text, key, hashes }: LedgerFiles,
  tree: StoredHashes,
  leaves: readonly NumberedLeaf[],
): Signing {
  if (text === undefined) {
    const unsigned: Finding = { verdict: 'unsigned', count: tree.size, ...sinceOf(leaves, 0) };
    return { signed: 0, checkpoint: undefined, findings: tree.size === 0 ? [] : [unsigned] };
  }
  const note = parseNote(text);
  const checkpoint = note && checkpointOf(note);
  const trouble = troubleWith(note && key && checkSignature(note, key), checkpoint, key, leaves);
  if (trouble !== undefined || checkpoint === undefined) {
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
  const rest = tree.size - size;
  const unsigned: Finding = { verdict: 'unsigned', count: rest, ...sinceOf(leaves, size) };
  return { signed: size, checkpoint, findings: rest === 0 ? [] : [unsigned] };
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
  const named = leaves.flatMap(({ leaf }) => (leaf.kind === 'key' ? [leaf.vkey] : []));
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
): Pick<LedgerReading, 'anchor' | 'findings'> {
  const findings: Finding[] = [];
  let best: Anchor | undefined;
  for (const anchor of anchors) {
    const { size, kind, where, at } = anchor;
    if (size <= tree.size && anchor.holds(tree.root(size))) {
      if (size >= (best?.size ?? 0)) best = anchor;
      continue;
    }
    const older = checkpoint !== undefined && size > checkpoint.size;
    findings.push({
      verdict: older ? 'rolled_back' : 'history_rewritten',
      count: size,
      detail: `${kind} ${where}`.trim(),
      ...(at !== undefined && { at }),
    });
  }
  return { anchor: best, findings };
}
