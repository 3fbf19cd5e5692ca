// One run: what it was, then its output as a log, its player, its processes, its facts and proof.
// Only the tab that is shown is loaded.
import type { ComponentType } from 'preact';
import type { RunAnswer } from '../../src/web/api.ts';
import { visible } from '../core/visible.ts';
import { bytesText, countText, spanText } from '../core/words.ts';
import { get, hello } from '../data/client.ts';
import { kill } from '../data/kill.ts';
import { useAnswer } from '../data/use.ts';
import { route } from '../data/view.ts';
import { lazy } from '../parts/lazy.tsx';
import { Button, Failure, Link, Outcome, Time } from '../parts/marks.tsx';
import { FactsView, ProofView } from './run-facts.tsx';
import { LogView } from './run-log.tsx';
import type { RunView } from './run-view.ts';

const TABS: readonly {
  readonly view: string;
  readonly name: string;
  readonly shown: ComponentType<RunView>;
  /** It fills the window, and scrolls inside of it. */
  readonly full?: boolean;
}[] = [
  { view: 'log', name: 'Log', shown: LogView, full: true },
  {
    view: 'player',
    name: 'Player',
    shown: lazy(async () => (await import('./run-player.tsx')).PlayerView),
    full: true,
  },
  {
    view: 'processes',
    name: 'Processes',
    shown: lazy(async () => (await import('./run-processes.tsx')).ProcessesView),
  },
  { view: 'facts', name: 'Facts', shown: FactsView },
  { view: 'proof', name: 'Proof', shown: ProofView },
];

export function RunPage() {
  const { id, query } = route.value;
  const path = `runs/${encodeURIComponent(id)}`;
  const { data, error, again } = useAnswer<RunAnswer>(id, (signal) => get(path, {}, signal));
  if (error !== undefined) return <Failure error={error} />;
  if (data === undefined) return <p class="quiet loading">Reading the capture…</p>;
  const tab = TABS.find(({ view }) => view === (query.view ?? 'log')) ?? TABS[0];
  const Shown = tab?.shown ?? LogView;
  return (
    <div class={`page ${tab?.full === true ? 'page-full' : ''}`}>
      <RunHead answer={data} again={again} />
      <nav class="tabs" aria-label="Views of this run">
        {TABS.map(({ view, name }) => (
          <Link key={view} page="run" id={id} query={{ view }} current={view === tab?.view}>
            {name}
          </Link>
        ))}
      </nav>
      <Shown answer={data} again={again} />
    </div>
  );
}

function RunHead({ answer, again }: RunView) {
  const { run, entry, totals, missing } = answer;
  const command = run.shell_text ?? (run.command ?? []).join(' ');
  const began = Date.parse(run.created_at);
  const live = run.state === 'running' || run.state === 'starting';
  return (
    <>
      <div class="page-head">
        <h1>Run {run.session_id}</h1>
        <State answer={answer} />
        <span class="bar right">
          {live && hello.value?.read_only === false && (
            <Button class="danger" onClick={() => void kill(run.session_id, again)}>
              End it
            </Button>
          )}
          {entry !== null && (
            <Link
              page="session"
              id={entry.session_id}
              query={{ cmd: String(entry.sequence_number) }}
            >
              In its session
            </Link>
          )}
        </span>
      </div>
      <pre class="run-command" tabIndex={0} aria-label="Command">
        {command === '' ? 'Its words are encrypted.' : command.split('\n').map(visible).join('\n')}
      </pre>
      <div class="run-facts">
        <span class="mono">{visible(run.working_directory ?? '')}</span>
        <span>
          {run.created_at.slice(0, 10)} <Time at={run.created_at} />
        </span>
        {run.ended_at !== null && <span>took {spanText(Date.parse(run.ended_at) - began)}</span>}
        <span>
          {bytesText(totals.bytes)}, {countText(totals.lines)} lines
        </span>
        {missing.bytes > 0 && (
          <Outcome outcome="timed_out" words={`${bytesText(missing.bytes)} are not kept`} />
        )}
      </div>
    </>
  );
}

function State({ answer }: { readonly answer: RunAnswer }) {
  const { run } = answer;
  if (run.state === 'running' || run.state === 'starting') {
    return (
      <span class="live">
        <span aria-hidden="true">●</span> {run.state}
      </span>
    );
  }
  if (run.state === 'exited' && run.exit_code === 0) return <Outcome outcome="ok" words="exit 0" />;
  const words =
    run.exit_code === null ? (run.signal ?? run.reason ?? run.state) : `exit ${run.exit_code}`;
  const late = run.ended_by === 'timeout';
  return (
    <Outcome outcome={late ? 'timed_out' : 'failed'} words={late ? `${words}, late` : words} />
  );
}
