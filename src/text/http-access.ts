// Decides which callers an HTTP server on this machine answers. A web page whose name resolves to
// 127.0.0.1 sends that name as Host, any other page its Origin: both are refused before the token
// is looked at.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const HERE: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

export type Refusal = { readonly status: 401 | 403; readonly message: string };

/** Why a request is refused, or undefined when it may be served. Any of the tokens will do. */
export function refusal(
  headers: IncomingHttpHeaders,
  ...tokens: readonly string[]
): Refusal | undefined {
  const { origin } = headers;
  if (!hostIsHere(headers)) return WRONG_HOST;
  if (origin !== undefined && !isHere(origin, origin.replace(/^https?:\/\//, ''))) {
    return WRONG_ORIGIN;
  }
  if (!tokens.some((token) => sameToken(bearerOf(headers), token))) {
    return { status: 401, message: 'A bearer token is needed: Authorization: Bearer TOKEN.' };
  }
  return undefined;
}

/**
 * The same for a server that has a page of its own, without the token: other pages of this machine,
 * such as those that a server of an agent has, are foreign, too. The Host may name another port: a
 * tunnel has one of its own.
 */
export function pageRefusal(headers: IncomingHttpHeaders): Refusal | undefined {
  const { origin, host } = headers;
  if (!hostIsHere(headers)) return WRONG_HOST;
  return origin === undefined || origin === `http://${host}` ? undefined : WRONG_ORIGIN;
}

const WRONG_HOST: Refusal = {
  status: 403,
  message: 'The Host header must name 127.0.0.1 or localhost.',
};

const WRONG_ORIGIN: Refusal = {
  status: 403,
  message: 'Requests from web pages of other origins are refused.',
};

function hostIsHere({ host }: IncomingHttpHeaders): boolean {
  return isHere(`http://${host ?? ''}`, host);
}

/** `authority` must be all there is behind the scheme: no user, no path. */
function isHere(url: string, authority: string | undefined): boolean {
  if (authority === undefined || !/^[\w.[\]:-]+$/.test(authority) || !URL.canParse(url))
    return false;
  const { protocol, hostname } = new URL(url);
  return /^https?:$/.test(protocol) && HERE.includes(hostname);
}

/** Empty where there is none. */
export function bearerOf({ authorization }: IncomingHttpHeaders): string {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
}

/** Takes the same time wherever a wrong token differs. */
export function sameToken(given: string, token: string): boolean {
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
