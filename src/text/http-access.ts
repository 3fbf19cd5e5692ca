// Decides which callers the HTTP server answers. A web page whose name resolves to 127.0.0.1 sends
// that name as Host, any other page its Origin: both are refused before the token is looked at.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const HERE: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

export type Refusal = { readonly status: 401 | 403; readonly message: string };

/** Why a request is refused, or undefined when it may be served. Any of the tokens will do. */
export function refusal(
  headers: IncomingHttpHeaders,
  ...tokens: readonly string[]
): Refusal | undefined {
  if (!isHere(`http://${headers.host ?? ''}`, headers.host)) {
    return { status: 403, message: 'The Host header must name 127.0.0.1 or localhost.' };
  }
  const { origin } = headers;
  if (origin !== undefined && !isHere(origin, origin.replace(/^https?:\/\//, ''))) {
    return { status: 403, message: 'Requests from web pages of other origins are refused.' };
  }
  if (!tokens.some((token) => hasToken(headers.authorization, token))) {
    return { status: 401, message: 'A bearer token is needed: Authorization: Bearer TOKEN.' };
  }
  return undefined;
}

/** `authority` must be all there is behind the scheme: no user, no path. */
function isHere(url: string, authority: string | undefined): boolean {
  if (authority === undefined || !/^[\w.[\]:-]+$/.test(authority) || !URL.canParse(url))
    return false;
  const { protocol, hostname } = new URL(url);
  return /^https?:$/.test(protocol) && HERE.includes(hostname);
}

/** Takes the same time wherever a wrong token differs. */
function hasToken(header: string | undefined, token: string): boolean {
  const given = /^Bearer +(\S+)$/i.exec(header ?? '')?.[1] ?? '';
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
