// What narrows the list of sessions: words while they are typed, the facets, and views that the
// reader saved in this browser. All of it is in the address.
import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Facet, SessionsAnswer } from '../../src/web/api.ts';
import { go, requery, route, say } from '../data/view.ts';
import { Button } from '../parts/marks.tsx';

const VIEWS_KEY = 'cuff-views';
const TYPING_MS = 150; // letters that come faster are one question
const SINCE = [
  ['1d', 'last day'],
  ['7d', 'last week'],
  ['30d', 'last month'],
] as const;

type View = { readonly name: string; readonly query: Readonly<Record<string, string>> };
const views = signal<readonly View[]>(readViews());

export function Filters({ facets }: { readonly facets: SessionsAnswer['facets'] }) {
  const { query } = route.value;
  const some = Object.keys(query).length > 0;
  return (
    <div class="filters">
      <Words />
      <Choice name="agent" label="Agent" facet={facets.agent} />
      <Choice name="status" label="Status" facet={facets.status} />
      <Choice name="project" label="Project" facet={facets.project} short />
      <Choice name="seal" label="Seal" facet={facets.seal} />
      <select
        aria-label="Began"
        value={query.since ?? ''}
        onChange={(event) => requery({ since: event.currentTarget.value })}
      >
        <option value="">Any time</option>
        {SINCE.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
      {some && <Button onClick={() => go('sessions')}>Clear</Button>}
      {some && <Button onClick={saveView}>Save view</Button>}
      {views.value.map(({ name, query }) => (
        <span key={name} class="saved">
          <Button onClick={() => go('sessions', '', query)}>{name}</Button>
          <Button label={`Forget the view ${name}`} onClick={() => forgetView(name)}>
            ×
          </Button>
        </span>
      ))}
    </div>
  );
}

function Words() {
  const { q = '' } = route.value.query;
  const [text, setText] = useState(q);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // What was asked comes back as `q` while letters are still typed: only another one replaces them.
  const asked = useRef(q);
  useEffect(() => {
    if (q === asked.current) return;
    asked.current = q;
    clearTimeout(timer.current);
    setText(q);
  }, [q]);
  return (
    <input
      id="session-filter"
      type="search"
      placeholder="Filter: words, agent, project (/)"
      aria-label="Filter sessions"
      value={text}
      onInput={(event) => {
        const { value } = event.currentTarget;
        setText(value);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => {
          asked.current = value;
          requery({ q: value });
        }, TYPING_MS);
      }}
    />
  );
}

type ChoiceProps = {
  readonly name: string;
  readonly label: string;
  readonly facet: Facet;
  /** Of a path, its last part. */
  readonly short?: boolean;
};

function Choice({ name, label, facet, short = false }: ChoiceProps) {
  const value = route.value.query[name] ?? '';
  if (facet.length < 2 && value === '') return null;
  const known = facet.some((one) => one.value === value);
  return (
    <select
      aria-label={label}
      value={value}
      onChange={(event) => requery({ [name]: event.currentTarget.value })}
    >
      <option value="">{label}: any</option>
      {!known && value !== '' && <option value={value}>{value}</option>}
      {facet.map((one) => (
        <option key={one.value} value={one.value}>
          {short ? one.value.split('/').at(-1) : one.value} ({one.count})
        </option>
      ))}
    </select>
  );
}

function saveView(): void {
  const { query } = route.value;
  const name = Object.values(query).join(' ').slice(0, 40);
  keepViews([...views.value.filter((one) => one.name !== name), { name, query }]);
  say(`Saved the view ${name}.`);
}

function forgetView(name: string): void {
  keepViews(views.value.filter((one) => one.name !== name));
}

function keepViews(next: readonly View[]): void {
  views.value = next;
  localStorage.setItem(VIEWS_KEY, JSON.stringify(next));
}

function readViews(): View[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(VIEWS_KEY) ?? '[]');
    return Array.isArray(kept) ? kept.filter((one) => typeof one?.name === 'string') : [];
  } catch {
    return []; // not written by this page
  }
}
