// Decrypts a file with the identities of the user, or says for whom it is encrypted. Nothing is
// looked for before there is such a file.
import { AppError } from '../errors.ts';
import { identityFile } from '../places.ts';
import { printable } from '../text/printable.ts';
import type { Env } from '../types.ts';
import { type Bytes, openAge, recipientsOf } from './file.ts';
import { type IdentityFile, readIdentities } from './identities.ts';
import { decryptedByAge } from './program.ts';

/**
 * `path` and `what` (`The capture 1a2b3c4d`) are for messages. Throws `decryption_failed` where
 * there is no identity for it, and `capture_damaged`.
 */
export function decrypted(file: Bytes, path: string, what: string, env: Env): Bytes {
  const keys = readIdentities(env);
  const bytes = openAge(file, path, keys?.identities ?? []) ?? otherwise(file, keys);
  if (bytes !== undefined) return bytes;
  const whom = recipientsOf(file, path).map(printable).join(', ');
  throw new AppError('decryption_failed', `${what} is encrypted for ${whom}.`, {
    hint: noneOfThem(keys, env),
  });
}

/** By the program `age`, which knows identities of other kinds; it decrypts files as a whole. */
function otherwise(file: Bytes, keys: IdentityFile | undefined): Bytes | undefined {
  if (keys === undefined || keys.others === 0) return undefined;
  const { output } = decryptedByAge(file.read(0, file.size), keys.path);
  if (output === undefined) return undefined;
  const read = (position: number, length: number): Uint8Array =>
    output.subarray(position, position + Math.max(0, length));
  return { size: output.length, read };
}

function noneOfThem(keys: IdentityFile | undefined, env: Env): string {
  const path = printable(identityFile(env));
  const none = keys === undefined ? `There is no identity in ${path}` : `${path} has none of them`;
  return `${none}; name the file that has one in CUFF_IDENTITY.`;
}
