// Searching the journal: what is asked, what a hit says, in which order hits come, and the plain
// way to them: reading every entry. The catalog has a shorter way and must find the same.
import type { Entry } from '../types.ts';
import { entryTimestamp } from './entry.ts';
import type { LineDamage } from './entry-lines.ts';
import { journalSessionIds, readEntries } from './reader.ts';
import {
  type Match,
  type Matcher,
  matcherOf,
  placeInField,
  searchedOrNull,
  searchedText,
  storable,
} from './search-text.ts';

export type SearchQuery = {
  /** Found in either case; empty finds every command. */
  readonly text: string;
  /** Only commands inside of which a process ran that has this in its argv, in either case. */
  readonly process?: string;
  /** `text` and `process` are regular expressions. */
  readonly regex?: boolean;
  /** Only commands that began then or later (epoch ms). */
  readonly since?: number;
  /** Only commands with this exit code; `nonzero` is any other end than 0, killed ones included. */
  readonly exit?: number | 'nonzero';
  readonly agent?: string;
  readonly limit: number;
};

const FIELDS = ['command', 'description', 'stdout', 'stderr'] as const;
export type Field = (typeof FIELDS)[number];

/** Between the processes of an entry; no searched text has it inside. */
const BETWEEN = '\x1f';

/** One entry in which it was found: the first place in the first field that has it. */
export type SearchHit = {
  readonly sessionId: string;
  readonly entryId: string;
  readonly sequence: number;
  readonly timestamp: string;
  readonly command: string;
  readonly exitCode: number | null;
  readonly agentId: string | null;
  /**
   * `process`: only processes were asked for, and this is the first that has it. `later`: what
   * processes that the command left running printed behind it.
   */
  readonly found: Field | 'process' | 'later.stdout' | 'later.stderr';
  /** Bytes (UTF-8) before the match in that field of the entry, or in that process's argv. */
  readonly offset: number;
  /** The line of the match, or what is near it, cleaned of escape sequences. */
  readonly snippet: string;
  /** Where in the snippet the match is, in characters. */
  readonly match: { readonly from: number; readonly to: number };
};

/** What orders hits: newest first, and everything else only so that there is one order. */
export type HitKey = {
  readonly at: number;
  readonly sessionId: string;
  readonly offset: number;
  readonly sequence: number;
  readonly entryId: string;
};

/** An entry that may be a hit. */
export type Candidate = HitKey & {
  readonly exitCode: number | null;
  readonly agentId: string | null;
  readonly command: string;
  /** What is searched of a field. */
  readonly searched: (name: Field) => string | null;
  /** What `processesOf` gives. */
  readonly processes: string | null;
  /** A field as the entry has it, for the few that are shown; undefined when it is gone. */
  readonly field: (name: Field) => string | null | undefined;
};

/** Over a whole journal, by reading it. */
export function scanSearch(directory: string, query: SearchQuery): SearchHit[] {
  const matchers = matchersOf(query);
  const newest = new Newest(query.limit);
  for (const sessionId of journalSessionIds(directory)) {
    for (const { entry, offset } of readEntries(directory, sessionId)) {
      const key = keyOf(entry, sessionId, offset);
      if (!passes(entry, key.at, query) || !newest.wants(key)) continue;
      const hit = hitOf(candidateOf(entry, key), matchers);
      if (hit !== undefined) newest.add(key, hit);
    }
  }
  return newest.hits();
}

/** What a search cannot look at. */
export type SearchGaps = {
  /** Lines of the journal that are no entries. */
  readonly damagedLines: number;
  /** Commands that printed more than their entries hold. */
  readonly cutOutputs: number;
};

/** Over a whole journal, by reading it. */
export function scanUnsearched(directory: string, query: SearchQuery): SearchGaps {
  let damagedLines = 0;
  let cutOutputs = 0;
  for (const sessionId of journalSessionIds(directory)) {
    const damage = { lines: 0, torn: false };
    for (const { entry } of readEntries(directory, sessionId, 0, damage)) {
      if (entry.output_truncated && passes(entry, Date.parse(entry.timestamp), query)) {
        cutOutputs += 1;
      }
    }
    damagedLines += wholeLines(damage);
  }
  return { damagedLines, cutOutputs };
}

/** A last line without its end may be one that is being written. */
export function wholeLines({ lines, torn }: LineDamage): number {
  return lines - Number(torn === true);
}

export function passes(entry: Entry, at: number, { since, exit, agent }: SearchQuery): boolean {
  if (since !== undefined && at < since) return false;
  if (agent !== undefined && entry.agent_id !== agent) return false;
  if (exit === undefined) return true;
  return exit === 'nonzero' ? entry.exit_code !== 0 : entry.exit_code === exit;
}

export function keyOf(entry: Entry, sessionId: string, offset: number): HitKey {
  const at = Date.parse(entry.timestamp);
  return { at, sessionId, offset, sequence: entry.sequence_number, entryId: entry.entry_id };
}

export function candidateOf(entry: Entry, key: HitKey): Candidate {
  const fields = {
    command: storable(entry.command),
    description: entry.description === null ? null : storable(entry.description),
    stdout: entry.stdout,
    stderr: entry.stderr,
  };
  return {
    ...key,
    exitCode: entry.exit_code,
    agentId: entry.agent_id,
    command: fields.command,
    searched: (name) => searchedOrNull(fields[name]),
    processes: processesOf(entry),
    field: (name) => fields[name],
  };
}

