// Proofs about a tree, as RFC 6962 (2.1.1, 2.1.2) has them: that a leaf is in it, and that it
// contains a smaller tree as its beginning. Whether a proof holds is a fact; nothing here throws
// over a proof that does not.
import { type HashAt, nodeHash, rangeRoot, splitOf } from './tree.ts';

/** From the sibling of the leaf to the child of the root. */
export type Proof = readonly Uint8Array[];

/** That leaf `index` is in the tree of the first `size` leaves. */
export function inclusionProof(index: number, size: number, at: HashAt): Proof {
  if (!isSize(size) || !isSize(index) || index >= size) {
    throw new RangeError(`leaf ${index} of ${size}`);
  }
  return pathOf(index, 0, size, at);
}

function pathOf(index: number, from: number, to: number, at: HashAt): Uint8Array[] {
  if (to - from === 1) return [];
  const middle = from + splitOf(to - from);
  return index < middle
    ? [...pathOf(index, from, middle, at), rangeRoot(middle, to, at)]
    : [...pathOf(index, middle, to, at), rangeRoot(from, middle, at)];
}

export function provesInclusion(
  proof: Proof,
  leaf: Uint8Array,
  index: number,
  tree: TreeHead,
): boolean {
  if (!isSize(tree.size) || !isSize(index) || index >= tree.size) return false;
  const root = includedRoot(proof, leaf, index, tree.size);
  return root !== undefined && same(root, tree.root);
}

export type TreeHead = { readonly size: number; readonly root: Uint8Array };

/** The root that follows from the proof; `index` counts inside the subtree. */
function includedRoot(
  proof: Proof,
  leaf: Uint8Array,
  index: number,
  size: number,
): Uint8Array | undefined {
  if (size === 1) return proof.length === 0 ? leaf : undefined;
  const sibling = proof.at(-1);
  if (sibling === undefined) return undefined;
  const [rest, left] = [proof.slice(0, -1), splitOf(size)];
  if (index < left) {
    const inner = includedRoot(rest, leaf, index, left);
    return inner && nodeHash(inner, sibling);
  }
  const inner = includedRoot(rest, leaf, index - left, size - left);
  return inner && nodeHash(sibling, inner);
}

/** That the tree of `size` leaves begins with the first `old` of them. */
export function consistencyProof(old: number, size: number, at: HashAt): Proof {
  if (!isSize(old) || !isSize(size) || old > size) throw new RangeError(`${old} of ${size}`);
  return old === 0 ? [] : growthOf(old, 0, size, at);
}

function growthOf(old: number, from: number, to: number, at: HashAt): Uint8Array[] {
  if (old === to) return from === 0 ? [] : [rangeRoot(from, to, at)];
  const middle = from + splitOf(to - from);
  return old <= middle
    ? [...growthOf(old, from, middle, at), rangeRoot(middle, to, at)]
    : [...growthOf(old, middle, to, at), rangeRoot(from, middle, at)];
}

/** Every tree begins with the empty one, whose proof is empty. */
export function provesConsistency(proof: Proof, old: TreeHead, tree: TreeHead): boolean {
  if (!isSize(old.size) || !isSize(tree.size) || old.size > tree.size) return false;
  if (old.size === 0) return proof.length === 0;
  const roots = grownRoots(proof, old, 0, tree.size);
  return roots !== undefined && same(roots.old, old.root) && same(roots.tree, tree.root);
}

type GrownRoots = { readonly old: Uint8Array; readonly tree: Uint8Array };

function grownRoots(proof: Proof, old: TreeHead, from: number, to: number): GrownRoots | undefined {
  if (old.size === to) {
    if (from === 0) return proof.length === 0 ? { old: old.root, tree: old.root } : undefined;
    const [only] = proof;
    return proof.length === 1 && only !== undefined ? { old: only, tree: only } : undefined;
  }
  const sibling = proof.at(-1);
  if (sibling === undefined) return undefined;
  const [rest, middle] = [proof.slice(0, -1), from + splitOf(to - from)];
  if (old.size <= middle) {
    const inner = grownRoots(rest, old, from, middle);
    return inner && { old: inner.old, tree: nodeHash(inner.tree, sibling) };
  }
  const inner = grownRoots(rest, old, middle, to);
  return inner && { old: nodeHash(sibling, inner.old), tree: nodeHash(sibling, inner.tree) };
}

function isSize(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function same(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}
