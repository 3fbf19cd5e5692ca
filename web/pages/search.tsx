// One box over commands, output and processes of all journals. What was asked is in the address; a
// hit opens at its command.
import { useEffect, useState } from 'preact/hooks';
import type { Facet, SearchAnswer, SearchHit } from '../../src/web/api.ts';
import { visible } from '../core/visible.ts';
import { manyText } from '../core/words.ts';
import { get } from '../data/client.ts';
import { useKeys } from '../data/keyboard.ts';
import { useAnswer } from '../data/use.ts';
import { go, requery, route } from '../data/view.ts';
import { Button, Empty, Failure, Link, Time } from '../parts/marks.tsx';

const HITS = 200;

export function SearchPage() {
  const { query } = route.value;
  const asked = (query.q ?? '') !== '' || (query.process ?? '') !== '';
  const { data, error, busy } = useAnswer<SearchAnswer | null>(
    `search ${JSON.stringify(query)}`,
    async (signal) => (asked ? get('search', { ...query, limit: HITS }, signal) : null),
  );
  return (
    <div class="page page-text">
      <div class="page-head">
        <h1>Search</h1>
        {query.session !== undefined && (
          <span>
            in session{' '}
            <Link page="session" id={query.session}>
              {query.session}
            </Link>{' '}
            <Button class="small" onClick={() => requery({ session: '' })}>
              everywhere
            </Button>
          </span>
        )}
      </div>
      <Box />
      {error !== undefined && <Failure error={error} />}
      {!asked && <FirstWords />}
      {asked && data != null && <Hits answer={data} busy={busy} />}
    </div>
  );
}

function Box() {
  const { q = '', process = '', regex = '' } = route.value.query;
  const [text, setText] = useState(q);
  const [program, setProgram] = useState(process);
  useEffect(() => setText(q), [q]);
  useEffect(() => {
    if (q === '') document.getElementById('search')?.focus();
  }, []);
  useKeys(undefined, {
    find: () => document.getElementById('search')?.focus(),
    'go:search': () => document.getElementById('search')?.focus(),
  });
  return (
    <form
      class="bar"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        requery({ q: text, process: program }, true);
      }}
    >
      <input
        id="search"
        type="search"
        aria-label="Search commands and output"
        placeholder="Words of a command or of what it printed"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <input
        type="text"
        aria-label="Only commands that ran this program"
        placeholder="that ran the program…"
        value={program}
        onInput={(event) => setProgram(event.currentTarget.value)}
      />
      <Button
        pressed={regex !== ''}
        title="A regular expression"
        onClick={() => requery({ regex: regex === '' ? '1' : '' })}
      >
        .*
      </Button>
      <button type="submit" class="primary">
        Search
      </button>
    </form>
  );
}

function FirstWords() {
  return (
    <Empty title="Search everything that was recorded.">
      <p>
        Words of a command, a line it printed, a file name in it. With the second box only commands
        that ran a program: <code>curl</code>, <code>rm -rf</code>.
      </p>
    </Empty>
  );
}

function Hits({ answer, busy }: { readonly answer: SearchAnswer; readonly busy: boolean }) {
  const { hits, limited, not_searched: left, facets, edits } = answer;
  const [selected, setSelected] = useState(-1);
  const select = (step: number) => {
    const at = Math.min(hits.length - 1, Math.max(0, selected + step));
    setSelected(at);
    document.getElementById(`hit-${at}`)?.scrollIntoView({ block: 'nearest' });
  };
  useKeys(undefined, {
    down: () => select(1),
    up: () => select(-1),
    open: () => {
      const hit = hits[selected];
      if (hit === undefined) return;
      go('session', hit.session_id, { cmd: String(hit.sequence_number) });
    },
  });
  if (hits.length === 0 && edits.length === 0) {
    return (
      <Empty title="Nothing is found.">
        <p>Fewer or shorter words find more; case does not matter.</p>
      </Empty>
    );
  }
  return (
    <div class="columns">
      <div>
        <Refine name="exit" title="Exit code" facet={facets.exit} />
        <Refine name="agent" title="Agent" facet={facets.agent} />
        <Refine name="project" title="Project" facet={facets.project} />
        <Listed title="Verdict" facet={facets.verdict} />
        <Listed title="Day" facet={facets.day} />
      </div>
      <div class="page">
        <span role="status" class="quiet">
          {manyText(hits.length, 'hit')}
          {limited && ', the newest; there may be older ones'}
          {busy && '…'}
        </span>
        {left.cut_outputs + left.damaged_lines > 0 && (
          <span class="quiet">
            Not searched: {manyText(left.cut_outputs, 'output')} whose middle is not kept,{' '}
            {manyText(left.damaged_lines, 'damaged line')}.
          </span>
        )}
        <ol class="hits">
          {hits.map((hit, at) => (
            <Hit
              key={`${hit.entry_id} ${hit.field} ${hit.offset}`}
              hit={hit}
              id={`hit-${at}`}
              selected={at === selected}
            />
          ))}
        </ol>
        {edits.length > 0 && <Edits edits={edits} />}
      </div>
    </div>
  );
}

