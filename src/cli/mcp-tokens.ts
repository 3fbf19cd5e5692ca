// The tokens of a server that listens on a port: one for everything, and one that only reads
// metrics and health. Commands that are run for a client must not find them in their environment.

import { randomBytes } from 'node:crypto';
import { AppError } from '../errors.ts';

const LENGTH_MIN = 16; // characters; a shorter one can be guessed from this machine

/** Tokens are taken out of it, so that no command inherits them. */
type Env = { [name: string]: string | undefined };

export type Tokens = {
  /** Good for everything. */
  readonly all: string;
  /** Good for metrics and health alone, where the person set one. */
  readonly reading: string | undefined;
  /** The person does not know the one for everything yet. */
  readonly made: boolean;
};

/** Throws `usage` for a token that is too short, where the server `listens`. */
export function takeTokens(env: Env, listens: boolean): Tokens {
  const given = taken(env, 'CUFF_HTTP_TOKEN', listens);
  const reading = taken(env, 'CUFF_METRICS_TOKEN', listens);
  return {
    all: given ?? randomBytes(32).toString('base64url'),
    reading,
    made: given === undefined,
  };
}

function taken(env: Env, name: string, listens: boolean): string | undefined {
  const token = env[name];
  delete env[name];
  if (token === undefined || token === '') return undefined;
  const { length } = [...token];
  if (!listens || length >= LENGTH_MIN) return token;
  throw new AppError('usage', `${name} has ${length} characters, and ${LENGTH_MIN} are needed.`, {
    hint: 'Take a long random one: openssl rand -hex 32',
  });
}
