// What is known of a run, and its proof.
import type { RunEvent, Survivor } from '../../src/web/api.ts';
import { visible } from '../core/visible.ts';
import { bytesText, countText, manyText, spanText } from '../core/words.ts';
import { getBytes, hello, post, Refusal } from '../data/client.ts';
import { say } from '../data/view.ts';
import { Button, Empty, Facts, Link, Typed } from '../parts/marks.tsx';
import { Proof, save } from '../parts/proof.tsx';
import type { RunView } from './run-view.ts';

const SAVED_BYTES_MAX = 200_000_000; // through the memory of a browser

export function FactsView({ answer, again }: RunView) {
  const { final, events } = answer;
  const left = final?.survivors ?? [];
  return (
    <div class="halves">
      <RunFacts answer={answer} />
      <CaptureFacts answer={answer} again={again} />
      {left.length > 0 && <LeftBehind left={left} />}
      {events.length > 0 && <Events events={events} />}
    </div>
  );
}

function RunFacts({ answer }: Pick<RunView, 'answer'>) {
  const { run, meta } = answer;
  return (
    <section class="panel">
      <h2>The run</h2>
      <Facts
        rows={[
          ['State', `${run.state}${run.reason === null ? '' : `: ${run.reason}`}`],
          ['Ended by', run.ended_by ?? 'it runs'],
          ['Exit code', run.exit_code === null ? 'none' : String(run.exit_code)],
          ['Signal', run.signal ?? 'none'],
          ['Created', run.created_at],
          ['Started', meta?.started_at ?? 'not known'],
          ['Ended', run.ended_at ?? 'not yet'],
          ['Directory', <code key="d">{visible(run.working_directory ?? 'not known')}</code>],
          ['Arguments', <Argv key="a" argv={run.command ?? []} />],
          [
            'Transport',
            `${meta?.transport ?? 'not known'}${meta?.tty_attached ? ', a terminal' : ''}`,
          ],
          ['Deadline', meta?.kill_after_ms ? spanText(meta.kill_after_ms) : 'none'],
          ['Traced', run.trace?.enabled === true ? 'yes' : 'no'],
          ['Variables', names(meta?.environment_names ?? [])],
        ]}
      />
    </section>
  );
}

function CaptureFacts({ answer, again }: RunView) {
  const { run, entry, totals, missing, stored } = answer;
  return (
    <section class="panel">
      <h2>Its capture</h2>
      <Facts
        rows={[
          ['Output', `${countText(totals.bytes)} bytes, ${countText(totals.lines)} lines`],
          ['stdout', bytesText(totals.stdout_bytes)],
          ['stderr', bytesText(totals.stderr_bytes)],
          [
            'Not kept',
            missing.bytes === 0
              ? 'nothing'
              : `${bytesText(missing.bytes)}: ${missing.reasons.join(', ')}`,
          ],
          ['Stored', stored],
          [
            'Kept for',
            run.retention_seconds === null ? 'not known' : spanText(run.retention_seconds * 1000),
          ],
          ['Pinned', <Pin key="p" answer={answer} again={again} />],
          ['Files', <code key="f">{visible(run.path)}</code>],
          ['Entry', entry === null ? 'none' : <EntryLink key="e" answer={answer} />],
        ]}
      />
      <div class="bar">
        <Button onClick={() => void download(answer)}>Save the output</Button>
        <Typed command={`cuff cat ${run.session_id}`} />
      </div>
    </section>
  );
}

function LeftBehind({ left }: { readonly left: readonly Survivor[] }) {
  return (
    <section class="panel">
      <table>
        <caption>{manyText(left.length, 'process', 'processes')} left behind</caption>
        <thead>
          <tr>
            <th>pid</th>
            <th>Command</th>
            <th>Holds the output</th>
          </tr>
        </thead>
        <tbody>
          {left.map((one) => (
            <tr key={one.pid}>
              <td>{one.pid}</td>
              <td>
                <code>{visible(one.command)}</code>
              </td>
              <td>{one.holds_output ? 'yes' : 'no'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Events({ events }: { readonly events: readonly RunEvent[] }) {
  return (
    <section class="panel scroll-x">
      <table>
        <caption>Events</caption>
        <thead>
          <tr>
            <th>Time</th>
            <th>What</th>
            <th class="num">At byte</th>
          </tr>
        </thead>
        <tbody>
          {events.map((event, at) => {
            const { type, timestamp, offset, ...rest } = event;
            return (
              <tr key={at}>
                <td>{timestamp}</td>
                <td>
                  {type} <code class="quiet">{visible(JSON.stringify(rest).slice(0, 400))}</code>
                </td>
                <td class="num">{offset === undefined ? '' : countText(offset)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

function Argv({ argv }: { readonly argv: readonly string[] }) {
  if (argv.length === 0) return <>not known</>;
  return (
    <>
      {argv.map((word, at) => (
        <div key={at}>
          <code>{word.split('\n').map(visible).join('\n')}</code>
        </div>
      ))}
    </>
  );
}

function names(all: readonly string[]): string {
  return all.length === 0 ? 'none kept' : all.map(visible).join(', ');
}

function EntryLink({ answer }: { readonly answer: RunView['answer'] }) {
  const { entry } = answer;
  if (entry === null) return null;
  return (
    <Link page="session" id={entry.session_id} query={{ cmd: String(entry.sequence_number) }}>
      {entry.entry_id}, command {entry.sequence_number} of {entry.session_id}
    </Link>
  );
}

function Pin({ answer, again }: RunView) {
  const { pinned, session_id: run } = answer.run;
  const words = pinned ? 'yes' : 'no';
  if (hello.value?.read_only !== false) return <>{words}</>;
  const change = async () => {
    try {
      await post('pin', { run, pinned: !pinned });
      again();
    } catch (error) {
      if (error instanceof Refusal) say(error.message);
    }
  };
  return (
    <span class="bar">
      {words}
      <Button class="small" onClick={() => void change()}>
        {pinned ? 'Unpin' : 'Pin'}
      </Button>
    </span>
  );
}

/** Piece by piece: one answer has at most 4 MiB. */
async function download({ run, totals }: RunView['answer']): Promise<void> {
  if (totals.bytes > SAVED_BYTES_MAX) {
    say(`That is ${bytesText(totals.bytes)}: use \`cuff cat ${run.session_id}\` in a terminal.`);
    return;
  }
  const parts: BlobPart[] = [];
  for (let at = 0; at < totals.bytes; ) {
    const piece = await getBytes(run.session_id, at, totals.bytes);
    if (piece === undefined || piece.bytes.length === 0) break;
    parts.push(piece.bytes as Uint8Array<ArrayBuffer>);
    at = piece.offset + piece.bytes.length;
  }
  save(`${run.session_id}.log`, new Blob(parts));
}

export function ProofView({ answer }: RunView) {
  const { entry, run } = answer;
  if (entry === null) {
    return (
      <Empty title="There is no entry to prove.">
        <p>
          Only commands in a journal are sealed. One of your own is recorded by{' '}
          <Typed command="cuff run --journal -- COMMAND" />
        </p>
      </Empty>
    );
  }
  return (
    <div class="page">
      <Proof key={run.session_id} entry={entry.entry_id} journal={entry.journal} />
    </div>
  );
}
