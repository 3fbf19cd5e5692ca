// Proves one entry: the leaf that commits to its line, and the way from that leaf to a root that
// the key of the ledger signed. What a proof looks like as a file is described in verify/proof.ts.
// The tree is made anew from the leaves, so a proof never rests on a derived file.

import { AppError } from '../errors.ts';
import { linesOf } from '../journal/entry-lines.ts';
import { type SaltedLine, saltedLineOf } from '../journal/entry-parts.ts';
import { findSessionFiles } from '../journal/files.ts';
import { storedMetadata } from '../journal/reader.ts';
import { base64url } from '../ledger/base64.ts';
import { checkpointOf } from '../ledger/checkpoint.ts';
import { ENTRY_PARTS, type EntryPart } from '../ledger/commitments.ts';
import { type LeafOf, parseLeaf } from '../ledger/leaf.ts';
import { checkSignature, type Note, parseNote } from '../ledger/note.ts';
import { inclusionProof } from '../ledger/proofs.ts';
import { formatTlogProof } from '../ledger/tlog-proof.ts';
import { leafHash, StoredHashes } from '../ledger/tree.ts';
import { printable } from '../text/printable.ts';
import type { Entry } from '../types.ts';
import { signerOf } from './keys.ts';
import { ledgerLines } from './leaf-lines.ts';
import { readSmall, sealFile } from './place.ts';
import { type SealerOptions, signLeaves } from './sealer.ts';
import { saltedParts } from './verify/lines.ts';

/** An entry and where its line is. */
export type PlacedEntry = Pick<Entry, 'entry_id' | 'session_id' | 'sequence_number'> & {
  readonly directory: string;
};

type ProvenPart = { readonly salt: string; readonly data: string };

export type ProvenEntry = {
  readonly id: string;
  readonly leaf: LeafOf<'entry'>;
  /** The leaf as the ledger has it, with its `\n`. */
  readonly line: string;
  /** A C2SP tlog-proof. */
  readonly proof: string;
  /** A part of which there is nothing is not there; neither is one that was redacted. */
  readonly parts: Partial<Record<EntryPart, ProvenPart>>;
  /** What is said of a part that was redacted. */
  readonly redacted: Partial<Record<EntryPart, string>>;
};

/** Signs the ledger first where it has to. Throws `not_provable` with the reason. */
export async function proveEntry(entry: PlacedEntry, ledger: SealerOptions): Promise<ProvenEntry> {
  const line = lineOf(entry);
  const parts = line === undefined ? [] : saltedParts(line);
  const facts = parts.find(({ part }) => part === 'facts')?.commitment ?? undefined;
  let look = lookAt(ledger.stateRoot, entry, facts);
  if (look.found !== undefined && look.found.index >= look.signed) {
    await signNow(entry, ledger);
    look = lookAt(ledger.stateRoot, entry, facts);
  }
  const { found, note, tree } = look;
  if (found === undefined) throw withoutLeaf(entry, ledger.stateRoot, look.sameNumber);
  if (note === undefined || found.index >= look.signed) throw notSigned(entry, 'it was not signed');
  const shown: Partial<Record<EntryPart, ProvenPart>> = {};
  const redacted: Partial<Record<EntryPart, string>> = {};
  for (const part of ENTRY_PARTS) {
    const own = parts.find((one) => one.part === part);
    const why = look.redacted.get(part);
    if (own === undefined && why !== undefined) redacted[part] = why;
    else if (own?.commitment !== found.leaf[part]) throw changed(entry, part);
    else if (own.content !== undefined) {
      // As its bytes were hashed: half a character counts as the sign for none.
      shown[part] = { salt: base64url(own.salt), data: own.content.toWellFormed() };
    }
  }
  const path = inclusionProof(found.index, look.signed, tree.at);
  const proof = formatTlogProof({ index: found.index, proof: path, checkpoint: note });
  return { id: entry.entry_id, leaf: found.leaf, line: found.line, proof, parts: shown, redacted };
}

function lineOf({ directory, session_id, entry_id }: PlacedEntry): SaltedLine | undefined {
  const files = findSessionFiles(directory, session_id);
  if (files === undefined) return undefined;
  const wanted = Buffer.from(JSON.stringify(entry_id));
  for (const { bytes, complete } of linesOf(files.entries, 0)) {
    if (!complete || !bytes.includes(wanted)) continue;
    const line = saltedLineOf(bytes.toString());
    if (line?.json.entry_id === entry_id) return line;
  }
  return undefined;
}

