// One session: its commands as blocks, in the order of the journal. `cmd` of the address names one;
// only blocks around what is read are loaded.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Block, OutlineAnswer, SessionAnswer, SessionRow } from '../../src/web/api.ts';
import { BLOCKS } from '../core/keys.ts';
import { nextFailure, type OutlineEntry } from '../core/minimap.ts';
import { outputText } from '../core/output.ts';
import { manyText, spanText } from '../core/words.ts';
import { get, Refusal, revival } from '../data/client.ts';
import { useKeys } from '../data/keyboard.ts';
import { subscribe } from '../data/live.ts';
import { useAnswer } from '../data/use.ts';
import { copy, go, requery, route, say } from '../data/view.ts';
import { Button, Empty, Failure, Link, SealMark, Time, Typed } from '../parts/marks.tsx';
import { Minimap } from '../parts/minimap.tsx';
import { BlockCard } from './block.tsx';

const PAGE_BLOCKS = 40;
const BEFORE = 5; // blocks above the one that the address names

type Window = {
  readonly session?: SessionAnswer;
  readonly blocks: readonly Block[];
  readonly next: number | null;
  readonly error?: Refusal;
};

export function SessionPage() {
  const { id, query } = route.value;
  const wanted = Number(query.cmd) || undefined;
  const { state, start, setStart, more, entries } = useBlocks(id, query.journal, wanted);
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set());
  const jump = (sequence: number | undefined) => {
    if (sequence === undefined) return say('There is none in that direction.');
    requery({ cmd: String(sequence) });
    if (state.blocks.some((one) => one.sequence_number === sequence)) return;
    setStart(Math.max(0, sequence - BEFORE));
  };
  useBlockKeys({ state, wanted, entries, jump, id, setFolded });
  useScrollTo(wanted, state.blocks.length > 0);

  const { session, blocks, next, error } = state;
  if (error !== undefined && blocks.length === 0) return <Failure error={error} />;
  if (session === undefined) return <p class="quiet loading">Reading the session…</p>;
  return (
    <div class="page page-text">
      <SessionHead session={session} />
      {blocks.length === 0 && <NoCommands session={session.session} />}
      <div class="session">
        <Minimap entries={entries} current={wanted} onPick={jump} />
        <div class="blocks">
          {(blocks[0]?.sequence_number ?? 0) > (entries[0]?.[0] ?? 0) && (
            <Button onClick={() => setStart(Math.max(0, start - PAGE_BLOCKS))}>
              Show earlier commands
            </Button>
          )}
          {blocks.map((block) => (
            <BlockCard
              key={block.entry_id}
              block={block}
              current={block.sequence_number === wanted}
              folded={folded.has(block.sequence_number)}
              journal={session.session.journal}
            />
          ))}
          {next !== null && <More onSeen={more} />}
        </div>
      </div>
    </div>
  );
}

/** Blocks from one on, more as the reader comes to them, and those that are still written. */
function useBlocks(id: string, journal: string | undefined, wanted: number | undefined) {
  const path = `sessions/${encodeURIComponent(id)}`;
  const [start, setStart] = useState(wanted === undefined ? 0 : Math.max(0, wanted - BEFORE));
  const [state, setState] = useState<Window>({ blocks: [], next: null });
  const busy = useRef(false);
  const outline = useAnswer<OutlineAnswer>(id, (signal) =>
    get(`${path}/outline`, { journal }, signal),
  );
  const load = async (from: number, before: readonly Block[]) => {
    busy.current = true;
    try {
      const session = await get<SessionAnswer>(path, { from, limit: PAGE_BLOCKS, journal });
      setState({ session, blocks: [...before, ...session.blocks], next: session.next });
    } catch (error) {
      if (error instanceof Refusal) setState({ blocks: before, next: null, error });
    }
    busy.current = false;
  };
  const revived = revival.value;
  useEffect(() => {
    void load(start, []);
  }, [start, id, revived]);
  useEffect(
    () =>
      subscribe('sessions', ({ rows }) => {
        if (!rows.some((row) => row.session_id === id)) return;
        outline.again();
        const last = state.blocks.at(-1)?.sequence_number ?? -1;
        if (state.next === null && !busy.current) void load(last + 1, state.blocks);
      }),
    [state],
  );
  const more = () => {
    if (state.next !== null && !busy.current) void load(state.next, state.blocks);
  };
  return { state, start, setStart, more, entries: outline.data?.entries ?? [] };
}

