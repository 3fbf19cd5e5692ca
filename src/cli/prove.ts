// `cuff prove`: one entry with the proof that it was sealed, for others to verify offline. Parts
// that are not asked for stay sealed, the command among them.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import packageJson from '../../package.json' with { type: 'json' };
import { AppError } from '../errors.ts';
import type { EntryPart } from '../ledger/commitments.ts';
import { noEntry, placedEntry, proofJson, refuseRedacted } from '../recordings/proof.ts';
import { thisProcess } from '../run/processes.ts';
import { attestations } from '../sealing/in-toto.ts';
import { signerOf } from '../sealing/keys.ts';
import { type ProvenEntry, proveEntry } from '../sealing/prove.ts';
import { storeOf } from '../shell/captures.ts';
import { printable, printableJson } from '../text/printable.ts';
import { journalHere } from './journal-here.ts';
import { put, say } from './output.ts';
import { replacedBy, write } from './record/sink.ts';

type ProveOptions = {
  readonly show?: readonly EntryPart[];
  readonly format: 'cuff' | 'in-toto';
  readonly output?: string;
  readonly verifier?: boolean;
};

const SHOWN = ['facts'] as const;
const ATTESTED = ['facts', 'text'] as const; // an attestation without its command says nothing

export async function prove(id: string | undefined, options: ProveOptions): Promise<void> {
  const { format, output, show } = options;
  if (output !== undefined && replacedBy(output) !== undefined) {
    throw new AppError('usage', `${printable(output)} exists.`, { hint: 'Name another file.' });
  }
  if (options.verifier) return deliver(output, verifier());
  if (id === undefined) throw noEntry(id);
  if (format === 'in-toto' && show !== undefined) {
    throw new AppError('usage', '--show is for the format cuff.', {
      hint: 'in-toto shows the command, how it ended, and what its output hashes to.',
    });
  }
  const { root: stateRoot, alive } = storeOf(process.env);
  const placed = placedEntry(await journalHere(), stateRoot, id);
  const proven = await proveEntry(placed, { stateRoot, owner: thisProcess(), alive });
  if (format === 'in-toto') {
    for (const part of ATTESTED) refuseRedacted(proven, part);
    return deliver(output, attested(proven, stateRoot));
  }
  await deliver(output, `${printableJson(proofJson(proven, show ?? SHOWN))}\n`);
}

/** A line for each: in-toto calls that a bundle. */
function attested(proven: ProvenEntry, stateRoot: string): string {
  const signer = signerOf(stateRoot);
  if (signer === undefined) throw new AppError('not_provable', 'The key of the ledger is gone.');
  const { version } = packageJson;
  return attestations(proven, signer, version)
    .map((envelope) => `${JSON.stringify(envelope)}\n`)
    .join('');
}

/** It lies beside this file, here and where it is built. */
function verifier(): string {
  return readFileSync(fileURLToPath(new URL('verify.py', import.meta.url)), 'utf8');
}

async function deliver(output: string | undefined, text: string): Promise<void> {
  if (output === undefined) return put(text);
  await write(output, [text], () => undefined);
  say(`Wrote ${printable(output)}`);
}
