// What the ledger was anchored with: lines {"at","kind","size","root","where","receipt"} of
// `anchors.jsonl`. Each says that the first `size` leaves had this root when it was written, at a
// place that the writer of the ledger cannot change. The file itself lies beside the ledger: it
// says where to look, and a person who wants certainty brings the root from there (`--at`).
import { fromBase64 } from '../../ledger/base64.ts';
import type { TreeHead } from '../../ledger/proofs.ts';
import { HASH_BYTES } from '../../ledger/tree.ts';
import { asCount, asString, parseObject } from '../../text/json.ts';

export type Anchor = {
  /** Epoch milliseconds; undefined where the reader does not know. */
  readonly at: number | undefined;
  readonly kind: string;
  readonly where: string;
  readonly size: number;
  readonly holds: (root: Uint8Array) => boolean;
};

/** Lines that are none are left out. */
export function anchorsIn(text: string): readonly Anchor[] {
  return text.split('\n').flatMap((line) => {
    const json = line === '' ? undefined : parseObject(line);
    const [size, kind] = [asCount(json?.size), asString(json?.kind)];
    const root = fromBase64(asString(json?.root) ?? '', HASH_BYTES);
    if (size === undefined || kind === undefined || root === undefined) return [];
    const at = Date.parse(asString(json?.at) ?? '');
    const where = asString(json?.where) ?? '';
    return [{ at: Number.isNaN(at) ? undefined : at, kind, where, ...headOf({ size, root }) }];
  });
}

function headOf({ size, root: wanted }: TreeHead): Pick<Anchor, 'size' | 'holds'> {
  return { size, holds: (root) => Buffer.compare(root, wanted) === 0 };
}

/** An anchor that a person brought: a checkpoint that was kept elsewhere. */
export function givenAnchor(head: TreeHead, where: string): Anchor {
  return { at: undefined, kind: 'given', where, ...headOf(head) };
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const CODE_BITS = 100;
const BITS_PER_LETTER = 5;

/** `CUFF 20852 7KQ2M-3XA..`: the size and 100 bits of the root, for paper. */
export function anchorCode({ size, root }: TreeHead): string {
  return `CUFF ${size} ${letters(root).replace(/.{5}(?=.)/g, '$&-')}`;
}

/** A code as a person typed it; undefined for anything else. */
export function anchorOfCode(text: string): Anchor | undefined {
  const [, size, code = ''] = /^\s*CUFF\s+(\d{1,15})\s+([A-Z2-7 -]+?)\s*$/i.exec(text) ?? [];
  const wanted = code.replace(/[ -]/g, '').toUpperCase();
  if (size === undefined || wanted.length !== CODE_BITS / BITS_PER_LETTER) return undefined;
  const holds = (root: Uint8Array): boolean => letters(root) === wanted;
  return { at: undefined, kind: 'given', where: 'a code', size: Number(size), holds };
}

function letters(root: Uint8Array): string {
  const bits = [...root].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.slice(0, CODE_BITS).match(/.{5}/g) ?? [])
    .map((five) => LETTERS[Number.parseInt(five, 2)])
    .join('');
}