type FoundLeaf = {
  readonly index: number;
  readonly leaf: LeafOf<'entry'>;
  readonly line: string;
};

type Look = {
  readonly note: Note | undefined;
  /** How many leaves it signs, and the tree over these. */
  readonly signed: number;
  readonly tree: StoredHashes;
  readonly found: FoundLeaf | undefined;
  /** There is a leaf of this number that commits to something else. */
  readonly sameNumber: boolean;
  readonly redacted: ReadonlyMap<EntryPart, string>;
};

/** Once through the ledger. */
function lookAt(
  stateRoot: string,
  { session_id, sequence_number }: PlacedEntry,
  facts: string | undefined,
): Look {
  const signing = signingOf(stateRoot);
  const signed = signing?.size ?? 0;
  const tree = new StoredHashes();
  const number = Buffer.from(` ${session_id} ${sequence_number} `);
  const redacted = new Map<EntryPart, string>();
  let found: FoundLeaf | undefined;
  let sameNumber = false;
  let index = 0;
  for (const { bytes } of ledgerLines(stateRoot)) {
    if (index < signed) tree.append(leafHash(bytes));
    const near = bytes.includes(number) || (facts !== undefined && bytes.includes(` ${facts} `));
    const line = near ? bytes.toString() : '';
    const leaf = near ? parseLeaf(line) : undefined;
    if (leaf?.kind === 'entry') {
      if (leaf.facts === facts) found ??= { index, leaf, line };
      else sameNumber = true;
    } else if (leaf?.kind === 'redact') {
      for (const part of leaf.parts) redacted.set(part, leaf.why ?? '-');
    }
    index += 1;
  }
  if (signing !== undefined && !sameRoot(tree, signing)) throw damaged('its lines are others');
  return { note: signing?.note, signed, tree, found, sameNumber, redacted };
}

/** What is signed, and by the key that is here. */
function signingOf(stateRoot: string) {
  const text = readSmall(sealFile(stateRoot, 'checkpoint'));
  if (text === undefined) return undefined;
  const [note, signer] = [parseNote(text), signerOf(stateRoot)];
  const checkpoint = note && checkpointOf(note);
  if (signer === undefined) throw damaged('its key is gone');
  if (note === undefined || checkpoint === undefined) throw damaged('it has no checkpoint');
  if (checkSignature(note, signer.verifier) !== 'verified') throw damaged('another key signed it');
  return { note, ...checkpoint };
}

function sameRoot(tree: StoredHashes, signed: { size: number; root: Uint8Array }): boolean {
  return tree.size === signed.size && Buffer.compare(tree.root(), signed.root) === 0;
}

async function signNow(entry: PlacedEntry, ledger: SealerOptions): Promise<void> {
  const result = await signLeaves(ledger);
  if (result.kind === 'refused') throw damaged(result.why);
  if (result.kind === 'busy') throw notSigned(entry, 'another process signs at this moment');
}

function withoutLeaf(
  { entry_id, directory, session_id }: PlacedEntry,
  stateRoot: string,
  sameNumber: boolean,
): AppError {
  if (sameNumber) return changed({ entry_id }, 'facts');
  const by = storedMetadata(directory, session_id)?.sealed_by;
  if (by !== undefined && by !== signerOf(stateRoot)?.verifier.name) {
    const words = `${printable(entry_id)} was sealed elsewhere, in the ledger ${printable(by)}`;
    return unprovable(words, 'Prove it where that ledger is.');
  }
  return unprovable(
    `${printable(entry_id)} has no seal: the ledger has no leaf of it`,
    'It was recorded without a ledger, or just before a crash: `cuff verify` says which.',
  );
}

function changed({ entry_id }: Pick<PlacedEntry, 'entry_id'>, part: EntryPart): AppError {
  const words = `${printable(entry_id)} is not what was sealed: its ${part} changed`;
  return unprovable(words, 'See what else was: `cuff verify`.');
}

function notSigned({ entry_id }: PlacedEntry, why: string): AppError {
  return unprovable(`${printable(entry_id)} is in no signed checkpoint: ${why}`, 'Try it again.');
}

function damaged(why: string): AppError {
  return unprovable(
    `The ledger is not the one that was signed: ${why}`,
    'See what is wrong with it: `cuff verify`.',
  );
}

function unprovable(words: string, hint: string): AppError {
  return new AppError('not_provable', `${words}.`, { hint });
}
