// Reads the files of captures that are encrypted at rest, with the identities of the user.
import { basename, dirname } from 'node:path';
import { decrypted } from '../age/decryption.ts';
import type { Decrypt } from '../capture/open-source.ts';
import { printable } from '../text/printable.ts';
import type { Env } from '../types.ts';

export function decryption(env: Env): Decrypt {
  return (file, path) => {
    const what = `The capture ${printable(basename(dirname(path)))}`;
    const { size, read } = decrypted(file, path, what, env);
    return { ...file, size, read };
  };
}
