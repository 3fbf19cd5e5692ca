// `cuff verify`: whether a record is what was sealed, and how far that reaches.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { stateRoot } from '../capture/paths.ts';
import { AppError } from '../errors.ts';
import { checkpointOf } from '../ledger/checkpoint.ts';
import { epochOrigin } from '../ledger/epoch.ts';
import { type LogPolicy, quorumOf } from '../ledger/log-policy.ts';
import { checkSignature, type Note, parseNote } from '../ledger/note.ts';
import { cosignedAt } from '../ledger/witness.ts';
import { entryNamed, isEntryId } from '../recordings/entry.ts';
import { sessionNamed } from '../recordings/sessions.ts';
import { cosignedNotes } from '../sealing/anchors/outside.ts';
import { type Anchor, anchorOfCode, givenAnchor } from '../sealing/verify/anchors.ts';
import { sealDir } from '../sealing/verify/gather.ts';
import { outsideHere, ownOrigin } from '../sealing/verify/here.ts';
import { verifyRecord } from '../sealing/verify/record.ts';
import type { Verification } from '../sealing/verify/verify.ts';
import { verificationJson, verificationWords } from '../sealing/verify/words.ts';
import { storeOf } from '../shell/captures.ts';
import { formatDuration } from '../text/duration.ts';
import { printable } from '../text/printable.ts';
import { journalHere } from './journal-here.ts';
import { put, putJson } from './output.ts';
import { keyOf, policyIn, textOf } from './verify-inputs.ts';
import { verifyProof } from './verify-proof.ts';

type VerifyOptions = {
  readonly all?: boolean;
  readonly vkey?: string;
  readonly at?: string;
  readonly policy?: string;
  readonly requireAnchor?: number;
  readonly deep?: boolean;
  readonly json?: boolean;
};

/**
 * `--json`: {"intact", "origin", "ledger":{size, signed, checkpoint_size}, "epoch":{from, to,
 * size}|null, "anchor":{at, kind,
 * where, size}|null, "noted_anchor":the same|null, "outside":[{kind, where, compared, trouble}],
 * "counts":{entries, anchored, unsigned, unsealed, sessions, captures}, "deep",
 * "findings":[{wrong, verdict, ...}], "complaints":[...]}; of a proof as in `verify-proof.ts`.
 * Exit 1 when anything is wrong, when something required is missing, and when nothing is sealed.
 */
export async function verify(what: string | undefined, options: VerifyOptions): Promise<void> {
  if (what !== undefined && (isFile(what) || what.includes('/'))) return verifyProof(what, options);
  const store = storeOf(process.env);
  const policy = options.policy === undefined ? undefined : policyIn(options.policy);
  const witnessed = policy && witnessedBy(policy);
  const here = await journalHere();
  const given = options.vkey === undefined ? undefined : keyOf(options.vkey);
  const ofDay = given && epochOrigin(given.name);
  const [key, epoch] = ofDay === undefined ? [given, undefined] : [undefined, given];
  const origin = ofDay ?? key?.name ?? ownOrigin(store.root);
  const place = { origin, project: process.cwd(), env: process.env };
  const outside = await outsideHere(store, place);
  const verification = verifyRecord({
    store,
    directories: options.all === true ? 'all' : [here],
    key,
    epoch,
    anchors: [
      ...(options.at === undefined ? [] : [anchorAt(options.at)]),
      ...(witnessed?.anchor === undefined ? [] : [witnessed.anchor]),
    ],
    outside,
    deep: options.deep === true,
    only: what === undefined ? undefined : sessionOf(here, what),
  });
  const complaints = [
    ...(witnessed?.met === false
      ? ['fewer witnesses saw the checkpoint than the policy wants']
      : []),
    ...staleWords(verification, options.requireAnchor, store.now()),
  ];
  const nothing = verification.counts.entries === 0;
  if (!verification.intact || complaints.length > 0 || nothing) process.exitCode = 1;
  if (options.json) return putJson({ ...verificationJson(verification), complaints });
  const lines = verificationWords(verification, store.now());
  await put([...lines, ...complaints.map((words) => `WRONG: ${words}`)].join('\n').concat('\n'));
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** By its id, a part of it, or the id of one of its entries. */
function sessionOf(directory: string, what: string): string {
  if (isEntryId(what)) return entryNamed(directory, what).session_id;
  return sessionNamed(directory, what);
}

/** A code as `cuff seal show` prints it, or a file with one or with a checkpoint. */
function anchorAt(text: string): Anchor {
  const code = anchorOfCode(text);
  if (code !== undefined) return code;
  if (!existsSync(text)) {
    throw new AppError('usage', `'${printable(text)}' is no code of a ledger, and no file.`, {
      hint: 'A code looks like `CUFF 20852 7KQ2-M3XA-4B-...`.',
    });
  }
  const content = readFileSync(text, 'utf8');
  const note = parseNote(content);
  const checkpoint = note && checkpointOf(note);
  const kept = checkpoint === undefined ? anchorOfCode(content) : givenAnchor(checkpoint, text);
  if (kept !== undefined) return kept;
  throw new AppError('usage', `${printable(text)} has no checkpoint and no code.`, {
    hint: 'Keep what `cuff seal show` prints, or a copy of the file `checkpoint`.',
  });
}

/** What the witnesses of the policy signed, if they are enough. */
function witnessedBy(policy: LogPolicy): Witnessed {
  const root = stateRoot(process.env);
  const last = textOf(join(sealDir(root), 'checkpoint'));
  // The checkpoint was signed anew since; what they cosigned is kept with the anchors.
  const texts = [
    last,
    ...cosignedNotes(root)
      .map(({ text }) => text)
      .reverse(),
  ];
  const found = texts.map((text) => witnessedNote(parseNote(text), policy));
  return found.find(({ met }) => met) ?? { met: false, anchor: undefined };
}

type Witnessed = { readonly met: boolean; readonly anchor: Anchor | undefined };

function witnessedNote(note: Note | undefined, policy: LogPolicy): Witnessed {
  const checkpoint = note && checkpointOf(note);
  if (note === undefined || checkpoint === undefined) return { met: false, anchor: undefined };
  const { met, cosigned } = quorumOf(policy, note);
  const known =
    policy.logs.length === 0 || policy.logs.some((key) => checkSignature(note, key) === 'verified');
  if (!met || !known) return { met: false, anchor: undefined };
  const seconds = cosigned
    .map((name) => policy.witnesses.get(name))
    .map((key) => (key === undefined ? undefined : cosignedAt(note, key)))
    .filter((one) => one !== undefined);
  if (seconds.length === 0) return { met, anchor: undefined };
  const anchor = { ...givenAnchor(checkpoint, cosigned.join(', ')), kind: 'witness' };
  return { met, anchor: { ...anchor, at: Math.min(...seconds) * 1000 } };
}

/** An anchor that covers everything is never too old. */
function staleWords(
  { counts, ledger }: Verification,
  requiredMs: number | undefined,
  now: number,
): string[] {
  if (requiredMs === undefined) return [];
  const required = formatDuration(requiredMs);
  const { anchor, noted } = ledger;
  if (anchor === undefined) {
    const but = noted === undefined ? '' : ' that was compared with its place';
    return [`there is no anchor${but}, and one of the last ${required} is required`];
  }
  if (counts.anchored === counts.entries) return [];
  const age = anchor.at === undefined ? undefined : now - anchor.at;
  if (age !== undefined && age <= requiredMs) return [];
  const old = age === undefined ? 'has no time' : `is ${formatDuration(age)} old`;
  return [`the anchor ${old}, and one of the last ${required} is required`];
}
