// How old the last anchor is, and which ones failed, for those who look after a machine.

import { existsSync } from 'node:fs';
import { formatDuration } from '../../text/duration.ts';
import { printable } from '../../text/printable.ts';
import { sealFile } from '../place.ts';
import { placeText } from '../verify/outside.ts';
import { type FailedAnchor, failedAnchors, type PutAnchor, putAnchors } from './record.ts';

export type AnchorState = {
  readonly last: PutAnchor | undefined;
  /** Of the last try of each place. */
  readonly failed: readonly FailedAnchor[];
};

/** Undefined where there is no ledger. Never throws. */
export function anchorState(stateRoot: string): AnchorState | undefined {
  if (!existsSync(sealFile(stateRoot, 'checkpoint'))) return undefined;
  return { last: putAnchors(stateRoot).at(-1), failed: failedAnchors(stateRoot) };
}

/** `3m ago (file /mnt/x)`; undefined where there is none. */
export function lastAnchorText({ last }: AnchorState, now: number): string | undefined {
  if (last === undefined) return undefined;
  const minutes = Math.floor(Math.max(0, now - last.at) / MINUTE_MS) * MINUTE_MS;
  const age = minutes === 0 ? 'less than a minute' : formatDuration(minutes);
  return `${age} ago (${printable(placeText(last))})`;
}

const MINUTE_MS = 60_000;

/** A sentence for each. */
export function failedAnchorTexts({ failed }: AnchorState): string[] {
  return failed.map(
    (one) => `The ledger was not anchored: ${printable(placeText(one))}: ${printable(one.why)}.`,
  );
}

/** As programs get it. */
export function anchorStateJson({ last, failed }: AnchorState) {
  return {
    last: last === undefined ? null : { ...last, at: new Date(last.at).toISOString() },
    failed: failed.map((one) => ({ ...one, at: new Date(one.at).toISOString() })),
  };
}
