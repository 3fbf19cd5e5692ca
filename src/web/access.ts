// Who may ask what. A code is for one use within a minute, and is traded for a token that lasts as
// long as the server; both are kept in memory alone. A token may read, and change things if the
// process that traded the code was not one of an agent; the process that sends a change is looked
// at again, because tokens can be carried from one to another.

import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { connectionHolders } from '../run/processes.ts';
import { sameToken } from '../text/http-access.ts';
import { isAgentProcess } from '../trust/person.ts';

const CODE_MS = 60_000; // long enough for a browser to start
const CODES_MAX = 20;
const TOKENS_MAX = 1000; // a page that trades codes without end must not fill the memory

/** The process at the other end: one of an agent, none, or one that cannot be told. */
export type Peer = 'agent' | 'other' | 'unknown';

export type Right = 'read' | 'change';

export type AccessOptions = {
  readonly now: () => number;
  readonly readOnly: boolean;
  readonly peer: (socket: Socket) => Peer;
};

export class Access {
  readonly #options: AccessOptions;
  readonly #codes: { readonly code: string; readonly until: number }[] = [];
  readonly #tokens: { readonly token: string; readonly right: Right }[] = [];

  constructor(options: AccessOptions) {
    this.#options = options;
  }

  newCode(): string {
    const code = randomBytes(24).toString('base64url');
    this.#codes.push({ code, until: this.#options.now() + CODE_MS });
    if (this.#codes.length > CODES_MAX) this.#codes.shift();
    return code;
  }

  /** Undefined: it was used, is too old or never was. */
  trade(code: string, socket: Socket): string | undefined {
    const at = this.#codes.findIndex((one) => sameToken(code, one.code));
    const [found] = at < 0 ? [] : this.#codes.splice(at, 1);
    if (found === undefined || found.until <= this.#options.now()) return undefined;
    const token = randomBytes(32).toString('base64url');
    this.#tokens.push({ token, right: this.#peerRight(socket) });
    if (this.#tokens.length > TOKENS_MAX) this.#tokens.shift();
    return token;
  }

  /** What the token is good for; undefined for none of ours. */
  rightOf(token: string): Right | undefined {
    if (token === '') return undefined;
    return this.#tokens.find((one) => sameToken(token, one.token))?.right;
  }

  /** For something that changes things: also the process that asks must not be one of an agent. */
  mayChange(token: string, socket: Socket): boolean {
    return this.rightOf(token) === 'change' && this.#peerRight(socket) === 'change';
  }

  #peerRight(socket: Socket): Right {
    const { readOnly, peer } = this.#options;
    return !readOnly && peer(socket) === 'other' ? 'change' : 'read';
  }
}

/** Every process that holds the other end counts: one may have got it from another. */
export function peerOf(socket: Socket): Peer {
  const { localPort, remotePort } = socket;
  if (localPort === undefined || remotePort === undefined) return 'unknown';
  const holders = connectionHolders(localPort, remotePort);
  if (holders.length === 0) return 'unknown';
  return holders.some(isAgentProcess) ? 'agent' : 'other';
}
