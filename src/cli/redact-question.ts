// What both ways of redacting share: the ledger, the question, and what neither can reach.

import { ownRecipients } from '../packing/recipients.ts';
import { thisProcess } from '../run/processes.ts';
import { sealLate } from '../sealing/late.ts';
import type { RedactContext } from '../sealing/redact/said.ts';
import { storeOf } from '../shell/captures.ts';
import { say } from './output.ts';
import { ownLedger } from './own-ledger.ts';
import { confirmed } from './record/confirm.ts';

export type RedactOptions = {
  readonly parts?: string;
  readonly secret?: string;
  readonly why?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
};

/** What no command of ours can reach. */
export const BEYOND =
  'Not reached: exports and copies of the journal, imports elsewhere, a journal that git has, ' +
  "answers that an agent has got, the agent's own transcripts, backups, and blocks that the disk " +
  'has not written again.';

export function redactContext(why: string): RedactContext {
  const store = storeOf(process.env);
  const recipients = () => ownRecipients(process.cwd(), process.env);
  return { ledger: ownLedger(), store, owner: thisProcess(), why, recipients };
}

export async function mayRedact(question: string, yes: boolean): Promise<boolean> {
  if (yes) return true;
  const answer = await confirmed(question, {
    message: 'Redacting needs a confirmation, and there is no terminal to ask at.',
    hint: 'Use --yes to redact without being asked.',
  });
  if (!answer) {
    say('Nothing was redacted.');
    process.exitCode = 1;
  }
  return answer;
}

/**
 * Entries that a crash left without a leaf get one while they are whole: nothing could ever be
 * proven of one that is redacted before.
 */
export async function sealedFirst(
  { ledger, store, owner }: RedactContext,
  directories: readonly string[],
): Promise<void> {
  if (ledger === undefined) return;
  for (const directory of directories) await sealLate({ ledger, store, directory, owner });
}
