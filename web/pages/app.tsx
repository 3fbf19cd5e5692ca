// The frame around every page: where one can go, whether the server answers, who waits for an
// answer, the list of keys.
import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { KeyGroup } from '../core/keys.ts';
import { PAGES, type Page } from '../core/route.ts';
import { manyText } from '../core/words.ts';
import { connection, hello } from '../data/client.ts';
import { groupsShown, useKeys } from '../data/keyboard.ts';
import { subscribe } from '../data/live.ts';
import { questions } from '../data/questions.ts';
import { copy, go, route, said } from '../data/view.ts';
import { lazy } from '../parts/lazy.tsx';
import { Button, Link, Typed } from '../parts/marks.tsx';
import { SessionsPage } from './sessions.tsx';

const NAMES: Readonly<Partial<Record<Page, string>>> = {
  sessions: 'Sessions',
  search: 'Search',
  live: 'Live',
  activity: 'Activity',
  policy: 'Policy',
  verify: 'Verify',
  health: 'Health',
};

const SHOWN: Readonly<Partial<Record<Page, ComponentType>>> = {
  sessions: SessionsPage,
  session: lazy(async () => (await import('./session.tsx')).SessionPage),
  run: lazy(async () => (await import('./run.tsx')).RunPage),
  search: lazy(async () => (await import('./search.tsx')).SearchPage),
  live: lazy(async () => (await import('./wall.tsx')).WallPage),
  activity: lazy(async () => (await import('./activity.tsx')).ActivityPage),
  policy: lazy(async () => (await import('./policy.tsx')).PolicyPage),
  verify: lazy(async () => (await import('./verify.tsx')).VerifyPage),
  health: lazy(async () => (await import('./health.tsx')).HealthPage),
};

const helpOpen = signal(false);

export function App() {
  useEffect(() => {
    if (connection.value !== 'ok' || hello.value === undefined) return;
    return subscribe('questions', (message) => {
      questions.value = message.questions;
    });
  }, []);
  useTitle();
  const actions = Object.fromEntries(PAGES.map((page) => [`go:${page}`, () => go(page)]));
  useKeys(undefined, {
    ...actions,
    help: () => {
      helpOpen.value = true;
    },
    back: () => history.back(),
    link: () => void copy(location.href.replace(/#code=.*/, '#/'), 'the link of this view'),
  });
  const Shown = SHOWN[route.value.page] ?? SessionsPage;
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <Head />
      <Lost />
      <main id="main" tabIndex={-1}>
        {hello.value !== undefined && <Shown key={`${route.value.page}/${route.value.id}`} />}
      </main>
      <div class="said" role="status">
        {said.value}
      </div>
      {helpOpen.value && <Help />}
    </>
  );
}

function useTitle(): void {
  const { page, id } = route.value;
  const waiting = questions.value.length;
  const name = id === '' ? (NAMES[page] ?? '') : id;
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${name} · cuff`;
  }, [waiting, name]);
}

function Head() {
  const { page } = route.value;
  const waiting = questions.value.length;
  const current = page === 'session' || page === 'run' ? 'sessions' : page;
  return (
    <header class="head">
      <Link page="sessions" class="brand">
        cuff
      </Link>
      <nav aria-label="Pages">
        {Object.entries(NAMES).map(([one, name]) => (
          <a
            key={one}
            href={one === 'sessions' ? '#/' : `#/${one}`}
            aria-current={one === current ? 'page' : undefined}
          >
            {name}
            {one === 'policy' && waiting > 0 && (
              <span class="count" title={manyText(waiting, 'pending question')}>
                {waiting}
              </span>
            )}
          </a>
        ))}
      </nav>
      <span class="spring" />
      {hello.value?.read_only === true && (
        <span class="chip" title={hello.value.read_only_reason ?? ''}>
          read only
        </span>
      )}
      <Button onClick={() => (helpOpen.value = true)} title="Keys (?)">
        Keys
      </Button>
    </header>
  );
}

/** The server is gone, or is another that does not know this page. */
function Lost() {
  if (connection.value === 'ok') return null;
  const gone = connection.value === 'gone';
  return (
    <div class="lost" role="alert">
      <strong>
        {gone ? 'The server of this page is gone.' : 'This page has no token any more.'}
      </strong>{' '}
      Run <Typed command="cuff ui" /> and this page goes on at the same link.
    </div>
  );
}

function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="help" aria-label="Keys" onClose={() => (helpOpen.value = false)}>
      <form method="dialog">
        <h2>Keys</h2>
        <button type="submit">Close</button>
      </form>
      <p class="quiet">No key acts while you type.</p>
      <div class="help-groups">
        {groupsShown().map((group) => (
          <KeyTable key={group.title} group={group} />
        ))}
      </div>
    </dialog>
  );
}

function KeyTable({ group }: { readonly group: KeyGroup }) {
  const rows = group.rows.filter(({ action }) => {
    const page = /^go:(.*)/.exec(action)?.[1];
    return page === undefined || page in NAMES;
  });
  return (
    <table>
      <caption>{group.title}</caption>
      <tbody>
        {rows.map(({ keys, words }) => (
          <tr key={words}>
            <th scope="row">
              {keys.map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </th>
            <td>{words}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
