// Everything that is not sealed yet, sealed and anchored now: what `cuff seal` and the page do.

import { base64 } from '../ledger/base64.ts';
import { thisProcess } from '../run/processes.ts';
import type { Store } from '../shell/captures.ts';
import { type AnchorResult, anchorHead } from './anchors/anchoring.ts';
import type { AnchorTools, SignedHead } from './anchors/place.ts';
import { hasNewsFor } from './anchors/record.ts';
import { wantedAnchors } from './anchors/wanted.ts';
import { sealCaptures } from './captures.ts';
import { sealLate } from './late.ts';
import type { Ledger } from './ledger.ts';
import { signedOrThrow } from './signed.ts';
import { anchorCode } from './verify/anchors.ts';

export type SealReport = {
  readonly head: SignedHead;
  readonly late: number;
  readonly captures: number;
  readonly anchors: readonly AnchorResult[];
  readonly notices: readonly string[];
  /** How many places are named, and how many of them one can anchor to here. */
  readonly named: number;
  readonly wanted: number;
};

type Tools = AnchorTools & { readonly store: Store; readonly directory: string };

/** Throws `state_unwritable` where the ledger cannot be signed. */
export async function sealAll(ledger: Ledger, tools: Tools): Promise<SealReport> {
  const { store, directory } = tools;
  const owner = thisProcess();
  const late = await sealLate({ ledger, store, directory, owner });
  const captures = await sealCaptures({ ledger, store, owner });
  const head = signedOrThrow(await ledger.sign(), ledger, tools.stateRoot);
  const { targets, notices } = await wantedAnchors(tools);
  const wanted = targets.filter(({ kind }) => kind !== 'print' && kind !== 'trailer');
  const due = wanted.filter((one) => hasNewsFor(one, tools.stateRoot, head.size));
  const anchors = await anchorHead(ledger, head, due, tools);
  const counts = { named: targets.length, wanted: wanted.length };
  return { head, late, captures, anchors, notices, ...counts };
}

export function headJson(head: SignedHead) {
  const { origin, size, root } = head;
  return { origin, size, root: base64(root), code: anchorCode(head) };
}

export function anchorsJson(anchors: readonly AnchorResult[], { size }: SignedHead) {
  return anchors.map(({ target, trouble }) => ({ ...target, size, trouble: trouble ?? null }));
}
