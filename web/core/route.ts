// Every state of the page is a link: the part of its address behind `#`. What this file does not
// know is the list of sessions, never an error.

export const PAGES = [
  'sessions',
  'session',
  'run',
  'search',
  'live',
  'activity',
  'policy',
  'verify',
  'health',
] as const;
export type Page = (typeof PAGES)[number];

export type Route = {
  readonly page: Page;
  /** Of a session or a run. */
  readonly id: string;
  readonly query: Readonly<Record<string, string>>;
};

const HEADS: Readonly<Record<Page, string>> = {
  sessions: '',
  session: 's',
  run: 'r',
  search: 'search',
  live: 'live',
  activity: 'activity',
  policy: 'policy',
  verify: 'verify',
  health: 'health',
};

export function parseRoute(hash: string): Route {
  const text = hash.replace(/^#\/?/, '');
  const mark = text.indexOf('?');
  const path = mark < 0 ? text : text.slice(0, mark);
  const [head = '', ...rest] = path.split('/');
  const id = unescaped(rest.join('/'));
  const page = PAGES.find((one) => HEADS[one] === head) ?? 'sessions';
  const needsId = page === 'session' || page === 'run';
  if (needsId !== (id !== '')) return { page: 'sessions', id: '', query: {} };
  return { page, id, query: parseQuery(mark < 0 ? '' : text.slice(mark + 1)) };
}

export function formatRoute({
  page,
  id = '',
  query = {},
}: Partial<Route> & { page: Page }): string {
  const head = HEADS[page];
  const path = id === '' ? head : `${head}/${encodeURIComponent(id)}`;
  const words = Object.entries(query)
    .filter(([, value]) => value !== '')
    .map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`);
  return `#/${path}${words.length === 0 ? '' : `?${words.join('&')}`}`;
}

function parseQuery(text: string): Record<string, string> {
  const query: Record<string, string> = {};
  for (const word of text.split('&').filter(Boolean)) {
    const [key = '', ...rest] = word.split('=');
    const value = unescaped(rest.join('='));
    if (value !== '') query[unescaped(key)] = value;
  }
  return query;
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // not written by us; it finds nothing, and the page says so
  }
}
