// The tree against RFC 6962's own vectors, against what Go's sumdb/tlog answered once, and against
// the recursive definition of the RFC.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  consistencyProof,
  inclusionProof,
  provesConsistency,
  provesInclusion,
} from '../../src/ledger/proofs.ts';
import {
  hashesOfLeaf,
  leafHash,
  nodeHash,
  rootOf,
  StoredHashes,
  splitOf,
  storedHashCount,
  storedHashIndex,
} from '../../src/ledger/tree.ts';

function treeOf(leaves: readonly (string | Uint8Array)[]): StoredHashes {
  const tree = new StoredHashes();
  for (const leaf of leaves) tree.append(leafHash(leaf));
  return tree;
}

/** MTH of RFC 6962, 2.1, word by word. */
function plainRoot(leaves: readonly string[]): Uint8Array {
  const [only = ''] = leaves;
  if (leaves.length === 0) return createHash('sha256').digest();
  if (leaves.length === 1) return leafHash(only);
  const k = splitOf(leaves.length);
  return nodeHash(plainRoot(leaves.slice(0, k)), plainRoot(leaves.slice(k)));
}

const numbered = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `leaf ${at}\n`);
const base64 = (bytes: Uint8Array | undefined): string =>
  Buffer.from(bytes ?? []).toString('base64');
const size = fc.integer({ min: 1, max: 130 });

describe('the tree', () => {
  it("has the roots of RFC 6962's test data", () => {
    const data = [
      '',
      '00',
      '10',
      '2021',
      '3031',
      '40414243',
      '5051525354555657',
      '606162636465666768696a6b6c6d6e6f',
    ];
    const tree = treeOf(data.map((hex) => Buffer.from(hex, 'hex')));
    const roots = data.map((_, at) => Buffer.from(tree.root(at + 1)).toString('hex'));
    expect(roots).toEqual([
      '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
      'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
      'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
      '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
      '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
      'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
      '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
    ]);
    expect(Buffer.from(tree.root(0)).toString('hex')).toBe(
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    );
  });

  it("stores its hashes as Go's sumdb/tlog does", () => {
    const tree = treeOf(numbered(29));
    expect(tree.bytes.length).toBe(54 * 32);
    expect(createHash('sha256').update(tree.bytes).digest('hex')).toBe(
      '09dc292c3cd4dd1aeef0041937eeede0b9f938dd6002905c0e39606e6b007a48',
    );
    const places: [level: number, n: number, index: number][] = [
      [0, 0, 0],
      [0, 1, 1],
      [1, 0, 2],
      [0, 1000, 1994],
      [3, 5, 92],
      [7, 123, 31_736],
      [20, 3, 8_388_604],
    ];
    for (const [level, n, index] of places) expect(storedHashIndex(level, n)).toBe(index);
    const counts: [leaves: number, hashes: number][] = [
      [0, 0],
      [1, 1],
      [2, 3],
      [3, 4],
      [100, 197],
      [1000, 1994],
      [2 ** 40 + 5, 2_199_023_255_559],
    ];
    for (const [leaves, hashes] of counts) expect(storedHashCount(leaves)).toBe(hashes);
  });

  it("has the roots and proofs that Go's sumdb/tlog gave", () => {
    const { at, root } = ((tree) => ({ at: tree.at, root: tree.root(29) }))(treeOf(numbered(29)));
    expect(base64(root)).toBe('H8OSdvw9s8weU6P9GkoMPWmcNYrkXxxbXCNy48OeUU0=');
    expect(base64(rootOf(21, at))).toBe('SAGdfH4FQzpWihMhusPeAtEvAjZdO0dnHK5wZtfJQjE=');
    expect(inclusionProof(17, 29, at).map(base64)).toEqual([
      'Zjk67dUqInUU7eTewPMIY/94KHjWZgj3D3ljQAoaCRY=',
      'T+jLGaDPJDmTGmMwnLD/h31bO/aoLnDwvCDWNGOqYbo=',
      'LgvDbenFXUzGibQ8hEoBGRY9lo26xP5x58lZGR601BQ=',
      'RrrnvplNY4ijlnr7RgM88uEdEICcV/zivauo5eeu+b0=',
      'NgholscoAJ1VKhba8+Mgvq6EoYBr9mPu2qdecjS5cko=',
    ]);
    expect(consistencyProof(13, 29, at).map(base64)).toEqual([
      '5T8SqxkENXBXEOg5WCCRLeNKasTpDkrI8SQT/nAE4sU=',
      'zsxqqiG7mLSRlxJhV4wj/DddMovP33R0uaNYg2xlJrg=',
      'FL/ZrW4k8QOW/Kf2DbHVu25ZbbzThUkh46rNzJhGtIQ=',
      'DXhBPdevjNZJx8Rz3vJul51G4RZTMeh2xrAU4fJJa8k=',
      '/xEm+GHrcW/bMX+z3VLeV5KrV+c+Nv0T9zjTy9u8MlU=',
      'g9Tqv8jvGI8QJcSCTGV+sum+QXfPd+MFDofgKU4C+gE=',
    ]);
    expect(consistencyProof(16, 29, at).map(base64)).toEqual([
      'g9Tqv8jvGI8QJcSCTGV+sum+QXfPd+MFDofgKU4C+gE=',
    ]);
  });

  it('has the root of the definition, at every size it ever had', () => {
    fc.assert(
      fc.property(size, fc.nat(), (count, some) => {
        const tree = treeOf(numbered(count));
        const earlier = some % (count + 1);
        expect(tree.root(earlier)).toEqual(plainRoot(numbered(earlier)));
        expect(tree.bytes.length).toBe(storedHashCount(count) * 32);
      }),
    );
  });

  it('goes on from the bytes of its file, also when those were cut', () => {
    fc.assert(
      fc.property(size, fc.nat(), (count, some) => {
        const all = treeOf(numbered(count));
        const cut = all.bytes.subarray(0, some % (all.bytes.length + 1));
        const again = new StoredHashes(cut);
        for (const line of numbered(count).slice(again.size)) again.append(leafHash(line));
        expect(again.bytes).toEqual(all.bytes);
      }),
    );
  });

  it('says what a leaf adds without holding the whole', () => {
    const tree = treeOf(numbered(7));
    const added = hashesOfLeaf(7, leafHash('leaf 7\n'), tree.at);
    expect(added).toHaveLength(4);
    expect(tree.append(leafHash('leaf 7\n'))).toEqual(added);
    expect(() => tree.at(15)).toThrow(RangeError);
  });
});

