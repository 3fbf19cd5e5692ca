// Reads what is at the places of the anchors, so that a verification need not believe what the
// ledger notes about itself: who can change the ledger can change its notes, too. The places are
// those that the settings, the notes and the leaves name.

import { messageOf } from '../../errors.ts';
import { type Checkpoint, checkpointOf } from '../../ledger/checkpoint.ts';
import { parseLeaf } from '../../ledger/leaf.ts';
import { parseNote } from '../../ledger/note.ts';
import { cosignedAt } from '../../ledger/witness.ts';
import { asString, parseObject } from '../../text/json.ts';
import { ledgerLines } from '../leaf-lines.ts';
import { readSmall, sealFile } from '../place.ts';
import type { OutsideReading } from '../verify/outside.ts';
import { cosignedSize, PLACES, signedHead } from './anchoring.ts';
import type { AnchorTools, OutsideHead, SignedHead } from './place.ts';
import { putAnchors } from './record.ts';
import { type AnchorTarget, readTarget, witnessOf } from './target.ts';
import { wantedAnchors } from './wanted.ts';
import { askWitness, WitnessObjection } from './witness.ts';

/** Never rejects: a place that cannot be read says why. */
export async function readOutside(
  origin: string,
  tools: AnchorTools,
): Promise<readonly OutsideReading[]> {
  const noted = [...putAnchors(tools.stateRoot), ...anchorLeaves(tools.stateRoot)];
  const { targets } = await wantedAnchors(tools);
  const named = noted.flatMap(({ kind, where }) => {
    const reading = readTarget(`${kind} ${where}`);
    return 'target' in reading ? [reading.target] : [];
  });
  const all = new Map([...targets, ...named].map((one) => [`${one.kind} ${one.where}`, one]));
  const readable = [...all.values()].filter(
    ({ kind }) => kind === 'witness' || PLACES[kind]?.read !== undefined,
  );
  const readings = await Promise.all(readable.map((one) => readOne(origin, one, tools)));
  // Nothing was put there yet.
  return readings.filter(
    ({ kind, where, heads = [] }) =>
      heads.length > 0 || named.some((one) => one.kind === kind && one.where === where),
  );
}

async function readOne(
  origin: string,
  target: AnchorTarget,
  tools: AnchorTools,
): Promise<OutsideReading> {
  const { kind, where } = target;
  try {
    if (kind === 'witness') return { kind, where, ...(await readWitness(origin, where, tools)) };
    const heads = (await PLACES[kind]?.read?.(origin, where, tools)) ?? [];
    return { kind, where, heads };
  } catch (error) {
    return { kind, where, why: messageOf(error) };
  }
}

type WitnessReading = Pick<OutsideReading, 'heads' | 'why' | 'objection'>;

/** Its signatures count whether or not it answers now; asked, it compares with what it has seen. */
async function readWitness(
  origin: string,
  where: string,
  tools: AnchorTools,
): Promise<WitnessReading> {
  const heads = cosignedHeads(origin, where, tools.stateRoot);
  const head = signedHead(tools.stateRoot);
  if (head?.origin !== origin) return { heads, why: 'there is no signed checkpoint to ask with' };
  try {
    return { heads: [...heads, await askedHead(head, where, tools)] };
  } catch (error) {
    if (error instanceof WitnessObjection) {
      const size = error.size ?? head.size;
      return { heads, objection: { size, words: error.message } };
    }
    return { heads, why: messageOf(error) };
  }
}

async function askedHead(
  head: SignedHead,
  where: string,
  tools: AnchorTools,
): Promise<OutsideHead> {
  try {
    const { at } = await askWitness(head, where, cosignedSize(tools.stateRoot, where), tools);
    return { size: head.size, root: head.root, at };
  } catch (error) {
    const seen = error instanceof WitnessObjection ? error.size : undefined;
    const now = signedHead(tools.stateRoot);
    // A server signed and showed it more, while we were asking.
    if (seen === undefined || now === undefined || now.size < seen) throw error;
    const { at } = await askWitness(now, where, seen, tools);
    return { size: now.size, root: now.root, at };
  }
}

/** Of the cosigned notes that are kept in the record. */
function cosignedHeads(origin: string, where: string, stateRoot: string): OutsideHead[] {
  const key = witnessOf(where)?.key;
  if (key === undefined) return [];
  return cosignedNotes(stateRoot).flatMap(({ place, text }) => {
    const note = place === where ? parseNote(text) : undefined;
    const head: Checkpoint | undefined = note && checkpointOf(note);
    const seconds = note && cosignedAt(note, key);
    if (head?.origin !== origin || seconds === undefined) return [];
    return [{ size: head.size, root: head.root, at: seconds * 1000 }];
  });
}

/** The notes with which witnesses answered, oldest first. Never throws. */
export function cosignedNotes(stateRoot: string): readonly { place: string; text: string }[] {
  return notesOf(stateRoot).flatMap((line) => {
    const json = line === '' ? undefined : parseObject(line);
    const [place, text] = [asString(json?.where), asString(json?.receipt)];
    const own = json?.kind === 'witness' && place !== undefined && text !== undefined;
    return own ? [{ place, text }] : [];
  });
}

function notesOf(stateRoot: string): string[] {
  try {
    return (readSmall(sealFile(stateRoot, 'anchors.jsonl')) ?? '').split('\n');
  } catch {
    return []; // as if there were none
  }
}

const ANCHOR = Buffer.from('cuff/1 anchor ');

/** They are signed with the rest, so that a line that was taken out of the notes is still there. */
function anchorLeaves(stateRoot: string): { kind: string; where: string }[] {
  const found: { kind: string; where: string }[] = [];
  try {
    for (const { bytes } of ledgerLines(stateRoot)) {
      if (!bytes.subarray(0, ANCHOR.length).equals(ANCHOR)) continue;
      const leaf = parseLeaf(bytes.toString('latin1'));
      if (leaf?.kind === 'anchor') found.push({ kind: leaf.anchor, where: leaf.where ?? '' });
    }
  } catch {
    // as if there were none
  }
  return found;
}
