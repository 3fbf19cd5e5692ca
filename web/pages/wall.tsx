// What runs now, side by side. Each tile follows its run until it is scrolled; a run that ends
// stays until the page is left.
import { useSignal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { LiveRun } from '../../src/web/api.ts';
import { visible } from '../core/visible.ts';
import { manyText } from '../core/words.ts';
import { hello } from '../data/client.ts';
import { useKeys } from '../data/keyboard.ts';
import { kill } from '../data/kill.ts';
import { subscribe } from '../data/live.ts';
import { questions } from '../data/questions.ts';
import { Tail } from '../data/tail.ts';
import { go, requery, route } from '../data/view.ts';
import { Painted } from '../parts/ink.tsx';
import { Button, Empty, Link, Time, Typed } from '../parts/marks.tsx';

const TILES_MAX = 12;

export function WallPage() {
  const [runs, setRuns] = useState<readonly LiveRun[]>();
  const [selected, setSelected] = useState(-1);
  useEffect(
    () =>
      subscribe('runs', (message) => {
        setRuns((before = []) => withEnded(before, message.runs));
      }),
    [],
  );
  const wanted = (route.value.query.ids ?? '').split(',').filter(Boolean);
  const shown = (runs ?? [])
    .filter(({ session_id }) => wanted.length === 0 || wanted.includes(session_id))
    .slice(0, TILES_MAX);
  const move = (step: number) =>
    setSelected(Math.min(shown.length - 1, Math.max(0, selected + step)));
  useKeys(undefined, {
    down: () => move(1),
    up: () => move(-1),
    open: () => {
      const run = shown[selected];
      if (run !== undefined) go('run', run.session_id);
    },
  });
  if (runs === undefined) return <p class="quiet loading">Looking for live runs…</p>;
  return (
    <div class="page">
      <div class="page-head">
        <h1>Live</h1>
        <span class="quiet">{manyText(runs.filter(isLive).length, 'live run')}</span>
        {questions.value.length > 0 && (
          <Link page="policy">{manyText(questions.value.length, 'question')} to answer</Link>
        )}
        {wanted.length > 0 && <Button onClick={() => requery({ ids: '' })}>Show all</Button>}
      </div>
      {shown.length === 0 && (
        <Empty title="Nothing runs now.">
          <p>
            What an agent starts appears here by itself, and so does{' '}
            <Typed command="cuff run -- COMMAND" />.
          </p>
        </Empty>
      )}
      <div class="tiles">
        {shown.map((run, at) => (
          <Tile
            key={run.session_id}
            run={run}
            wide={wanted.length === 1}
            selected={at === selected}
          />
        ))}
      </div>
      {runs.length > TILES_MAX && wanted.length === 0 && (
        <p class="quiet">{manyText(runs.length - TILES_MAX, 'more run')} not shown.</p>
      )}
    </div>
  );
}

function isLive({ state }: LiveRun): boolean {
  return state === 'running' || state === 'starting';
}

/** Tiles keep their places: new runs come behind, and those that ended say so. */
function withEnded(before: readonly LiveRun[], now: readonly LiveRun[]): LiveRun[] {
  const live = new Map(now.map((run) => [run.session_id, run]));
  const kept = before.map((run): LiveRun => {
    const found = live.get(run.session_id);
    live.delete(run.session_id);
    return found ?? (isLive(run) ? { ...run, state: 'exited', output_open: false } : run);
  });
  return [...kept, ...live.values()];
}

type TileProps = { readonly run: LiveRun; readonly wide: boolean; readonly selected: boolean };

function Tile({ run, wide, selected }: TileProps) {
  const { session_id: id } = run;
  const [tail] = useState(() => new Tail(id, run.output_bytes));
  const place = useRef<HTMLDivElement>(null);
  const following = useSignal(true);
  const seen = useSignal(0);
  useEffect(() => tail.follow(), [tail]);
  const lines = tail.lines.value;
  useEffect(() => {
    const element = place.current;
    if (element === null || !following.value) return;
    element.scrollTop = element.scrollHeight;
    seen.value = tail.count.value;
  });
  const scrolled = () => {
    const element = place.current;
    if (element === null) return;
    following.value = element.scrollTop + element.clientHeight > element.scrollHeight - 30;
  };
  const fresh = following.value ? 0 : tail.count.value - seen.value;
  const command = run.shell_text ?? (run.command ?? []).join(' ');
  const classes = ['tile', wide && 'wide', selected && 'current'].filter(Boolean).join(' ');
  return (
    <section class={classes} aria-label={`Run ${id}`}>
      <div class="tile-head">
        {isLive(run) ? (
          <span class="live" style={{ marginLeft: 0 }}>
            ● live
          </span>
        ) : (
          <span class="quiet">ended</span>
        )}
        <Link page="run" id={id}>
          <code class="one-line">{visible(command.split('\n')[0] ?? id)}</code>
        </Link>
        <span class="spring" />
        <span class="quiet">
          {run.agent ?? 'a person'} <Time at={run.created_at} ago />
        </span>
        <Button class="small" onClick={() => requery({ ids: wide ? '' : id })}>
          {wide ? 'Smaller' : 'Larger'}
        </Button>
        {isLive(run) && hello.value?.read_only === false && (
          <Button class="small danger" onClick={() => void kill(id, () => undefined)}>
            End
          </Button>
        )}
      </div>
      <div
        ref={place}
        class="tile-text"
        role="log"
        aria-live="off"
        aria-label={`Output of ${id}`}
        tabIndex={0}
        onScroll={scrolled}
      >
        {lines.length === 0 && <span class="quiet">Nothing is printed yet.</span>}
        {lines.map(({ number, spans }) => (
          <div key={number} class="output">
            {spans.length === 0 ? '\n' : <Painted spans={spans} />}
          </div>
        ))}
      </div>
      {fresh > 0 && (
        <Button onClick={() => (following.value = true)}>{manyText(fresh, 'new line')}</Button>
      )}
    </section>
  );
}
