// What agents did: commands over time by outcome, by hour of the week, the ones that took longest
// and those that failed most, and how much they printed.
import { useMemo } from 'preact/hooks';
import type { ActivityAnswer } from '../../src/web/api.ts';
import { visible } from '../core/visible.ts';
import { bytesText, countText, manyText, spanText } from '../core/words.ts';
import { get, hello } from '../data/client.ts';
import { useAnswer } from '../data/use.ts';
import { requery, route } from '../data/view.ts';
import { Button, Empty, Failure, Link, Typed } from '../parts/marks.tsx';
import { Legend, Plot, type PlotSeries } from '../parts/plot.tsx';

const SPANS = [
  ['1d', 'day'],
  ['7d', 'week'],
  ['30d', 'month'],
  ['365d', 'year'],
] as const;
const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

export function ActivityPage() {
  const { since = '7d', project } = route.value.query;
  const zone = -new Date().getTimezoneOffset();
  const { data, error } = useAnswer<ActivityAnswer>(`activity ${since} ${project}`, (signal) =>
    get('activity', { since, project, zone }, signal),
  );
  return (
    <div class="page page-text">
      <div class="page-head">
        <h1>Activity</h1>
        <span class="bar">
          {SPANS.map(([value, name]) => (
            <Button key={value} pressed={value === since} onClick={() => requery({ since: value })}>
              {name}
            </Button>
          ))}
          <select
            aria-label="Project"
            value={project ?? ''}
            onChange={(event) => requery({ project: event.currentTarget.value })}
          >
            <option value="">All projects</option>
            {(hello.value?.projects ?? []).map((one) => (
              <option key={one.project} value={one.project}>
                {one.project}
              </option>
            ))}
          </select>
        </span>
      </div>
      {error !== undefined && <Failure error={error} />}
      {data !== undefined && <Shown answer={data} />}
    </div>
  );
}

function Shown({ answer }: { readonly answer: ActivityAnswer }) {
  const { timeline, outcomes } = answer;
  const series = useMemo(() => seriesOf(timeline), [timeline]);
  const times = useMemo(() => timeline.map(({ start }) => Date.parse(start) / 1000), [timeline]);
  if (answer.commands === 0) {
    return (
      <Empty title="No command in this time.">
        <p>
          Choose a longer one above. <Typed command="cuff init" /> lets cuff record what an agent
          runs in a project.
        </p>
      </Empty>
    );
  }
  return (
    <>
      <section class="panel">
        <h2>{manyText(answer.commands, 'command')} by outcome</h2>
        <Plot
          label={`Commands over time: ${outcomes.ok} ok, ${outcomes.failed} failed`}
          times={times}
          series={series}
          bucketSeconds={answer.bucket_minutes * 60}
          text={countText}
        />
        <Legend series={series} />
        <details>
          <summary>As a table</summary>
          <TimelineTable timeline={timeline} />
        </details>
      </section>
      <section class="panel scroll-x">
        <Heat heat={answer.heat} />
      </section>
      <div class="halves">
        <Top title="Longest in all" rows={answer.top} />
        <Top title="Failing most" rows={answer.failing} />
        <Output output={answer.output} />
        <Agents agents={answer.agents} />
      </div>
    </>
  );
}

function seriesOf(timeline: ActivityAnswer['timeline']): PlotSeries[] {
  const one = (
    name: string,
    colour: string,
    key: 'ok' | 'failed' | 'refused' | 'timed_out' | 'none',
  ) => ({
    name,
    colour,
    values: timeline.map((bucket) => bucket[key]),
  });
  return [
    one('ok', 'ok', 'ok'),
    one('failed', 'failed', 'failed'),
    one('refused', 'refused', 'refused'),
    one('timed out', 'late', 'timed_out'),
    one('no exit code', 'quiet', 'none'),
  ].filter(({ values }) => values.some((value) => value > 0));
}

function TimelineTable({ timeline }: Pick<ActivityAnswer, 'timeline'>) {
  return (
    <table>
      <thead>
        <tr>
          <th>From</th>
          <th class="num">ok</th>
          <th class="num">failed</th>
          <th class="num">refused</th>
          <th class="num">timed out</th>
          <th class="num">no exit code</th>
        </tr>
      </thead>
      <tbody>
        {timeline.map(({ start, ok, failed, refused, timed_out, none }) => (
          <tr key={start}>
            <td>{start}</td>
            {[ok, failed, refused, timed_out, none].map((count, at) => (
              <td key={at} class="num">
                {countText(count)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Heat({ heat }: Pick<ActivityAnswer, 'heat'>) {
  const most = Math.max(1, ...heat.flat());
  const hours = Array.from({ length: 24 }, (_, hour) => hour);
  return (
    <table class="heat-table">
      <caption>Commands by hour of the week</caption>
      <thead>
        <tr>
          <th scope="col">
            <span class="unseen">Day</span>
          </th>
          {hours.map((hour) => (
            <th key={hour} scope="col">
              {hour}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {WEEKDAYS.map((day, at) => (
          <tr key={day}>
            <th scope="row">{day}</th>
            {hours.map((hour) => {
              const count = heat[at]?.[hour] ?? 0;
              return <HeatCell key={hour} count={count} share={count / most} />;
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function HeatCell({ count, share }: { readonly count: number; readonly share: number }) {
  if (count === 0) return <td />;
  // Between faint and full there is no ground on which text of either colour can be read.
  const hot = share > 0.5;
  const strength = hot ? 100 : Math.round(8 + share * 36);
  const background = `color-mix(in srgb, var(--accent) ${strength}%, var(--panel))`;
  return (
    <td class={hot ? 'hot' : 'warm'} style={{ background }}>
      {countText(count)}
    </td>
  );
}

function Top({ title, rows }: { readonly title: string; readonly rows: ActivityAnswer['top'] }) {
  return (
    <section class="panel">
      <table>
        <caption>{title}</caption>
        <thead>
          <tr>
            <th>Command</th>
            <th class="num">Times</th>
            <th class="num">Failed</th>
            <th class="num">Took</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, 12).map(({ command, count, failed, duration_ms }) => (
            <tr key={command}>
              <td>
                <Link page="search" query={{ q: command }} title={command}>
                  <code class="clip">{visible(command)}</code>
                </Link>
              </td>
              <td class="num">{countText(count)}</td>
              <td class="num">{countText(failed)}</td>
              <td class="num">{spanText(duration_ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length === 0 && <p class="quiet">None.</p>}
    </section>
  );
}

function Output({ output }: Pick<ActivityAnswer, 'output'>) {
  const most = Math.max(1, ...output.map(({ bytes }) => bytes));
  return (
    <section class="panel">
      <table>
        <caption>Output by day</caption>
        <thead>
          <tr>
            <th>Day</th>
            <th class="num">Bytes</th>
            <th>
              <span class="unseen">Share</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {output.slice(-14).map(({ day, bytes }) => (
            <tr key={day}>
              <td>{day}</td>
              <td class="num">{bytesText(bytes)}</td>
              <td class="bar-cell">
                <i style={{ width: `${(100 * bytes) / most}%` }} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Agents({ agents }: Pick<ActivityAnswer, 'agents'>) {
  return (
    <section class="panel">
      <table>
        <caption>Agents</caption>
        <thead>
          <tr>
            <th>Agent</th>
            <th class="num">Commands</th>
          </tr>
        </thead>
        <tbody>
          {agents.map(({ value, count }) => (
            <tr key={value}>
              <td>{value === '' ? 'a person' : value}</td>
              <td class="num">{countText(count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
