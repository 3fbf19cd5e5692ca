// All sessions, newest first, by day. Typing filters; the filters are in the address. Rows of live
// sessions change as the server tells.
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { SessionRow, SessionsAnswer } from '../../src/web/api.ts';
import { byDay, countsByDay, type DayRow } from '../core/days.ts';
import type { Rows } from '../core/virtual.ts';
import { countText, dayText, manyText, spanText } from '../core/words.ts';
import { get, hello, post, Refusal } from '../data/client.ts';
import { useKeys } from '../data/keyboard.ts';
import { ListState } from '../data/list-state.ts';
import { subscribe } from '../data/live.ts';
import { usePages } from '../data/pages.ts';
import { go, narrow, route, say } from '../data/view.ts';
import { VirtualList } from '../parts/list.tsx';
import { Button, Empty, Failure, Link, Outcome, SealMark, Time, Typed } from '../parts/marks.tsx';
import { Filters } from './sessions-filters.tsx';

const PAGE_ROWS = 500;
const ROW_HEIGHT = 38;
const ROW_HEIGHT_NARROW = 96;

type Row = DayRow<SessionRow>;

export function SessionsPage() {
  const { query } = route.value;
  const key = JSON.stringify(query);
  const pages = usePages<SessionRow, SessionsAnswer>(key, async (cursor, signal) => {
    const answer = await get<SessionsAnswer>(
      'sessions',
      { ...query, limit: PAGE_ROWS, cursor },
      signal,
    );
    return { items: answer.sessions, cursor: answer.cursor, answer };
  });
  const filtered = Object.keys(query).length > 0;
  useEffect(
    () =>
      subscribe('sessions', ({ rows, gone }) => {
        pages.change((items) => merged(items, rows, gone, !filtered));
      }),
    [filtered],
  );
  const { answer, error } = pages;
  if (error !== undefined) return <Failure error={error} />;
  if (answer === undefined) return <p class="quiet loading">Reading the journals…</p>;
  if (answer.total === 0 && !filtered && pages.items.length === 0) return <NoSessions />;
  return (
    <div class="page page-full">
      <div class="page-head">
        <h1>Sessions</h1>
        <span class="quiet">{manyText(answer.total, 'session')}</span>
        <Spark sessions={pages.items} />
      </div>
      <Filters facets={answer.facets} />
      {pages.items.length === 0 ? (
        <Empty title="No session matches.">
          <p>
            <Button onClick={() => go('sessions')}>Show all sessions</Button>
          </p>
        </Empty>
      ) : (
        <SessionTable items={pages.items} near={pages.near} total={answer.total} />
      )}
    </div>
  );
}

/** Rows that changed take the place of the old ones; new ones come first where nothing filters. */
function merged(
  items: readonly SessionRow[],
  rows: readonly SessionRow[],
  gone: readonly string[],
  unfiltered: boolean,
): SessionRow[] {
  const changed = new Map(rows.map((one) => [one.session_id, one]));
  const left = items
    .filter(({ session_id }) => !gone.includes(session_id))
    .map((one) => changed.get(one.session_id) ?? one);
  const known = new Set(items.map(({ session_id }) => session_id));
  const fresh = rows.filter(({ session_id }) => unfiltered && !known.has(session_id));
  return [...fresh, ...left].sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
}

function NoSessions() {
  return (
    <Empty title="Nothing is recorded yet.">
      <p>Commands of agents appear here as soon as cuff runs them. To begin:</p>
      <ul>
        <li>
          <Typed command="cuff init" /> in a project writes its agent’s configuration.
        </li>
        <li>
          <Typed command="cuff run --journal -- make test" /> records one command of your own.
        </li>
        <li>
          <Typed command="cuff exec claude" /> starts an agent whose own shell is recorded.
        </li>
      </ul>
    </Empty>
  );
}

function SessionTable(props: {
  readonly items: readonly SessionRow[];
  readonly near: (index: number) => void;
  readonly total: number;
}) {
  const { items, near, total } = props;
  const [state] = useState(() => new ListState());
  const [selected, setSelected] = useState(-1);
  const days = !narrow.value;
  const rows = useMemo(
    () =>
      days
        ? byDay(items, (one) => Date.parse(one.created_at))
        : items.map((item, index): Row => ({ kind: 'item', item, index })),
    [items, days],
  );
  const select = (step: number) => {
    const at = Math.min(items.length - 1, Math.max(0, selected + step));
    setSelected(at);
    state.show(rows.findIndex((row) => row.kind === 'item' && row.index === at));
  };
  useKeys(undefined, {
    down: () => select(1),
    up: () => select(-1),
    open: () => {
      const one = items[selected];
      if (one !== undefined) go('session', one.session_id);
    },
    find: () => document.getElementById('session-filter')?.focus(),
  });
  const shown = ({ first, end }: Rows) => {
    const last = rows[end - 1];
    if (last?.kind === 'item') queueMicrotask(() => near(last.index));
    return rows.slice(first, end).map((row, at) => rowOf(row, first + at, selected));
  };
  return (
    <div class="grid sessions" role="table" aria-label="Sessions" aria-rowcount={total + 1}>
      <div role="rowgroup">
        <div class="grid-row grid-head" role="row">
          {COLUMNS.map(({ name, css }) => (
            <span key={name} role="columnheader" class={css}>
              {name}
            </span>
          ))}
        </div>
      </div>
      <VirtualList
        state={state}
        count={rows.length}
        rowHeight={narrow.value ? ROW_HEIGHT_NARROW : ROW_HEIGHT}
        role="rowgroup"
        label="Sessions"
        rows={shown}
      />
    </div>
  );
}

