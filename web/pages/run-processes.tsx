// The processes of a traced run: a tree with a bar for the life of each. A click shows what it was
// and only what it wrote.
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { TraceAnswer, TraceProcess, WritesAnswer } from '../../src/web/api.ts';
import { visible } from '../core/visible.ts';
import { barOf, bytesOf, type FallRow, nameOf, waterfall } from '../core/waterfall.ts';
import { bytesText, manyText, spanText } from '../core/words.ts';
import { get, getText } from '../data/client.ts';
import { useKeys } from '../data/keyboard.ts';
import { ListState } from '../data/list-state.ts';
import { useAnswer } from '../data/use.ts';
import { requery, route } from '../data/view.ts';
import { writtenBy } from '../data/writes.ts';
import { VirtualList } from '../parts/list.tsx';
import { Button, Empty, Facts, Failure, Outcome, Typed } from '../parts/marks.tsx';
import { OutputText } from '../parts/output.tsx';
import { save } from '../parts/proof.tsx';
import type { RunView } from './run-view.ts';

const ROW_HEIGHT = 26;

export function ProcessesView({ answer }: RunView) {
  const id = answer.run.session_id;
  const path = `runs/${encodeURIComponent(id)}/trace`;
  const { data, error } = useAnswer<TraceAnswer>(`${id} trace`, (signal) => get(path, {}, signal));
  if (error !== undefined) return <Failure error={error} />;
  if (data === undefined) return <p class="quiet loading">Reading the trace…</p>;
  if (data.processes.length === 0) return <NotTraced trace={data} />;
  const perfetto = async () => {
    save(`${id}.trace.json`, new Blob([await getText(path, { format: 'chrome' })]));
  };
  return (
    <>
      <div class="bar">
        <span class="quiet">{manyText(data.processes.length, 'process', 'processes')}</span>
        {data.unattributed_bytes > 0 && (
          <span class="quiet">
            {bytesText(data.unattributed_bytes)} of the output are of no known process
          </span>
        )}
        {data.untraced.length > 0 && (
          <span class="quiet">
            {data.untraced.length} not traced:{' '}
            {data.untraced.map(({ reason }) => reason).join(', ')}
          </span>
        )}
        <span class="right">
          <Button onClick={() => void perfetto()} title="Open the file in Perfetto">
            Save for Perfetto
          </Button>
        </span>
      </div>
      <Fall answer={answer} processes={data.processes} />
    </>
  );
}

function NotTraced({ trace }: { readonly trace: TraceAnswer }) {
  return (
    <Empty title="This run was not traced.">
      {trace.reason !== undefined && <p>{trace.reason}</p>}
      <p>
        <Typed command="cuff run --trace -- COMMAND" /> shows every process of a command, when it
        lived and what it wrote; <Typed command="cuff doctor" /> says whether this machine can.
      </p>
    </Empty>
  );
}

type FallProps = {
  readonly answer: RunView['answer'];
  readonly processes: readonly TraceProcess[];
};

function Fall({ answer, processes }: FallProps) {
  const [list] = useState(() => new ListState());
  const [failing, setFailing] = useState(false);
  const whole = useMemo(() => waterfall(processes), [processes]);
  const rows = failing ? whole.rows.filter((row) => row.failed) : whole.rows;
  const chosen = rows.findIndex(({ index }) => String(index) === route.value.query.process);
  const choose = (at: number) => {
    const row = rows[Math.min(rows.length - 1, Math.max(0, at))];
    if (row === undefined) return;
    requery({ process: String(row.index) });
    list.show(rows.indexOf(row));
  };
  useKeys(undefined, {
    down: () => choose(chosen + 1),
    up: () => choose(chosen - 1),
    'next-failure': () => choose(rows.findIndex((row, at) => row.failed && at > chosen)),
  });
  const failed = whole.rows.filter((row) => row.failed).length;
  const row = rows[chosen];
  return (
    <>
      <div class="bar">
        <Button pressed={failing} onClick={() => setFailing(!failing)} disabled={failed === 0}>
          Only the {failed} failed
        </Button>
        <span class="quiet">
          {spanText(whole.span / 1e6)} in all; a line below a bar: on the critical path
        </span>
      </div>
      <div class="fall-list" role="table" aria-label="Processes" aria-rowcount={rows.length + 1}>
        <div role="rowgroup">
          <div class="fall-row fall-head" role="row">
            <span role="columnheader">Process</span>
            <span role="columnheader">Ended</span>
            <span role="columnheader">Wrote</span>
            <span role="columnheader">Lived</span>
          </div>
        </div>
        <VirtualList
          state={list}
          count={rows.length}
          rowHeight={ROW_HEIGHT}
          role="rowgroup"
          label="Processes"
          rows={({ first, end }) =>
            rows
              .slice(first, end)
              .map((one, at) => (
                <Row
                  key={one.index}
                  row={one}
                  span={whole.span}
                  selected={one === row}
                  onPick={() => choose(first + at)}
                />
              ))
          }
        />
      </div>
      {row !== undefined && <Chosen key={row.index} answer={answer} process={row.process} />}
    </>
  );
}