function Hit({ hit, id, selected }: { hit: SearchHit; id: string; selected: boolean }) {
  const { snippet, match, field } = hit;
  const [from, to] = match;
  const show = (text: string) => text.split('\n').map(visible).join('\n');
  return (
    <li id={id} class={`hit ${selected ? 'selected' : ''}`}>
      <Link page="session" id={hit.session_id} query={{ cmd: String(hit.sequence_number) }}>
        <code>{visible(hit.command.split('\n')[0] ?? '')}</code>
      </Link>
      <div class="run-facts">
        <span>
          {hit.timestamp.slice(0, 10)} <Time at={hit.timestamp} />
        </span>
        <span>{hit.agent_id ?? 'a person'}</span>
        <span>{hit.exit_code === null ? 'no exit code' : `exit ${hit.exit_code}`}</span>
        <span>in its {field}</span>
        {hit.run_id !== null && (field === 'stdout' || field === 'stderr') && (
          <Link page="run" id={hit.run_id} query={{ view: 'log' }}>
            open its log
          </Link>
        )}
      </div>
      <pre>
        {show(snippet.slice(0, from))}
        <mark>{show(snippet.slice(from, to))}</mark>
        {show(snippet.slice(to))}
      </pre>
    </li>
  );
}

function Edits({ edits }: { readonly edits: SearchAnswer['edits'] }) {
  return (
    <table>
      <caption>Files that agents wrote with their own tools</caption>
      <thead>
        <tr>
          <th>When</th>
          <th>File</th>
          <th>By</th>
          <th class="num">Lines</th>
        </tr>
      </thead>
      <tbody>
        {edits.map((one) => (
          <tr key={`${one.timestamp} ${one.path}`}>
            <td>
              {one.timestamp.slice(0, 10)} <Time at={one.timestamp} />
            </td>
            <td>
              <code>{visible(one.path)}</code>
            </td>
            <td>
              {one.agent_id ?? 'not known'}, {one.tool}
            </td>
            <td class="num">
              +{one.lines_added ?? '?'} −{one.lines_removed ?? '?'}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Refine({ name, title, facet }: { name: string; title: string; facet: Facet }) {
  const chosen = route.value.query[name] ?? '';
  if (facet.length < 2 && chosen === '') return null;
  return (
    <section class="facet" aria-label={title}>
      <h2>{title}</h2>
      {facet.map(({ value, count }) => (
        <Button
          key={value}
          pressed={value === chosen}
          onClick={() => requery({ [name]: value === chosen ? '' : value }, true)}
        >
          <span title={value}>{name === 'project' ? value.split('/').at(-1) : value}</span>
          <span class="quiet">{count}</span>
        </Button>
      ))}
    </section>
  );
}

/** What cannot be chosen, only read. */
function Listed({ title, facet }: { title: string; facet: Facet }) {
  if (facet.length === 0) return null;
  return (
    <section class="facet" aria-label={title}>
      <h2>{title}</h2>
      {facet.map(({ value, count }) => (
        <div key={value}>
          {value === '' ? 'none' : value} <span class="quiet">{count}</span>
        </div>
      ))}
    </section>
  );
}
