// Is cuff well, and what does it keep: servers, checks, the disk by project and by day, and what
// retention removes next.
import { useMemo, useState } from 'preact/hooks';
import type { HealthAnswer, StorageAnswer, SweepAnswer } from '../../src/web/api.ts';
import { visible } from '../core/visible.ts';
import { agoText, bytesText, countText, manyText } from '../core/words.ts';
import { get, hello, post, Refusal } from '../data/client.ts';
import { useAnswer } from '../data/use.ts';
import { say } from '../data/view.ts';
import { Button, Facts, Failure, Link, Outcome, Time } from '../parts/marks.tsx';
import { Plot } from '../parts/plot.tsx';

export function HealthPage() {
  const health = useAnswer<HealthAnswer>('health', (signal) => get('health', {}, signal));
  const storage = useAnswer<StorageAnswer>('storage', (signal) => get('storage', {}, signal));
  return (
    <div class="page page-text">
      <div class="page-head">
        <h1>Health and storage</h1>
        {health.data !== undefined && (
          <Outcome
            outcome={health.data.healthy ? 'ok' : 'failed'}
            words={health.data.healthy ? 'everything is as it should be' : 'look below'}
          />
        )}
      </div>
      {health.error !== undefined && <Failure error={health.error} />}
      {health.data !== undefined && <Servers answer={health.data} />}
      {storage.error !== undefined && <Failure error={storage.error} />}
      {storage.data !== undefined && (
        <Storage
          answer={storage.data}
          free={health.data?.free_bytes ?? null}
          again={storage.again}
        />
      )}
    </div>
  );
}

function Servers({ answer }: { readonly answer: HealthAnswer }) {
  return (
    <>
      {answer.notices.length > 0 && (
        <div class="notice">
          {answer.notices.map((one) => (
            <p key={one}>{one}</p>
          ))}
        </div>
      )}
      <div class="halves">
        <Checks checks={answer.checks} />
        <ServerTable servers={answer.servers} />
        <Journals journals={answer.journals} />
        <NotRecorded answer={answer} />
      </div>
    </>
  );
}

