// `cuff identity`: the key with which this user reads what is encrypted at rest. Makes one where
// there is none, and says for which recipient others have to encrypt.

import type { Command } from 'commander';
import { examples, JSON_DOCUMENT } from './help.ts';
import { put, putJson, say } from './output.ts';

export function addIdentityCommand(program: Command): void {
  program
    .command('identity')
    .description('the key that reads encrypted captures: make one, or show its recipient')
    .option('--json', JSON_DOCUMENT)
    .addHelpText('after', examples('cuff identity'))
    .action(identity);
}

/** `--json`: {"path","made","recipients":["age1..."],"others":n}. The secret is never printed. */
async function identity({ json }: { readonly json?: boolean }): Promise<void> {
  const [{ makeIdentity, readIdentities }, { recipientText }] = await Promise.all([
    import('../age/identities.ts'),
    import('../age/x25519.ts'),
  ]);
  const { env } = process;
  const made = makeIdentity(env);
  const file = readIdentities(env);
  const recipients = file?.identities.map(({ recipient }) => recipientText(recipient)) ?? [];
  const [path, others] = [file?.path ?? '', file?.others ?? 0];
  if (json) return putJson({ path, made, recipients, others });
  for (const recipient of recipients) await put(`${recipient}\n`);
  if (others > 0) say(`${path} has ${others} of other kinds, which \`age\` reads.`);
  if (made) say(`Made ${path}. Keep a copy: without it, what is encrypted for it cannot be read.`);
}
