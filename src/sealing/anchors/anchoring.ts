// Puts the signed root of the ledger at the places that the user named. Each has its time; one that
// fails is noted and holds up none of the others. What was put somewhere becomes a line of
// `anchors.jsonl` and a leaf.

import { messageOf } from '../../errors.ts';
import { checkpointOf } from '../../ledger/checkpoint.ts';
import { checkSignature, formatNote, parseNote } from '../../ledger/note.ts';
import { signerOf } from '../keys.ts';
import type { Ledger } from '../ledger.ts';
import { readSmall, sealFile } from '../place.ts';
import { anchorCode } from '../verify/anchors.ts';
import { GIT } from './git.ts';
import { FILE, JOURNAL } from './lines.ts';
import type { AnchorPlace, AnchorTools, Receipt, SignedHead } from './place.ts';
import { AnchorTrouble } from './place.ts';
import { noteAnchor, noteTroubles, putAnchors } from './record.ts';
import type { AnchorKind, AnchorTarget } from './target.ts';
import { askWitness } from './witness.ts';

export const PLACES: Readonly<Partial<Record<AnchorKind, AnchorPlace>>> = {
  file: FILE,
  git: GIT,
  journal: JOURNAL,
};

export type AnchorResult = {
  readonly target: AnchorTarget;
  /** Undefined: it is there. Else one clause. */
  readonly trouble: string | undefined;
};

/** The last one that was signed, if its signature is that of the ledger. */
export function signedHead(stateRoot: string): SignedHead | undefined {
  const note = parseNote(readSmall(sealFile(stateRoot, 'checkpoint')) ?? '');
  const checkpoint = note && checkpointOf(note);
  const key = signerOf(stateRoot)?.verifier;
  if (note === undefined || checkpoint === undefined || key === undefined) return undefined;
  return checkSignature(note, key) === 'verified' ? { ...checkpoint, note } : undefined;
}

/** Never rejects over a place; rejects with the error of the system call that reads the ledger. */
export async function anchorHead(
  ledger: Ledger,
  head: SignedHead,
  targets: readonly AnchorTarget[],
  tools: AnchorTools,
): Promise<readonly AnchorResult[]> {
  const active = targets.filter(({ kind }) => kind !== 'trailer');
  const witnesses = active.filter(({ kind }) => kind === 'witness');
  const others = active.filter(({ kind }) => kind !== 'witness');
  const results = await Promise.all([
    oneAfterAnother(ledger, head, witnesses, tools),
    ...others.map(async (target) => [(await put(ledger, head, target, tools)).result]),
  ]);
  const all = results.flat();
  const failed = all.flatMap(({ target, trouble: why }) =>
    why === undefined ? [] : [{ ...target, at: tools.now(), why }],
  );
  noteTroubles(tools.stateRoot, active, failed);
  return all;
}

/** Each witness gets the note with the lines of those before it, so that the last one has all. */
async function oneAfterAnother(
  ledger: Ledger,
  head: SignedHead,
  targets: readonly AnchorTarget[],
  tools: AnchorTools,
): Promise<AnchorResult[]> {
  const results: AnchorResult[] = [];
  let { note } = head;
  for (const target of targets) {
    const done = await put(ledger, { ...head, note }, target, tools);
    note = done.note ?? note;
    results.push(done.result);
  }
  return results;
}

async function put(
  ledger: Ledger,
  head: SignedHead,
  target: AnchorTarget,
  tools: AnchorTools,
): Promise<{ readonly result: AnchorResult; readonly note?: Receipt['note'] }> {
  try {
    const { receipt, note } = await receiptOf(head, target, tools);
    noteAnchor(tools.stateRoot, target, head, { at: tools.now(), receipt });
    const { kind, where } = target;
    ledger.note({ kind: 'anchor', anchor: kind, size: head.size, where: where || null });
    return { result: { target, trouble: undefined }, ...(note !== undefined && { note }) };
  } catch (error) {
    return { result: { target, trouble: messageOf(error) } };
  }
}

async function receiptOf(
  head: SignedHead,
  { kind, where }: AnchorTarget,
  tools: AnchorTools,
): Promise<Receipt> {
  if (kind === 'print') return { receipt: anchorCode(head) };
  if (kind === 'witness') {
    const { note } = await askWitness(head, where, cosignedSize(tools.stateRoot, where), tools);
    return { receipt: formatNote(note), note };
  }
  const place = PLACES[kind];
  if (place === undefined) throw new AnchorTrouble('it is written by the agent, with a commit');
  return place.put(head, where, tools);
}

/** How much the witness has seen, as far as it is noted here; where it is more it says so. */
export function cosignedSize(stateRoot: string, where: string): number {
  const own = putAnchors(stateRoot).filter((one) => one.kind === 'witness' && one.where === where);
  return own.reduce((most, { size }) => Math.max(most, size), 0);
}
