// The identities of the user, with which what is encrypted can be read: `~/.config/cuff/identity`,
// or the file that `CUFF_IDENTITY` names. Its lines are as `age-keygen` writes them. A machine that
// only records needs none.

import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { AppError, errnoOf } from '../errors.ts';
import { identityFile } from '../places.ts';
import { printable } from '../text/printable.ts';
import type { Env } from '../types.ts';
import {
  type Identity,
  identityText,
  newIdentity,
  parseIdentity,
  recipientText,
} from './x25519.ts';

const FILE_BYTES_MAX = 65_536;

/** Bits of a mode with which other users could read or change the file. */
const OTHERS = 0o077;

export type IdentityFile = {
  readonly path: string;
  readonly identities: readonly Identity[];
  /** Identities of other kinds, which the program `age` may know. */
  readonly others: number;
};

/** What was in it last: each file of a capture asks anew, and making a key takes a while. */
let last: { readonly text: string; readonly file: IdentityFile } | undefined;

/** Undefined where there is none. */
export function readIdentities(env: Env): IdentityFile | undefined {
  const path = identityFile(env);
  const text = textOf(path, env.CUFF_IDENTITY !== undefined);
  if (text === undefined) return undefined;
  if (last?.text === text && last.file.path === path) return last.file;
  const lines = text.split('\n').map((line) => line.trim());
  const keys = lines.filter((line) => line !== '' && !line.startsWith('#'));
  const identities = keys.map(parseIdentity).filter((one) => one !== undefined);
  const others = keys.length - identities.length;
  if (keys.length === 0) throw refused(path, 'has no identity in it');
  last = { text, file: { path, identities, others } };
  return last.file;
}

/** Makes the file with a new identity; false where there is a file already. */
export function makeIdentity(env: Env): boolean {
  const path = identityFile(env);
  const identity = newIdentity();
  const recipient = recipientText(identity.recipient);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const fd = openSync(path, 'wx', 0o600);
    try {
      fchmodSync(fd, 0o600);
      writeSync(fd, `# public key: ${recipient}\n${identityText(identity)}\n`);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw refused(path, `cannot be made (${errnoOf(error)})`, error);
  }
}

/** The message never has a word of the file in it. */
function textOf(path: string, named: boolean): string | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' && !named) return undefined;
    throw refused(path, errno === 'ENOENT' ? 'does not exist' : `cannot be read (${errno})`, error);
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw refused(path, 'is not a regular file');
    if (process.platform !== 'win32' && (stat.mode & OTHERS) !== 0) throw openToOthers(path);
    if (stat.size > FILE_BYTES_MAX) throw refused(path, 'is too long for a file of identities');
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

function openToOthers(path: string): AppError {
  return new AppError('decryption_failed', `${printable(path)} is open to other users.`, {
    hint: `Close it with \`chmod 600 ${printable(path)}\`, and think of its key as known to them.`,
  });
}

function refused(path: string, why: string, cause?: unknown): AppError {
  return new AppError('decryption_failed', `The identity file ${printable(path)} ${why}.`, {
    hint: 'Make one with `cuff identity`, or name another one in CUFF_IDENTITY.',
    ...(cause !== undefined && { cause }),
  });
}
