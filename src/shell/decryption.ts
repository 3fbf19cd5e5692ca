// Reads the files of captures that are encrypted at rest, with the identities of the user. Nothing
// is looked for before there is such a file.

import { basename, dirname } from 'node:path';
import { openAge, recipientsOf } from '../age/file.ts';
import { type IdentityFile, readIdentities } from '../age/identities.ts';
import { decryptedByAge } from '../age/program.ts';
import type { ByteSource } from '../capture/byte-source.ts';
import type { Decrypt } from '../capture/open-source.ts';
import { AppError } from '../errors.ts';
import { identityFile } from '../places.ts';
import { printable } from '../text/printable.ts';
import type { Env } from '../types.ts';

export function decryption(env: Env): Decrypt {
  return (file, path) => {
    const keys = readIdentities(env);
    const bytes = openAge(file, path, keys?.identities ?? []) ?? otherwise(file, keys);
    if (bytes !== undefined) return { ...file, size: bytes.size, read: bytes.read };
    const whom = recipientsOf(file, path).map(printable).join(', ');
    const run = printable(basename(dirname(path)));
    throw new AppError('decryption_failed', `The capture ${run} is encrypted for ${whom}.`, {
      hint: noneOfThem(keys, env),
    });
  };
}

/** By the program `age`, which knows identities of other kinds; it decrypts files as a whole. */
function otherwise(file: ByteSource, keys: IdentityFile | undefined) {
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