describe('a proof', () => {
  it('of inclusion holds for its leaf, place and tree alone', () => {
    fc.assert(
      fc.property(size, fc.nat(), fc.nat(), (count, some, other) => {
        const tree = treeOf(numbered(count));
        const index = some % count;
        const head = { size: count, root: tree.root() };
        const proof = inclusionProof(index, count, tree.at);
        const leaf = tree.leaf(index);
        expect(provesInclusion(proof, leaf, index, head)).toBe(true);
        const elsewhere = other % (count + 2);
        expect(provesInclusion(proof, leaf, elsewhere, head)).toBe(elsewhere === index);
        const another = leafHash('another\n');
        expect(provesInclusion(proof, another, index, head)).toBe(false);
        expect(provesInclusion([...proof, another], leaf, index, head)).toBe(false);
        const changed = proof.map((hash, at) => (at === other % proof.length ? another : hash));
        expect(provesInclusion(changed, leaf, index, head)).toBe(proof.length === 0);
        expect(provesInclusion(proof.slice(1), leaf, index, head)).toBe(proof.length === 0);
      }),
    );
  });

  it('of consistency holds for a beginning and no other history', () => {
    fc.assert(
      fc.property(size, fc.nat(), fc.nat(), (count, some, other) => {
        const tree = treeOf(numbered(count));
        const old = some % (count + 1);
        const [before, now] = [old, count].map((at) => ({ size: at, root: tree.root(at) }));
        if (before === undefined || now === undefined) throw new Error('two heads');
        const proof = consistencyProof(old, count, tree.at);
        expect(provesConsistency(proof, before, now)).toBe(true);
        const another = leafHash('another\n');
        expect(provesConsistency([...proof, another], before, now)).toBe(false);
        if (old > 0) {
          expect(provesConsistency(proof, { ...before, root: another }, now)).toBe(false);
          expect(provesConsistency(proof, before, { ...now, root: another })).toBe(false);
        }
        const changed = proof.map((hash, at) => (at === other % proof.length ? another : hash));
        expect(provesConsistency(changed, before, now)).toBe(proof.length === 0);
        expect(provesConsistency(proof, { ...before, size: count + 1 }, now)).toBe(false);
      }),
    );
  });

  it('is refused for leaves that are not there', () => {
    const { at } = treeOf(numbered(3));
    expect(() => inclusionProof(3, 3, at)).toThrow(RangeError);
    expect(() => inclusionProof(-1, 3, at)).toThrow(RangeError);
    expect(() => consistencyProof(4, 3, at)).toThrow(RangeError);
    expect(provesInclusion([], leafHash('x'), 0, { size: 0, root: leafHash('x') })).toBe(false);
  });
});
