// `cuff prove`: one entry with the proof that it was sealed, for others to verify offline. Parts
// that are not asked for stay sealed, the command among them.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import packageJson from '../../package.json' with { type: 'json' };
import { AppError, isAppError } from '../errors.ts';
import { ENTRY_PARTS, type EntryPart } from '../ledger/commitments.ts';
import { entryNamed, isEntryId } from '../recordings/entry.ts';
import { sessionEntries, sessionNamed } from '../recordings/sessions.ts';
import { thisProcess } from '../run/processes.ts';
import { attestations } from '../sealing/in-toto.ts';
import { knownJournals } from '../sealing/journals.ts';
import { signerOf } from '../sealing/keys.ts';
import { type PlacedEntry, type ProvenEntry, proveEntry } from '../sealing/prove.ts';
import { storeOf } from '../shell/captures.ts';
import { printable, printableJson } from '../text/printable.ts';
import type { Entry } from '../types.ts';
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
  const wanted = format === 'in-toto' ? ATTESTED : (show ?? SHOWN);
  for (const part of wanted) refuseRedacted(proven, part);
  if (format === 'in-toto') return deliver(output, attested(proven, stateRoot));
  const parts = ENTRY_PARTS.filter((part) => wanted.some((one) => one === part)).flatMap((part) => {
    const shown = proven.parts[part];
    return shown === undefined ? [] : [[part, shown] as const];
  });
  const { line: leaf, proof } = proven;
  const json = { cuff_proof: 1, leaf, parts: Object.fromEntries(parts), proof };
  await deliver(output, `${printableJson(json)}\n`);
}

/** Of the journal here, else of any other that this ledger seals. */
function placedEntry(here: string, stateRoot: string, id: string): PlacedEntry {
  const others = knownJournals(stateRoot).map(({ directory }) => directory);
  for (const directory of new Set([here, ...others])) {
    try {
      const entry = isEntryId(id) ? entryNamed(directory, id) : entryAt(directory, id);
      if (entry !== undefined) return { ...entry, directory };
    } catch (error) {
      if (!isAppError(error) || error.code !== 'journal_session_not_found') throw error;
    }
  }
  throw noEntry(id);
}

/** `SESSION#N`, as `cuff record search` shows an entry. Throws where there is no such session. */
function entryAt(directory: string, id: string): Entry | undefined {
  const [, part = '', number] = /^(.+)#(\d{1,9})$/.exec(id) ?? [];
  if (number === undefined) throw noEntry(id);
  for (const entry of sessionEntries(directory, sessionNamed(directory, part))) {
    if (entry.sequence_number === Number(number)) return entry;
  }
  return undefined;
}

function noEntry(id: string | undefined): AppError {
  const words =
    id === undefined ? 'Which entry is to be proven?' : `There is no entry '${printable(id)}'.`;
  return new AppError('usage', words, {
    hint: 'Give its id, or SESSION#N as `cuff record search TEXT` shows it.',
  });
}

function refuseRedacted({ id, redacted }: ProvenEntry, part: EntryPart): void {
  const why = redacted[part];
  if (why === undefined) return;
  throw new AppError(
    'not_provable',
    `${printable(id)}: ${part} was redacted, "${printable(why)}".`,
    { hint: 'Nothing can show it any more; the other parts still can be proven.' },
  );
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