function rowOf(row: Row, key: number, selected: number) {
  if (row.kind === 'day') {
    return (
      <div key={`day ${row.day}`} class="grid-row day" role="row">
        <span role="cell" aria-colspan={COLUMNS.length}>
          {dayText(row.day, Date.now())} <span class="quiet">{countText(row.count)}</span>
        </span>
      </div>
    );
  }
  const { item, index } = row;
  return (
    <div
      key={item.session_id}
      class={`grid-row ${index === selected ? 'selected' : ''}`}
      role="row"
      aria-rowindex={key + 2}
    >
      {COLUMNS.map(({ name, css, cell }) => (
        <span key={name} role="cell" class={css}>
          {cell(item)}
        </span>
      ))}
    </div>
  );
}

const COLUMNS: readonly {
  readonly name: string;
  readonly css: string;
  readonly cell: (one: SessionRow) => preact.ComponentChildren;
}[] = [
  { name: 'Began', css: 'col-began', cell: (one) => <Began one={one} /> },
  {
    name: 'Agent',
    css: 'col-agent',
    cell: (one) => one.agent_id ?? <span class="quiet">person</span>,
  },
  {
    name: 'Project',
    css: 'col-project',
    cell: (one) => <span title={one.project}>{one.project.split('/').at(-1)}</span>,
  },
  { name: 'Commands', css: 'col-commands', cell: (one) => <Commands one={one} /> },
  { name: 'Took', css: 'col-took', cell: (one) => spanText(one.total_duration_ms) },
  { name: 'Last command', css: 'col-last', cell: (one) => <Last one={one} /> },
  { name: 'Seal', css: 'col-seal', cell: (one) => <SealMark seal={one.seal} /> },
  { name: 'Kept', css: 'col-kept', cell: (one) => <Kept one={one} /> },
];

function Began({ one }: { readonly one: SessionRow }) {
  return (
    <Link page="session" id={one.session_id} title={one.session_id}>
      {narrow.value && `${one.created_at.slice(0, 10)} `}
      <Time at={one.created_at} />
      {one.live && (
        <span class="live">
          <span aria-hidden="true">●</span> live
        </span>
      )}
    </Link>
  );
}

function Commands({ one }: { readonly one: SessionRow }) {
  const { commands_succeeded: ok, commands_timed_out: late } = one;
  const refused = one.commands_refused ?? 0;
  const failed = Math.max(0, one.commands_failed - refused); // refused ones are counted there too
  return (
    <>
      <Outcome outcome="ok" words={`${countText(ok)} ok`} />
      {failed > 0 && <Outcome outcome="failed" words={`${countText(failed)} failed`} />}
      {refused > 0 && <Outcome outcome="refused" words={`${countText(refused)} refused`} />}
      {late > 0 && <Outcome outcome="timed_out" words={`${countText(late)} timed out`} />}
    </>
  );
}

function Last({ one }: { readonly one: SessionRow }) {
  if (one.last_command === null) return <span class="quiet">no command yet</span>;
  const { command } = one.last_command;
  return (
    <code class="one-line" title={command}>
      {command}
    </code>
  );
}

function Kept({ one }: { readonly one: SessionRow }) {
  const pinned = one.pinned > 0;
  const days = one.days_left;
  const words = pinned ? 'pinned' : days === null ? 'for good' : manyText(days, 'day');
  if (hello.value?.read_only !== false) return <span>{words}</span>;
  return (
    <>
      <span>{words}</span>{' '}
      <Button
        class="small"
        pressed={pinned}
        label={pinned ? `Unpin ${one.session_id}` : `Pin ${one.session_id}`}
        onClick={() => void pin(one.session_id, !pinned)}
      >
        {pinned ? 'Unpin' : 'Pin'}
      </Button>
    </>
  );
}

async function pin(session: string, pinned: boolean): Promise<void> {
  try {
    const { runs } = await post<{ runs: readonly string[] }>('pin', { session, pinned });
    say(`${pinned ? 'Pinned' : 'Unpinned'} ${manyText(runs.length, 'capture')}.`);
  } catch (error) {
    if (error instanceof Refusal) say(error.message);
  }
}

const SPARK_DAYS = 14;

/** Sessions a day, of those that are loaded. */
function Spark({ sessions }: { readonly sessions: readonly SessionRow[] }) {
  const times = sessions.map((one) => Date.parse(one.created_at));
  const counts = countsByDay(times, Date.now(), SPARK_DAYS);
  const most = Math.max(1, ...counts);
  const words = `Sessions a day in ${SPARK_DAYS} days: ${counts.join(', ')}`;
  return (
    <svg class="spark" viewBox={`0 0 ${SPARK_DAYS * 6} 24`} role="img" aria-label={words}>
      <title>{words}</title>
      {counts.map((count, day) => {
        const height = count === 0 ? 1 : 2 + (22 * count) / most;
        return <rect key={day} x={day * 6} y={24 - height} width="5" height={height} />;
      })}
    </svg>
  );
}
