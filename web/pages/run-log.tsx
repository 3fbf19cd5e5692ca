// The output of a run as numbered lines. A line number is a link. Only lines on the screen exist;
// they are fetched as the reader comes to them, and a live run is followed until it is scrolled.
import { effect } from '@preact/signals';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { LogRow } from '../core/fold.ts';
import { LOG } from '../core/keys.ts';
import type { Rows } from '../core/virtual.ts';
import { manyText } from '../core/words.ts';
import { hello } from '../data/client.ts';
import { useKeys } from '../data/keyboard.ts';
import { kill } from '../data/kill.ts';
import { LogDesk } from '../data/log-desk.ts';
import { colours, times, wrap } from '../data/log-look.ts';
import { requery, route } from '../data/view.ts';
import { VirtualList } from '../parts/list.tsx';
import { LineRow } from '../parts/log-line.tsx';
import { Button, Empty, Failure } from '../parts/marks.tsx';
import { FindBar } from './run-find.tsx';
import type { RunView } from './run-view.ts';

export function LogView({ answer, again }: RunView) {
  const [desk] = useState(() => new LogDesk(answer, targetOf() === 0));
  const { log, find } = desk;
  useLogStart(desk, again);
  useLogKeys(desk, again);
  if (log.failure.value !== undefined) return <Failure error={log.failure.value} />;
  if (log.bytes.value === 0) return <NoOutput open={log.open.value} />;
  const fresh = desk.fresh;
  return (
    <>
      <div class="bar">
        <FindBar find={find} id={log.id} onStep={(direction) => desk.toMatch(direction)} />
        <Button onClick={() => void desk.toError(1)} title="e">
          Next error
        </Button>
        <Looks desk={desk} />
      </div>
      <Lines desk={desk} target={targetOf()} />
      <div class="bar" role="status">
        <span class="quiet">{manyText(log.count.value, 'line')}</span>
        {log.open.value && <span class="live">● it still prints</span>}
        {fresh > 0 && <Button onClick={() => desk.toEnd()}>{manyText(fresh, 'new line')}</Button>}
      </div>
    </>
  );
}

/** The line that the address names, from 1; 0: none. */
function targetOf(): number {
  return Number(route.value.query.line) || 0;
}

const LOOKS = { wrap, ansi: colours, times } as const;

function toggle(name: keyof typeof LOOKS): () => void {
  return () => {
    LOOKS[name].value = !LOOKS[name].value;
  };
}

function Looks({ desk }: { readonly desk: LogDesk }) {
  return (
    <span class="right bar">
      {desk.log.open.value && (
        <Button pressed={desk.following.value} onClick={() => desk.follow()} title="f">
          Follow
        </Button>
      )}
      <Button pressed={wrap.value} onClick={toggle('wrap')} title="w">
        Wrap
      </Button>
      <Button pressed={colours.value} onClick={toggle('ansi')} title="a">
        Colours
      </Button>
      <Button pressed={times.value} onClick={toggle('times')} title="t">
        Times
      </Button>
      <Button pressed={desk.folds.value !== undefined} onClick={() => void desk.fold()} title="o">
        Fold
      </Button>
    </span>
  );
}

function useLogKeys(desk: LogDesk, again: () => void): void {
  const { log, list } = desk;
  const move = (how: () => void) => () => {
    desk.following.value = false;
    how();
  };
  const killable = log.open.value && hello.value?.read_only === false;
  useKeys(LOG, {
    find: () => document.getElementById('find')?.focus(),
    'next-match': () => desk.toMatch(1),
    'previous-match': () => desk.toMatch(-1),
    'next-failure': () => void desk.toError(1),
    'previous-failure': () => void desk.toError(-1),
    follow: () => desk.follow(),
    wrap: toggle('wrap'),
    ansi: toggle('ansi'),
    times: toggle('times'),
    fold: () => void desk.fold(),
    down: move(() => list.move(1)),
    up: move(() => list.move(-1)),
    top: move(() => list.show(0)),
    bottom: () => desk.toEnd(),
    'page-down': move(() => list.page(1)),
    'page-up': move(() => list.page(-1)),
    ...(killable ? { kill: () => void kill(log.id, again) } : {}),
  });
}

/** Goes to what the address names, and follows what still comes. */
function useLogStart(desk: LogDesk, again: () => void): void {
  const { log, following } = desk;
  const { line, off } = route.value.query;
  useEffect(() => {
    void log.begin();
    if (off !== undefined) {
      void log.place({ offset: Number(off) || 0 }).then((place) => {
        requery({ off: '', line: String(place.line + 1) });
        desk.show(place.line);
      });
    } else if (line !== undefined) desk.show(Number(line) - 1);
  }, [log, off]);
  useEffect(() => {
    if (!log.open.value) return;
    if (following.value) desk.toEnd();
    return log.follow(() => {
      if (following.value) desk.toEnd();
      if (!log.open.value) again();
    });
  }, [log]);
}

type LinesProps = { readonly desk: LogDesk; readonly target: number };

function Lines({ desk, target }: LinesProps) {
  const { log, find, list } = desk;
  const folds = desk.folds.value;
  const matching = useMemo(() => new Set(find.lines.value), [find.lines.value]);
  useEffect(() => effect(() => desk.ask()), [desk]);
  const version = log.version.value;
  const rows = ({ first, end }: Rows) =>
    Array.from({ length: Math.max(0, end - first) }, (_, index) => {
      const row: LogRow = folds?.[first + index] ?? { kind: 'line', line: first + index };
      if (row.kind === 'folded') return <Folded key={`fold ${row.first}`} row={row} />;
      return (
        <LineRow
          key={row.line}
          id={log.id}
          number={row.line}
          line={log.line(row.line)}
          target={row.line === target - 1}
          find={matching.has(row.line) ? find.text : undefined}
          sides={log.run.totals.stderr_bytes > 0}
          onPick={() => requery({ line: String(row.line + 1) })}
        />
      );
    });
  return (
    <VirtualList
      key={wrap.value ? 'wrapped' : 'plain'}
      state={list}
      count={folds?.length ?? log.count.value}
      rowHeight={desk.rowHeight}
      role="log"
      label={`Output of ${log.id}, ${version === 0 ? 'loading' : 'loaded'}`}
      class={`log ${wrap.value ? 'wrapped' : ''}`}
      rows={rows}
      onScroll={() => desk.scrolled()}
    />
  );
}

function Folded({ row }: { readonly row: Extract<LogRow, { kind: 'folded' }> }) {
  return (
    <div class="log-line log-note">… {manyText(row.last - row.first + 1, 'line')} like it</div>
  );
}

function NoOutput({ open }: { readonly open: boolean }) {
  return (
    <Empty title={open ? 'Nothing is printed yet.' : 'It printed nothing.'}>
      <p>
        {open
          ? 'The first line appears here by itself.'
          : 'Facts has how it ended; Processes what it did, if it was traced.'}
      </p>
    </Empty>
  );
}
