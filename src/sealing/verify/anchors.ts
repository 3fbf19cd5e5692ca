// What the ledger was anchored with: lines {"at","kind","size","root","where","receipt"} of
// `anchors.jsonl`. Each says that the first `size` leaves had this root when it was written, at a
// place that the writer of the ledger cannot change. The file itself lies beside the ledger: it
// says where to look, and src/sealing/anchors/outside.ts looks there. What it cannot read a person
// brings (`--at`): a code, a trailer `Cuff-Seal: SIZE:ROOT`, or a copy of the checkpoint.
import { base64, fromBase64 } from '../../ledger/base64.ts';
import { parseSize } from '../../ledger/checkpoint.ts';
import type { TreeHead } from '../../ledger/proofs.ts';
import { HASH_BYTES } from '../../ledger/tree.ts';
import { asCount, asString, parseObject } from '../../text/json.ts';

export type Anchor = {
  /** Epoch milliseconds; undefined where the reader does not know. */
  readonly at: number | undefined;
  readonly kind: string;
  readonly where: string;
  readonly size: number;
  /** Who says so: a note beside the ledger, the place itself, or a person. */
  readonly source: 'note' | 'place' | 'person';
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
    return [
      {
        at: Number.isNaN(at) ? undefined : at,
        kind,
        where,
        source: 'note',
        ...headOf({ size, root }),
      },
    ];
  });
}

function headOf({ size, root: wanted }: TreeHead): Pick<Anchor, 'size' | 'holds'> {
  return { size, holds: (root) => Buffer.compare(root, wanted) === 0 };
}

/** An anchor that a person brought: a checkpoint that was kept elsewhere. */
export function givenAnchor(head: TreeHead, where: string): Anchor {
  return { at: undefined, kind: 'given', where, source: 'person', ...headOf(head) };
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const CODE_BITS = 100;
const BITS_PER_LETTER = 5;

/** `CUFF 20852 7KQ2-M3XA-..`: the size and 100 bits of the root, for paper. */
export function anchorCode({ size, root }: TreeHead): string {
  return `CUFF ${size} ${letters(root).replace(/.{4}(?=.)/g, '$&-')}`;
}

/** `SIZE:ROOT`, for the commits of agents. */
export function trailerOf({ size, root }: TreeHead): string {
  return `${size}:${base64(root)}`;
}

function anchorOfTrailer(text: string): Anchor | undefined {
  const [, sizeText = '', rootText = ''] =
    /^\s*(?:Cuff-Seal:\s*)?(\d{1,15}):([A-Za-z0-9+/]{43}=)\s*$/i.exec(text) ?? [];
  const [size, root] = [parseSize(sizeText), fromBase64(rootText, HASH_BYTES)];
  if (size === undefined || root === undefined) return undefined;
  return givenAnchor({ size, root }, 'a trailer');
}

/** A code or a trailer as a person typed it; undefined for anything else. */
export function anchorOfCode(text: string): Anchor | undefined {
  const trailer = anchorOfTrailer(text);
  if (trailer !== undefined) return trailer;
  const [, size, code = ''] = /^\s*CUFF\s+(\d{1,15})\s+([A-Z2-7 -]+?)\s*$/i.exec(text) ?? [];
  const wanted = code.replace(/[ -]/g, '').toUpperCase();
  if (size === undefined || wanted.length !== CODE_BITS / BITS_PER_LETTER) return undefined;
  const holds = (root: Uint8Array): boolean => letters(root) === wanted;
  const from = { at: undefined, kind: 'given', where: 'a code', source: 'person' } as const;
  return { ...from, size: Number(size), holds };
}

function letters(root: Uint8Array): string {
  const bits = [...root].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.slice(0, CODE_BITS).match(/.{5}/g) ?? [])
    .map((five) => LETTERS[Number.parseInt(five, 2)])
    .join('');
}
