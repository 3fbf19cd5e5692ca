// `cuff seal`, `cuff seal show`, `key`, `anchor` and `--init`.

import { existsSync } from 'node:fs';
import { AppError } from '../../errors.ts';
import { formatVerifierKey } from '../../ledger/note-keys.ts';
import { type AnchorResult, anchorHead, signedHead } from '../../sealing/anchors/anchoring.ts';
import type { SignedHead } from '../../sealing/anchors/place.ts';
import { type AnchorTarget, readTarget } from '../../sealing/anchors/target.ts';
import { setAside } from '../../sealing/anew.ts';
import { epochOf } from '../../sealing/epochs.ts';
import { signerOf } from '../../sealing/keys.ts';
import { readSmall, sealDir, sealFile } from '../../sealing/place.ts';
import { anchorsJson, headJson, sealAll } from '../../sealing/seal-all.ts';
import { signLeaves } from '../../sealing/sealer.ts';
import { nothingSealed } from '../../sealing/signed.ts';
import { anchorCode } from '../../sealing/verify/anchors.ts';
import { placeText } from '../../sealing/verify/outside.ts';
import { storeOf } from '../../shell/captures.ts';
import { countText } from '../../text/dates.ts';
import { manyText } from '../../text/plural.ts';
import { printable } from '../../text/printable.ts';
import { refuseAgents } from '../../trust/person.ts';
import { journalHere } from '../journal-here.ts';
import { put, putJson, say } from '../output.ts';
import { anchorTools, sealerOptions, signedHere, wantedLedger } from './opened.ts';

type Flags = { readonly json?: boolean | undefined };

/**
 * `--json`: {"origin","size","root","code","late","captures","anchors":[{"kind","where","size",
 * "trouble"}],"notices"}. Exit 1 when an anchor failed.
 */
export async function seal({ json = false }: Flags): Promise<void> {
  const ledger = wantedLedger();
  try {
    const places = { store: storeOf(process.env), directory: await journalHere() };
    const done = await sealAll(ledger, { ...anchorTools(), ...places });
    const { head, anchors, late, captures, notices, named, wanted } = done;
    for (const notice of notices) say(`cuff: ${notice}`);
    await report({ head, anchors, json, more: { late, captures, notices } });
    if (json || anchors.length > 0) return;
    if (wanted > 0) say('Nothing is new since the last anchor.');
    else if (named === 0)
      say('No anchor is named: the holder of your account could still rewrite all of it.');
  } finally {
    await ledger.close();
  }
}

/** `--json` as above, without "late", "captures" and "notices". */
export async function anchor(text: string, { json = false }: Flags): Promise<void> {
  const target = targetOf(text);
  const ledger = wantedLedger();
  try {
    const head = signedHere(await ledger.sign(), ledger);
    const anchors = await anchorHead(ledger, head, [target], anchorTools());
    await report({ head, anchors, json, more: {} });
  } finally {
    await ledger.close();
  }
}

function targetOf(text: string): AnchorTarget {
  const reading = readTarget(text);
  const problem = 'problem' in reading ? reading.problem : undefined;
  if ('target' in reading && reading.target.kind !== 'trailer') return reading.target;
  const words = problem ?? 'trailer: it is written by agents, with their commits';
  throw new AppError('usage', `'${printable(text)}': ${words}.`, {
    hint: 'See `cuff seal help anchor`.',
  });
}

type Report = {
  readonly head: SignedHead;
  readonly anchors: readonly AnchorResult[];
  readonly json: boolean;
  readonly more: Readonly<Record<string, unknown>>;
};

async function report({ head, anchors, json, more }: Report): Promise<void> {
  const failed = anchors.filter(({ trouble }) => trouble !== undefined);
  if (failed.length > 0) process.exitCode = 1;
  if (json) {
    return putJson({ ...headJson(head), ...more, anchors: anchorsJson(anchors, head) });
  }
  await put(`${manyText(head.size, 'line')} sealed: ${anchorCode(head)}\n`);
  for (const { target, trouble } of anchors) {
    const name = printable(placeText(target));
    if (trouble === undefined) await put(`  anchored: ${name}\n`);
    else say(`cuff: not anchored: ${name}: ${printable(trouble)}`);
  }
}

/** `--json`: {"origin","size","root","code"}. Exit 1 where nothing is signed. */
export async function show({ json = false }: Flags): Promise<void> {
  const head = signedHead(sealerOptions().stateRoot);
  if (head === undefined) throw nothingSealed();
  if (json) return putJson(headJson(head));
  await put(`${anchorCode(head)}\n`);
}

/** Of the key that signs, or of that of the day. Exit 1 where there is none. */
export async function key({ day = false }: { readonly day?: boolean }): Promise<void> {
  const { stateRoot } = sealerOptions();
  const signer = signerOf(stateRoot);
  const asked = day && signer ? epochOf(stateRoot, signer.verifier.name) : signer;
  if (asked === undefined) throw nothingSealed();
  await put(`${formatVerifierKey(asked.verifier)}\n`);
}

/** `--json`: {"origin","vkey","aside"}; `aside` is where a broken ledger is now, or null. */
export async function begin({ json = false }: Flags): Promise<void> {
  refuseAgents(process.env, 'begin another ledger');
  const options = sealerOptions();
  const { stateRoot } = options;
  const before = existsSync(sealDir(stateRoot)) ? await signLeaves(options) : undefined;
  const healthy = before !== undefined && before.kind !== 'refused';
  if (healthy && signedHead(stateRoot) !== undefined) {
    const lines = countText(signedHead(stateRoot)?.size ?? 0);
    throw new AppError('usage', `There is a ledger already, of ${lines} lines, and it is sound.`, {
      hint: 'A new key is made by `cuff seal rotate`.',
    });
  }
  const aside =
    before?.kind === 'refused' ? setAside(stateRoot, storeOf(process.env).now()) : undefined;
  const ledger = wantedLedger();
  const { origin } = ledger;
  await ledger.sign();
  await ledger.close();
  const vkey = readSmall(sealFile(stateRoot, 'vkey'))?.trim();
  if (origin === undefined || vkey === undefined) throw nothingSealed();
  if (json) return putJson({ origin, vkey, aside: aside ?? null });
  await put(`${vkey}\n`);
  say('A ledger has begun. Keep this key where your account cannot write: on paper, in a mail.');
  if (aside === undefined) return;
  say(`The old one is in ${aside}; this one proves nothing about what was recorded before.`);
  say('Start running servers again, so that they write the new one.');
}
