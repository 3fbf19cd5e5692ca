// What the places of the anchors said, against what the ledger notes about them. A note whose place
// was read counts only if the root is there; what is there counts also without a note.

import type { Anchor } from './anchors.ts';
import type { Finding } from './findings.ts';

export type OutsideReading = {
  readonly kind: string;
  readonly where: string;
  /** Undefined: it could not be read. */
  readonly heads?: readonly {
    readonly size: number;
    readonly root: Uint8Array;
    readonly at: number | undefined;
  }[];
  /** Why it could not be read, or asked, in one clause. */
  readonly why?: string;
  /** A witness knows another ledger of this name. */
  readonly objection?: { readonly size: number; readonly words: string };
};

type Comparison = {
  readonly anchors: readonly Anchor[];
  readonly findings: readonly Finding[];
};

export function compareOutside(
  noted: readonly Anchor[],
  readings: readonly OutsideReading[],
): Comparison {
  const read = readings.filter(({ heads }) => heads !== undefined);
  const kept = noted.filter((one) => !read.some((reading) => isAt(one, reading)));
  const findings = read.flatMap((reading): Finding[] => {
    const gone = noted.filter((one) => isAt(one, reading) && !isThere(one, reading));
    if (gone.length === 0) return [];
    return [{ verdict: 'anchor_missing', count: gone.length, detail: placeText(reading) }];
  });
  return {
    anchors: [...kept, ...read.flatMap(headsOf), ...readings.flatMap(objectionOf)],
    findings,
  };
}

function isAt(one: Anchor, { kind, where }: OutsideReading): boolean {
  return one.kind === kind && one.where === where;
}

function isThere(one: Anchor, { heads = [] }: OutsideReading): boolean {
  return heads.some(({ size, root }) => size === one.size && one.holds(root));
}

function headsOf({ kind, where, heads = [] }: OutsideReading): Anchor[] {
  return heads.map(({ size, root, at }) => ({
    at,
    kind,
    where,
    size,
    source: 'place',
    holds: (other) => Buffer.compare(root, other) === 0,
  }));
}

function objectionOf({ kind, where, objection }: OutsideReading): Anchor[] {
  if (objection === undefined) return [];
  const { size, words } = objection;
  const place = placeText({ kind, where });
  return [{ at: undefined, kind: place, where: words, size, source: 'place', holds: () => false }];
}

/** Without the key of a witness, which is too long to be read. */
export function placeText({ kind, where }: { readonly kind: string; readonly where: string }) {
  const shown = kind === 'witness' ? where.split(' ')[0] : where;
  return `${kind} ${shown}`.trim();
}
