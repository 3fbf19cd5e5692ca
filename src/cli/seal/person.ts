// What of `cuff seal` only a person may do: another key, and giving a journal up.

import { resolve } from 'node:path';
import { AppError } from '../../errors.ts';
import { forgetJournal } from '../../sealing/forget.ts';
import { rotateKey } from '../../sealing/rotate.ts';
import { nothingSealed } from '../../sealing/signed.ts';
import { counted } from '../../text/plural.ts';
import { printable } from '../../text/printable.ts';
import { refuseAgents } from '../../trust/person.ts';
import { put, putJson, say } from '../output.ts';
import { sealerOptions, signedHere, wantedLedger } from './opened.ts';

type Flags = { readonly json: boolean };

/** `--json`: {"vkey","old_vkey","size"}. */
export async function rotate({ json }: Flags): Promise<void> {
  refuseAgents(process.env, 'change the key of the ledger');
  const ledger = wantedLedger();
  try {
    signedHere(await ledger.sign(), ledger);
    const rotation = await rotateKey(ledger, sealerOptions());
    if (rotation === undefined) throw nothingSealed();
    const { size } = signedHere(rotation.result, ledger);
    const { newVkey, oldVkey } = rotation;
    if (json) return putJson({ vkey: newVkey, old_vkey: oldVkey, size });
    await put(`${newVkey}\n`);
    say(`This key signs from line ${size} on, introduced by the old one, which is destroyed.`);
    say('Give it to your witnesses in the place of the old key, and keep it on paper beside that:');
    say('`cuff verify --vkey OLD` still finds its way to the new one.');
  } finally {
    await ledger.close();
  }
}

/** `--json`: {"journal","directory","entries"}. Exit 1 for a journal that is unknown or gone. */
export async function forget(which: string, why: string, { json }: Flags): Promise<void> {
  refuseAgents(process.env, 'give up a journal');
  if (why.trim() === '') throw new AppError('usage', '--why is empty.');
  const ledger = wantedLedger();
  try {
    const { stateRoot } = sealerOptions();
    const name = which.includes('/') ? resolve(which) : which;
    const result = forgetJournal(ledger, stateRoot, name, why);
    const shown = printable(which);
    if (result.kind === 'unknown') {
      throw new AppError('journal_session_not_found', `The ledger knows no journal '${shown}'.`, {
        hint: 'Name where it was, or its name in the ledger: `cuff verify --all` says both.',
      });
    }
    const directory = printable(result.journal.directory);
    if (result.kind === 'there') {
      throw new AppError('usage', `The journal is still there: ${directory}.`, {
        hint: 'Delete sessions with `cuff record clean`; only a journal that is gone is forgotten.',
      });
    }
    if (result.kind === 'was forgotten') {
      throw new AppError('journal_session_not_found', `It was forgotten before: ${directory}.`);
    }
    signedHere(await ledger.sign(), ledger);
    const { journal, directory: path } = result.journal;
    if (json) return putJson({ journal, directory: path, entries: result.entries });
    say(`Forgotten: ${directory}, ${counted(result.entries, 'entry', 'entries')}.`);
  } finally {
    await ledger.close();
  }
}