type RowProps = {
  readonly row: FallRow;
  readonly span: number;
  readonly selected: boolean;
  readonly onPick: () => void;
};

function Row({ row, span, selected, onPick }: RowProps) {
  const { process, depth, failed, open, critical } = row;
  const { left, width } = barOf(row, span);
  const name = visible(nameOf(process));
  const classes = ['fall-row', selected && 'selected', critical && 'critical'];
  const took = open ? 'still there' : spanText((row.end - row.start) / 1e6);
  const when = `from ${spanText(row.start / 1e6)}, ${took}`;
  return (
    <div class={classes.filter(Boolean).join(' ')} role="row">
      <span class="fall-name" role="cell" style={{ paddingLeft: `${Math.min(depth, 20) * 14}px` }}>
        <button type="button" onClick={onPick} title={name} aria-pressed={selected}>
          {name}
        </button>
      </span>
      <span role="cell">
        {open ? <span class="quiet">no end</span> : <Ended process={process} failed={failed} />}
      </span>
      <span role="cell" class="quiet">
        {bytesOf(process) === 0 ? '' : bytesText(bytesOf(process))}
      </span>
      <span role="cell" class="fall-track" title={when}>
        <span
          class={`fall-bar ${failed ? 'bad' : ''} ${open ? 'open' : ''}`}
          style={{ left: `${left}%`, width: `${width}%` }}
        >
          <span class="unseen">{when}</span>
        </span>
      </span>
    </div>
  );
}

function Ended({ process, failed }: { process: TraceProcess; failed: boolean }) {
  const words = process.signal ?? `exit ${process.exit_code ?? '?'}`;
  return <Outcome outcome={failed ? 'failed' : 'ok'} words={words} />;
}

function Chosen({ answer, process }: { answer: RunView['answer']; process: TraceProcess }) {
  const id = answer.run.session_id;
  const path = `runs/${encodeURIComponent(id)}/writes`;
  const writes = useAnswer<WritesAnswer>(`${id} ${process.pid} writes`, (signal) =>
    get(path, { pid: process.pid }, signal),
  );
  const [parts, setParts] = useState<Awaited<ReturnType<typeof writtenBy>>>();
  useEffect(() => {
    if (writes.data !== undefined) void writtenBy(id, writes.data.ranges).then(setParts);
  }, [writes.data, id]);
  const failed = process.failed_execs ?? [];
  return (
    <section class="panel chosen" aria-label="The chosen process">
      <Facts
        rows={[
          ['Process', `${process.pid}, of ${process.ppid}`],
          ...process.images.map(
            (image, at) =>
              [
                at === 0 ? 'Program' : `then, at ${spanText(image.start_ns / 1e6)}`,
                <code key="i">{visible(`${image.exe}: ${image.argv.join(' ')}`)}</code>,
              ] as const,
          ),
          ['Directory', <code key="d">{visible(process.images.at(-1)?.cwd ?? 'not known')}</code>],
          ['Known by', process.sources.join(', ')],
          ...(failed.length === 0
            ? []
            : [
                [
                  'Not found',
                  failed.map(({ file, errno }) => `${visible(file)}: ${errno}`).join('; '),
                ] as const,
              ]),
        ]}
      />
      <h2>What it wrote</h2>
      {parts === undefined ? (
        <p class="quiet">…</p>
      ) : parts.parts.length === 0 ? (
        <p class="quiet">Nothing that is known to be of it.</p>
      ) : (
        <>
          <OutputText parts={parts.parts} />
          {parts.left > 0 && <p class="quiet">… and {bytesText(parts.left)} more</p>}
        </>
      )}
    </section>
  );
}
