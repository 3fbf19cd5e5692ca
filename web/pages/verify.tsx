// Is what is recorded still what was recorded? One sentence, what it rests on, and what is wrong.
import { useState } from 'preact/hooks';
import type { Finding, SealAnswer, SealedAnswer, VerifyAnswer } from '../../src/web/api.ts';
import { countText, manyText } from '../core/words.ts';
import { get, hello, post, Refusal } from '../data/client.ts';
import { useAnswer } from '../data/use.ts';
import { requery, route, say } from '../data/view.ts';
import { Button, Empty, Facts, Failure, Link, Time, Typed } from '../parts/marks.tsx';

export function VerifyPage() {
  const { deep = '', project } = route.value.query;
  const query = { project, ...(deep !== '' && { deep: 1 }) };
  const { data, error, busy, again } = useAnswer<VerifyAnswer>(
    `verify ${project} ${deep}`,
    (signal) => get('verify', query, signal),
  );
  const seal = useAnswer<SealAnswer>('seal', (signal) => get('seal', {}, signal));
  const [sealing, setSealing] = useState(false);
  const sealNow = async () => {
    setSealing(true);
    try {
      const { size } = await post<SealedAnswer>('seal', {});
      say(`Sealed: ${manyText(size, 'leaf', 'leaves')}.`);
      seal.again();
      again();
    } catch (failure) {
      if (failure instanceof Refusal) say(failure.message);
    }
    setSealing(false);
  };
  return (
    <div class="page page-text">
      <div class="page-head">
        <h1>Verify</h1>
        <span class="bar right">
          <Button onClick={again} disabled={busy}>
            Verify now
          </Button>
          <Button pressed={deep !== ''} onClick={() => requery({ deep: deep === '' ? '1' : '' })}>
            Captures too
          </Button>
          {hello.value?.read_only === false && seal.data?.head != null && (
            <Button onClick={() => void sealNow()} disabled={sealing}>
              Seal now
            </Button>
          )}
        </span>
      </div>
      {error !== undefined && <Failure error={error} />}
      {data === undefined && error === undefined && <p class="quiet">Verifying…</p>}
      {data !== undefined && <Result answer={data} />}
      {seal.data !== undefined && <SealPanel answer={seal.data} />}
    </div>
  );
}

function Result({ answer }: { readonly answer: VerifyAnswer }) {
  const { words, intact, counts, ledger, outside, findings, anchor } = answer;
  const wrong = findings.filter((one) => one.wrong);
  return (
    <>
      <section class={`panel ${intact ? '' : 'notice-bad'}`} role="status">
        <p class={`sentence ${intact ? 'mark-ok' : 'mark-failed'}`}>
          <span aria-hidden="true">{intact ? '✓' : '✗'}</span> {words[0]}
        </p>
        {words.slice(1).map((line) => (
          <div key={line}>{line}</div>
        ))}
        <p class="quiet">
          Verified at <Time at={answer.verified_at} />
        </p>
      </section>
      <div class="halves">
        <section class="panel">
          <h2>What was compared</h2>
          <Facts
            rows={[
              ['Sessions', countText(counts.sessions)],
              ['Entries', countText(counts.entries)],
              ['anchored', countText(counts.anchored)],
              ['not signed yet', countText(counts.unsigned)],
              ['not sealed', countText(counts.unsealed)],
              [
                'Captures',
                answer.deep ? countText(counts.captures) : 'not read: choose Captures too',
              ],
              ['Leaves', `${countText(ledger.size)}, ${countText(ledger.signed)} signed`],
              [
                'Last anchor',
                anchor === null
                  ? 'none: the holder of this account could write all of it anew'
                  : `${anchor.kind} ${anchor.where}, ${countText(anchor.size)} leaves`,
              ],
            ]}
          />
        </section>
        <Outside outside={outside} />
      </div>
      {findings.length > 0 && (
        <section class="panel scroll-x">
          <Findings findings={findings} wrong={wrong.length} />
        </section>
      )}
    </>
  );
}

function Outside({ outside }: Pick<VerifyAnswer, 'outside'>) {
  return (
    <section class="panel">
      <table>
        <caption>Anchors outside of this account</caption>
        <thead>
          <tr>
            <th>Kind</th>
            <th>Where</th>
            <th>Compared</th>
          </tr>
        </thead>
        <tbody>
          {outside.map(({ kind, where, compared, trouble }) => (
            <tr key={`${kind} ${where}`}>
              <td>{kind}</td>
              <td>{where}</td>
              <td>{trouble ?? (compared === null ? 'not compared' : countText(compared))}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {outside.length === 0 && (
        <p class="quiet">
          None. <Typed command="cuff seal --help" /> says where a root can be kept.
        </p>
      )}
    </section>
  );
}

function Findings({ findings, wrong }: { findings: readonly Finding[]; wrong: number }) {
  return (
    <table>
      <caption>{wrong > 0 ? `${manyText(wrong, 'thing')} wrong` : 'To know'}</caption>
      <thead>
        <tr>
          <th>What</th>
          <th>Where</th>
          <th>Details</th>
        </tr>
      </thead>
      <tbody>
        {findings.slice(0, 500).map((one, at) => (
          <tr key={at}>
            <td class={one.wrong ? 'mark-failed' : ''}>
              {one.wrong && <span aria-hidden="true">✗ </span>}
              {one.verdict}
              {one.count !== undefined && ` (${countText(one.count)})`}
            </td>
            <td>
              {one.session !== undefined && (
                <Link
                  page="session"
                  id={one.session}
                  query={one.sequence === undefined ? {} : { cmd: String(one.sequence) }}
                >
                  {one.session}
                  {one.sequence !== undefined && `, command ${one.sequence}`}
                </Link>
              )}
              {one.run !== undefined && ` run ${one.run}`}
              {one.leaf !== undefined && ` leaf ${one.leaf}`}
            </td>
            <td>{[one.part, one.detail, one.at].filter(Boolean).join(', ')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function SealPanel({ answer }: { readonly answer: SealAnswer }) {
  const { head, vkey } = answer;
  if (head === null) {
    return (
      <Empty title="Nothing is sealed yet.">
        <p>
          <Typed command="cuff seal" /> signs what is recorded, so that a later change shows.
        </p>
      </Empty>
    );
  }
  return (
    <section class="panel">
      <h2>The seal</h2>
      <Facts
        rows={[
          ['To print', <code key="c">{head.code}</code>],
          ['Root', <code key="r">{head.root}</code>],
          ['Leaves', countText(head.size)],
          ['Ledger', head.origin],
          ['Public key', <code key="k">{vkey ?? 'not known'}</code>],
        ]}
      />
      <p class="quiet">
        Print the code, or read it to another person: <code>cuff verify --at CODE</code> compares
        with it later.
      </p>
    </section>
  );
}
