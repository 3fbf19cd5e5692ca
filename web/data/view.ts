// What the page is showing: its route, and what the reader chose to be kept over pages. The route
// is the address and nothing else; a copied address is a copied view.
import { computed, effect, signal } from '@preact/signals';
import { formatRoute, type Page, parseRoute, type Route } from '../core/route.ts';

const hash = signal(location.hash);
addEventListener('hashchange', () => {
  hash.value = location.hash;
});

export const route = computed<Route>(() => parseRoute(hash.value));

export function go(page: Page, id = '', query: Route['query'] = {}): void {
  location.hash = formatRoute({ page, id, query });
}

/** The same page with other words: not a step of the history, unless `step` says so. */
export function requery(change: Readonly<Record<string, string>>, step = false): void {
  const { page, id, query } = parseRoute(location.hash);
  const next = formatRoute({ page, id, query: { ...query, ...change } });
  if (next === location.hash) return;
  if (step) location.hash = next;
  else {
    history.replaceState(null, '', next);
    hash.value = next;
  }
}

/** After the code of the address was traded for a token. */
export function routeAnew(): void {
  hash.value = location.hash;
}

/** A choice that stays: `wrap`, `times`, ... */
export function kept(name: string, before: boolean) {
  const key = `cuff-${name}`;
  const value = signal((localStorage.getItem(key) ?? String(before)) === 'true');
  effect(() => localStorage.setItem(key, String(value.value)));
  return value;
}

const narrowQuery = matchMedia('(max-width: 700px)');
export const narrow = signal(narrowQuery.matches);
narrowQuery.addEventListener('change', () => {
  narrow.value = narrowQuery.matches;
});

/** A sentence for a moment, read aloud: what a key did. */
export const said = signal('');
let silence: ReturnType<typeof setTimeout> | undefined;
export function say(words: string): void {
  said.value = words;
  clearTimeout(silence);
  silence = setTimeout(() => {
    said.value = '';
  }, 4_000);
}

export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(`Copied ${what}.`);
  } catch {
    say('The browser did not let this page write to the clipboard.');
  }
}
