// Questions to the server of this page. The token is in `localStorage`, which belongs to this port
// alone; a cookie would be sent to every other server of this machine. The connection is a signal:
// when the server is gone, the page says so, and goes on at the same link when there is one again.
import { signal } from '@preact/signals';
import type { ApiError, Hello, TokenAnswer } from '../../src/web/api.ts';

const TOKEN_KEY = 'cuff-token';
const LINK_KEY = 'cuff-link';
const RETRY_MS = 1_500; // between looks for a server that is gone

export type Connection = 'ok' | 'gone' | 'unauthorized';

export const connection = signal<Connection>('ok');
export const hello = signal<Hello | undefined>(undefined);
/** Counts up whenever a server answers again: what is shown is asked for anew. */
export const revival = signal(0);

/** What the server said no to, with what to do about it. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | null;

  constructor(status: number, { code, message, hint }: ApiError['error']) {
    super(message);
    this.status = status;
    this.code = code;
    this.hint = hint;
  }
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export function token(): string {
  return localStorage.getItem(TOKEN_KEY) ?? '';
}

/** Trades the code of the address, if there is one, for a token; then says hello. */
export async function begin(): Promise<void> {
  const code = /^#code=([^&]+)/.exec(location.hash)?.[1];
  if (code !== undefined) {
    const link = localStorage.getItem(LINK_KEY) ?? '#/';
    history.replaceState(null, '', link.startsWith('#/') ? link : '#/');
    try {
      const answer = await post<TokenAnswer>('token', { code: decodeURIComponent(code) });
      localStorage.setItem(TOKEN_KEY, answer.token);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
  }
  localStorage.removeItem(LINK_KEY);
  addEventListener('storage', (event) => {
    if (event.key === TOKEN_KEY && event.newValue !== null) void greet();
  });
  await greet();
}

/** Asks until a server answers; a page of another server's token waits for a new one. */
async function greet(): Promise<void> {
  try {
    hello.value = await get<Hello>('hello');
    if (connection.value !== 'ok') {
      connection.value = 'ok';
      revival.value += 1;
    }
  } catch (error) {
    if (!(error instanceof Refusal)) lost('gone');
    else if (error.status !== 401 && error.status !== 403) throw error;
  }
}

let looking: ReturnType<typeof setTimeout> | undefined;

/** Remembers the link for the page that the next server opens, and looks for it. */
export function lost(why: Connection): void {
  connection.value = why;
  localStorage.setItem(LINK_KEY, location.hash);
  if (looking !== undefined) return;
  looking = setTimeout(async () => {
    looking = undefined;
    await greet();
    if (connection.value !== 'ok') lost(connection.value);
  }, RETRY_MS);
}

function address(path: string, query: Query = {}): string {
  const words = Object.entries(query)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`);
  return `/api/${path}${words.length === 0 ? '' : `?${words.join('&')}`}`;
}

export async function get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  return (await (await ask(address(path, query), { signal })).json()) as T;
}

export async function getText(path: string, query?: Query): Promise<string> {
  return (await ask(address(path, query), {})).text();
}

export async function post<T>(path: string, body: object): Promise<T> {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await ask(address(path), { method: 'POST', headers, body: JSON.stringify(body) });
  return (await answer.json()) as T;
}

export type Piece = { readonly offset: number; readonly bytes: Uint8Array };

/** Bytes from `from` on, at most up to `to`: what came may begin later (a hole) and end earlier. */
export async function getBytes(
  id: string,
  from: number,
  to: number,
  query: Query = {},
): Promise<Piece | undefined> {
  if (to <= from) return undefined;
  try {
    const path = address(`runs/${encodeURIComponent(id)}/bytes`, query);
    const answer = await ask(path, { headers: { Range: `bytes=${from}-${to - 1}` } });
    const start = /bytes (\d+)-/.exec(answer.headers.get('Content-Range') ?? '')?.[1];
    const bytes = new Uint8Array(await answer.arrayBuffer());
    return { offset: start === undefined ? from : Number(start), bytes };
  } catch (error) {
    if (error instanceof Refusal && error.status === 416) return undefined;
    throw error;
  }
}

type Ask = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
};

async function ask(path: string, { headers, signal, ...rest }: Ask): Promise<Response> {
  let answer: Response;
  const secret = token();
  const credentials = secret === '' ? {} : { Authorization: `Bearer ${secret}` };
  try {
    const init = { ...rest, headers: { ...headers, ...credentials } };
    answer = await fetch(path, signal === undefined ? init : { ...init, signal });
  } catch (error) {
    if (signal?.aborted !== true) lost('gone');
    throw error;
  }
  if (answer.ok) return answer;
  const failure = await refusalOf(answer);
  if (answer.status === 401) lost('unauthorized');
  throw failure;
}

async function refusalOf(answer: Response): Promise<Refusal> {
  try {
    return new Refusal(answer.status, ((await answer.json()) as ApiError).error);
  } catch {
    // Not one of ours: a server that is not cuff has taken the port.
    const message = `The server answered ${answer.status}.`;
    return new Refusal(answer.status, { code: 'unknown', message, hint: null });
  }
}