/** What is searched of the processes of an entry, as one text. */
export function processesOf({ process_list: list }: Pick<Entry, 'process_list'>): string | null {
  return list === null ? null : list.map(searchedText).join(BETWEEN);
}

/** What to look for; `text` is undefined when only processes are asked for. */
export type Matchers = {
  readonly text: Matcher | undefined;
  readonly process: Matcher | undefined;
};

/** Throws `usage` for a regular expression that is none. */
export function matchersOf({ text, process, regex = false }: SearchQuery): Matchers {
  const inside = process === undefined ? undefined : matcherOf(process, regex);
  const bare = text === '' && inside !== undefined;
  return { text: bare ? undefined : matcherOf(text, regex), process: inside };
}

/** Undefined when it is not found, or was removed meanwhile. */
export function hitOf(candidate: Candidate, { text, process }: Matchers): SearchHit | undefined {
  const inside = process && processHit(candidate, process);
  if (process !== undefined && inside === undefined) return undefined;
  return text === undefined ? inside : fieldHit(candidate, text);
}

function processHit(candidate: Candidate, matcher: Matcher): SearchHit | undefined {
  for (const argv of candidate.processes?.split(BETWEEN) ?? []) {
    const match = matcher.find(argv);
    if (match === undefined) continue;
    const offset = Buffer.byteLength(argv.slice(0, match.index));
    return { ...factsOf(candidate), found: 'process', offset, ...snippetOf(argv, match) };
  }
  return undefined;
}

function fieldHit(candidate: Candidate, matcher: Matcher): SearchHit | undefined {
  for (const found of FIELDS) {
    const searched = candidate.searched(found);
    const match = searched === null ? undefined : matcher.find(searched);
    if (searched === null || match === undefined) continue;
    const field = candidate.field(found);
    if (field === null || field === undefined) return undefined;
    const offset = Buffer.byteLength(field.slice(0, placeInField(field, match.index)));
    return { ...factsOf(candidate), found, offset, ...snippetOf(searched, match) };
  }
  return undefined;
}

type HitFacts = Omit<SearchHit, 'found' | 'offset' | 'snippet' | 'match'>;

function factsOf(candidate: Candidate): HitFacts {
  const { sessionId, entryId, sequence, at, command, exitCode, agentId } = candidate;
  const timestamp = entryTimestamp(at);
  return { sessionId, entryId, sequence, timestamp, command, exitCode, agentId };
}

const CONTEXT_LENGTH = 60;
const MATCH_LENGTH_MAX = 200;
const CUT = '…';

function snippetOf(text: string, match: Match): Pick<SearchHit, 'snippet' | 'match'> {
  const { index } = match;
  const end = index + Math.min(match.length, MATCH_LENGTH_MAX);
  const before = text.slice(Math.max(0, index - CONTEXT_LENGTH), index).split(/[\n\r]/);
  const after = text.slice(end, end + CONTEXT_LENGTH).split(/[\n\r]/);
  const left = before.at(-1) ?? '';
  const right = after[0] ?? '';
  const head = before.length === 1 && index > CONTEXT_LENGTH ? CUT : '';
  const cutBehind = after.length === 1 && end + CONTEXT_LENGTH < text.length;
  const tail = cutBehind || end < index + match.length ? CUT : '';
  const from = head.length + left.length;
  const snippet = storable(`${head}${left}${text.slice(index, end)}${right}${tail}`);
  return { snippet, match: { from, to: from + end - index } };
}

/** The newest hits of those that come in any order. */
export class Newest {
  readonly #limit: number;
  readonly #kept: { readonly key: HitKey; readonly hit: SearchHit }[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether a hit with this key would be kept. */
  wants(key: HitKey): boolean {
    const last = this.#kept[this.#limit - 1];
    return this.#limit > 0 && (last === undefined || isNewer(key, last.key));
  }

  /** Every hit before this time (epoch ms) is too old to be kept. */
  get oldestWanted(): number {
    if (this.#limit === 0) return Number.MAX_SAFE_INTEGER;
    return this.#kept[this.#limit - 1]?.key.at ?? Number.MIN_SAFE_INTEGER;
  }

  isFullBefore(at: number): boolean {
    return this.oldestWanted >= at;
  }

  add(key: HitKey, hit: SearchHit): void {
    let [low, high] = [0, this.#kept.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#kept[middle];
      if (other !== undefined && isNewer(key, other.key)) high = middle;
      else low = middle + 1;
    }
    this.#kept.splice(low, 0, { key, hit });
    if (this.#kept.length > this.#limit) this.#kept.pop();
  }

  hits(): SearchHit[] {
    return this.#kept.map(({ hit }) => hit);
  }
}

function isNewer(a: HitKey, b: HitKey): boolean {
  if (a.at !== b.at) return a.at > b.at;
  if (a.sessionId !== b.sessionId) return a.sessionId > b.sessionId;
  if (a.offset !== b.offset) return a.offset > b.offset;
  return a.sequence !== b.sequence ? a.sequence > b.sequence : a.entryId > b.entryId;
}

/** In the names of the journal. */
export function hitJson(hit: SearchHit) {
  return {
    session_id: hit.sessionId,
    entry_id: hit.entryId,
    sequence_number: hit.sequence,
    timestamp: hit.timestamp,
    command: hit.command,
    exit_code: hit.exitCode,
    agent_id: hit.agentId,
    field: hit.found,
    offset: hit.offset,
    snippet: hit.snippet,
    match: [hit.match.from, hit.match.to] as const,
  };
}
