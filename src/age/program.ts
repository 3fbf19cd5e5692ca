// What only the program `age` can do: recipients and identities of other kinds than X25519. It
// wraps the key of a file, and we encrypt with it; so also such a file is written in pieces, and
// readers with an X25519 identity read any part of it.

import { spawnSync } from 'node:child_process';
import { AppError, errnoOf } from '../errors.ts';
import { printable } from '../text/printable.ts';
import { type FileKey, isGenuine, parseHeader } from './header.ts';
import { newIdentity, recipientText, unwrap } from './x25519.ts';

const TIMEOUT_MS = 60_000; // a plugin may ask for a touch of a key
const OUTPUT_BYTES_MAX = 1_073_741_824; // as large as captures are by default

/**
 * The start of a file of `age`, in which a recipient of ours stood beside the others: so we know
 * its key. Our own stanza is left out.
 */
export function wrappedByAge(recipients: readonly string[]): FileKey {
  const once = newIdentity();
  const all = [recipientText(once.recipient), ...recipients];
  const { output, words } = age(
    all.flatMap((text) => ['-r', text]),
    '',
  );
  const header = output && parseHeader(output);
  for (const ours of header?.stanzas ?? []) {
    const fileKey = unwrap(ours, once);
    if (header === undefined || fileKey === undefined || !isGenuine(header, fileKey)) continue;
    return { fileKey, stanzas: header.stanzas.filter((one) => one !== ours) };
  }
  throw new AppError('encryption_failed', `\`age\` cannot encrypt for these recipients: ${words}`, {
    hint: 'Install age and its plugins, or use recipients of the form age1... alone.',
  });
}

/** The whole file, decrypted with the identities in this file; or why that did not work. */
export function decryptedByAge(
  file: Uint8Array,
  identityFile: string,
): { readonly output?: Uint8Array | undefined; readonly words: string } {
  return age(['-d', '-i', identityFile], file);
}

function age(args: readonly string[], input: string | Uint8Array) {
  const limits = { timeout: TIMEOUT_MS, maxBuffer: OUTPUT_BYTES_MAX };
  const { status, stdout, stderr, error } = spawnSync('age', args, { input, ...limits });
  if (errnoOf(error) === 'ENOENT') return { words: 'it is not installed here.' };
  if (error !== undefined) return { words: `${error.message}.` };
  if (status === 0) return { output: stdout, words: '' };
  return { words: printable(stderr.toString('utf8').split('\n')[0] ?? '') };
}
