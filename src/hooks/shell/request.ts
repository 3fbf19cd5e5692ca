// What a client tells a helper of its call; native/sh-helper.c describes it byte by byte.

import type { Env } from '../../types.ts';

export type CallRequest = {
  /** What must be equal for a helper that stays; empty where none may. */
  readonly world: string;
  /** The process that called the shell. */
  readonly parent: number;
  /** Where the agent's stdout is a terminal. */
  readonly terminal: boolean;
  /** The directory has lost its name. */
  readonly removed: boolean;
  /** The state root that the shell belongs to. */
  readonly root: string;
  /** The program that gets `-c TEXT`. */
  readonly real: string;
  readonly text: string;
  readonly cwd: string;
  readonly env: Env;
};

/** The words and variables of a process have room for six megabytes, and come twice in part. */
export const REQUEST_BYTES_MAX = 16 * 1024 * 1024;

const HEAD = /^cuff-sh 1 (\d{1,9})$/;

const HEAD_BYTES_MAX = 32;

const FIELDS = 8;

/** Takes the pieces of one request. */
export class RequestReader {
  #pieces: Buffer[] = [];
  #length = 0;
  #whole: number | undefined;

  /** Bytes that it holds. */
  get length(): number {
    return this.#length;
  }

  /** The request with its last piece; `wrong`: what comes is none. */
  add(piece: Buffer): CallRequest | 'more' | 'wrong' {
    this.#pieces.push(piece);
    this.#length += piece.length;
    this.#whole ??= this.#headOf();
    if (this.#whole === undefined) return this.#length > HEAD_BYTES_MAX ? 'wrong' : 'more';
    if (this.#length < this.#whole) return 'more';
    if (this.#length > this.#whole) return 'wrong';
    const bytes = this.#joined();
    return requestOf(bytes.subarray(bytes.indexOf(10) + 1)) ?? 'wrong';
  }

  /** How long all of it is. */
  #headOf(): number | undefined {
    const bytes = this.#joined();
    const end = bytes.indexOf(10);
    const match = HEAD.exec(bytes.toString('latin1', 0, Math.max(end, 0)));
    const body = match === null ? Number.NaN : Number(match[1]);
    return body <= REQUEST_BYTES_MAX ? end + 1 + body : undefined;
  }

  #joined(): Buffer {
    const joined = Buffer.concat(this.#pieces);
    this.#pieces = [joined];
    return joined;
  }
}

function requestOf(body: Buffer): CallRequest | undefined {
  if (body.at(-1) !== 0) return undefined;
  const words = body.toString('utf8', 0, body.length - 1).split('\0');
  const [world, parent, stdout, place, root, real, text, cwd] = words;
  if (world === undefined || root === undefined || real === undefined) return undefined;
  if (text === undefined || cwd === undefined) return undefined;
  return {
    world,
    parent: Number(parent),
    terminal: stdout === 'tty',
    removed: place === 'removed',
    root,
    real,
    text,
    cwd,
    env: envOf(words.slice(FIELDS)),
  };
}

/** As getenv(3) reads it: of two with the same name the first one counts. */
function envOf(variables: readonly string[]): Env {
  const env: Record<string, string> = {};
  for (const variable of variables) {
    const at = variable.indexOf('=');
    const name = variable.slice(0, at);
    if (at > 0 && !Object.hasOwn(env, name)) env[name] = variable.slice(at + 1);
  }
  return env;
}