function Checks({ checks }: Pick<HealthAnswer, 'checks'>) {
  return (
    <section class="panel">
      <table>
        <caption>Checks</caption>
        <tbody>
          {checks.map(({ name, ok, detail }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <Outcome outcome={ok ? 'ok' : 'failed'} words={ok ? 'ok' : 'not ok'} />
              </td>
              <td>{detail}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function ServerTable({ servers }: Pick<HealthAnswer, 'servers'>) {
  return (
    <section class="panel scroll-x">
      <table>
        <caption>Servers of agents</caption>
        <thead>
          <tr>
            <th>pid</th>
            <th>Project</th>
            <th class="num">Commands</th>
            <th>Health</th>
          </tr>
        </thead>
        <tbody>
          {servers.map(({ pid, project_directory: project, commands, health }) => (
            <tr key={pid}>
              <td>{pid}</td>
              <td title={project}>{project.split('/').at(-1)}</td>
              <td class="num">{countText(commands)}</td>
              <td>
                <Outcome
                  outcome={health.healthy === false ? 'failed' : 'ok'}
                  words={(health.reasons ?? []).join(', ') || 'ok'}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {servers.length === 0 && <p class="quiet">None runs now.</p>}
    </section>
  );
}

function Journals({ journals }: Pick<HealthAnswer, 'journals'>) {
  return (
    <section class="panel">
      <table>
        <caption>Journals</caption>
        <thead>
          <tr>
            <th>Directory</th>
            <th class="num">Sessions</th>
            <th class="num">Entries</th>
          </tr>
        </thead>
        <tbody>
          {journals.map((one) => (
            <tr key={one.directory}>
              <td>
                <code>{visible(one.directory)}</code>
              </td>
              <td class="num">{countText(one.sessions)}</td>
              <td class="num">{countText(one.entries)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function NotRecorded({ answer }: { readonly answer: HealthAnswer }) {
  const { unrecorded, uncaptured } = answer;
  if (unrecorded.length + uncaptured.length === 0) return null;
  return (
    <section class="panel">
      <table>
        <caption>Not recorded</caption>
        <tbody>
          {unrecorded.map(({ count, last_at, reason }) => (
            <tr key={reason}>
              <td>{manyText(count, 'command')}</td>
              <td>{reason}</td>
              <td>{last_at}</td>
            </tr>
          ))}
          {uncaptured.map((one) => (
            <tr key={one.session_id}>
              <td>
                <code class="clip">{visible(one.command)}</code>
              </td>
              <td>{one.reason}</td>
              <td>
                <Time at={one.created_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

type StorageProps = {
  readonly answer: StorageAnswer;
  readonly free: number | null;
  readonly again: () => void;
};

function Storage({ answer, free, again }: StorageProps) {
  const { captures, days, projects, next, largest } = answer;
  const times = useMemo(() => days.map(({ day }) => Date.parse(`${day}T00:00:00Z`) / 1000), [days]);
  const series = useMemo(
    () => [{ name: 'bytes', colour: 'accent', values: days.map(({ disk_bytes }) => disk_bytes) }],
    [days],
  );
  return (
    <>
      <section class="panel">
        <h2>Captures on the disk</h2>
        <Facts
          rows={[
            ['Captures', `${countText(captures.count)}, ${countText(captures.packed)} packed`],
            ['On the disk', bytesText(captures.disk_bytes)],
            ['Free', free === null ? 'not known' : bytesText(free)],
            ['Pinned', countText(answer.pinned)],
            ['Deletions', `${countText(answer.tombstones)} that the ledger remembers`],
          ]}
        />
        {days.length > 1 && (
          <Plot
            label="Disk of captures by the day they began; the tables below have the largest"
            times={times}
            series={series}
            bucketSeconds={86_400}
            text={bytesText}
          />
        )}
        <Sweep again={again} />
      </section>
      <div class="halves">
        <section class="panel">
          <table>
            <caption>By project</caption>
            <thead>
              <tr>
                <th>Project</th>
                <th class="num">Captures</th>
                <th class="num">Disk</th>
              </tr>
            </thead>
            <tbody>
              {projects.map((one) => (
                <tr key={one.project}>
                  <td>{one.project === null ? 'of people' : visible(one.project)}</td>
                  <td class="num">{countText(one.captures)}</td>
                  <td class="num">{bytesText(one.disk_bytes)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
        <CaptureTable
          title="Removed next"
          rows={next.map((one) => ({ ...one, note: agoText(Date.parse(one.at), Date.now()) }))}
        />
        <CaptureTable
          title="The largest"
          rows={largest.map((one) => ({ ...one, note: one.pinned ? 'pinned' : '' }))}
        />
      </div>
    </>
  );
}

type CaptureRow = {
  readonly session_id: string;
  readonly command: string;
  readonly disk_bytes: number;
  readonly note: string;
};

function CaptureTable({ title, rows }: { title: string; rows: readonly CaptureRow[] }) {
  return (
    <section class="panel">
      <table>
        <caption>{title}</caption>
        <tbody>
          {rows.slice(0, 10).map((one) => (
            <tr key={one.session_id}>
              <td>
                <Link page="run" id={one.session_id} title={one.command}>
                  <code class="clip">{visible(one.command) || one.session_id}</code>
                </Link>
              </td>
              <td class="num">{bytesText(one.disk_bytes)}</td>
              <td>{one.note}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length === 0 && <p class="quiet">Nothing.</p>}
    </section>
  );
}

/** First what would be removed, then the question. */
function Sweep({ again }: { readonly again: () => void }) {
  const [plan, setPlan] = useState<SweepAnswer>();
  if (hello.value?.read_only !== false) return null;
  const ask = async (dry: boolean) => {
    try {
      const answer = await post<SweepAnswer>('sweep', { dry_run: dry });
      setPlan(dry ? answer : undefined);
      if (!dry) say(`Removed ${manyText(answer.removed.length, 'capture')}.`);
      if (!dry) again();
    } catch (error) {
      if (error instanceof Refusal) say(error.message);
    }
  };
  return (
    <div class="bar">
      <Button onClick={() => void ask(true)}>What is over?</Button>
      {plan !== undefined && (
        <span role="status">
          Over for {manyText(plan.removed.length, 'capture')}; {countText(plan.kept)} stay.
        </span>
      )}
      {plan !== undefined && plan.removed.length > 0 && (
        <Button class="danger" onClick={() => void ask(false)}>
          Remove them
        </Button>
      )}
    </div>
  );
}