function SessionHead({ session: answer }: { readonly session: SessionAnswer }) {
  const { session, damaged_lines, sequence_faults } = answer;
  return (
    <>
      <div class="page-head">
        <h1>{session.session_id}</h1>
        {session.live && (
          <span class="live">
            <span aria-hidden="true">●</span> live
          </span>
        )}
        <SealMark seal={session.seal} />
        <span class="right">
          <Link page="search" query={{ session: session.session_id }}>
            Search in it
          </Link>
        </span>
      </div>
      <div class="run-facts">
        <span>{session.agent_id ?? 'a person'}</span>
        <span title={session.project}>{session.working_directory}</span>
        <span>
          {session.created_at.slice(0, 10)} <Time at={session.created_at} />
        </span>
        <span>{manyText(session.entry_count, 'command')}</span>
        <span>{spanText(session.total_duration_ms)} of commands</span>
        {session.vcs?.head && <span>at {session.vcs.head.slice(0, 12)}</span>}
      </div>
      {(damaged_lines > 0 || sequence_faults !== undefined) && (
        <div class="notice notice-bad">
          {damaged_lines > 0 && <p>{manyText(damaged_lines, 'damaged line')} of the journal.</p>}
          {sequence_faults !== undefined && (
            <p>
              Its numbers do not run on: {sequence_faults.missing} missing,{' '}
              {sequence_faults.repeated} repeated. <Typed command="cuff verify" /> says more.
            </p>
          )}
        </div>
      )}
    </>
  );
}

function NoCommands({ session }: { readonly session: SessionRow }) {
  return (
    <Empty title="No command is recorded in this session.">
      <p>
        {session.live
          ? 'Its server runs; the first command appears here by itself.'
          : 'Its server ended before one was called.'}
      </p>
    </Empty>
  );
}

/** Loads on when the reader comes near. */
function More({ onSeen }: { readonly onSeen: () => void }) {
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef(onSeen);
  latest.current = onSeen;
  useEffect(() => {
    if (place.current === null) return;
    const seen = (all: readonly IntersectionObserverEntry[]) => {
      if (all.some((one) => one.isIntersecting)) latest.current();
    };
    const observer = new IntersectionObserver(seen, { rootMargin: '800px' });
    observer.observe(place.current);
    return () => observer.disconnect();
  });
  return (
    <div ref={place}>
      <Button onClick={onSeen}>Show more commands</Button>
    </div>
  );
}

function useScrollTo(wanted: number | undefined, ready: boolean): void {
  useEffect(() => {
    if (wanted === undefined || !ready) return;
    document.getElementById(`cmd-${wanted}`)?.scrollIntoView({ block: 'start' });
  }, [wanted, ready]);
}

type KeyUse = {
  readonly state: Window;
  readonly wanted: number | undefined;
  readonly entries: readonly OutlineEntry[];
  readonly jump: (sequence: number | undefined) => void;
  readonly id: string;
  readonly setFolded: (how: (before: ReadonlySet<number>) => ReadonlySet<number>) => void;
};

function useBlockKeys({ state, wanted, entries, jump, id, setFolded }: KeyUse): void {
  const from = wanted ?? -1;
  const step = (direction: 1 | -1) => {
    const all = entries.map(([sequence]) => sequence);
    jump(
      direction === 1
        ? all.find((sequence) => sequence > from)
        : all.findLast((sequence) => sequence < from),
    );
  };
  const current = () => state.blocks.find((one) => one.sequence_number === wanted);
  useKeys(BLOCKS, {
    next: () => step(1),
    previous: () => step(-1),
    down: () => step(1),
    up: () => step(-1),
    'next-failure': () => jump(nextFailure(entries, from, 1)),
    'previous-failure': () => jump(nextFailure(entries, from, -1)),
    copy: () => {
      const block = current();
      if (block === undefined) return say('Choose a command with ] first.');
      const { head, tail } = block.output;
      const text = [block.command, outputText(head), outputText(tail)].filter(Boolean).join('\n');
      void copy(text, 'the block');
    },
    fold: () => {
      if (wanted === undefined) return say('Choose a command with ] first.');
      setFolded((before) => {
        const after = new Set(before);
        if (!after.delete(wanted)) after.add(wanted);
        return after;
      });
    },
    open: () => {
      const run = current()?.run_id;
      if (run != null) go('run', run);
    },
    find: () => go('search', '', { session: id }),
  });
}
