// Calls of agents' transcripts become sessions of a journal, one for each session of an agent. The
// id of a session is made from the agent's, so that a second import finds it and adds only what is
// new. Entries are marked as the agent's own word.

import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { AppError } from '../errors.ts';
import { type Claim, claimSession, holdSession } from '../journal/claim.ts';
import { journalSessionIds } from '../journal/reader.ts';
import type { SealOf } from '../journal/seal.ts';
import { resumeSession, type SessionWriter, startSession } from '../journal/writer.ts';
import { processAlive, thisProcess } from '../run/processes.ts';
import type { Ledger } from '../sealing/ledger.ts';
import type { EntryDraft, Env } from '../types.ts';
import { EditImport } from './import-edits.ts';
import { KnownCalls } from './known-calls.ts';
import type { TranscriptAgent, TranscriptCall } from './transcripts/call.ts';
import { type DraftTerms, draftOf } from './transcripts/draft.ts';
import { type SourcedFact, TranscriptTally, transcriptFacts } from './transcripts/read.ts';

const HOUR_MS = 3_600_000;
const OPEN_WRITERS_MAX = 32; // databases mix the calls of many sessions
const IN_FLIGHT_MAX = 256; // entries that share a write to the disk

export type TranscriptImport = {
  readonly directory: string;
  readonly agents: readonly TranscriptAgent[];
  readonly env: Env;
  readonly since?: number | undefined;
  /** Only sessions that worked in it or below it; undefined: all. */
  readonly project?: string | undefined;
  readonly terms: DraftTerms;
  readonly dryRun: boolean;
  readonly now: () => number;
  /** Seals what is imported. */
  readonly ledger?: Ledger | undefined;
  readonly step?: () => void;
};

const WRITERS = { owner: thisProcess(), alive: processAlive };

type AgentCounts = { sessions: number; commands: number };

export type TranscriptImportResult = {
  /** New ones. */
  readonly commands: number;
  readonly sessions: number;
  readonly denied: number;
  readonly agents: ReadonlyMap<TranscriptAgent, AgentCounts>;
  /** They have an entry: imported before, or recorded by us. */
  readonly known: number;
  /** Calls of a session that may still be running; the next import takes them. */
  readonly running: number;
  /** Calls of sessions of other projects. */
  readonly elsewhere: number;
  readonly edits: number;
  readonly tally: TranscriptTally;
};

export async function importTranscripts(job: TranscriptImport): Promise<TranscriptImportResult> {
  const importer = new Importer(job);
  try {
    await importer.all();
  } finally {
    await importer.close();
  }
  return importer.result();
}

class Importer {
  readonly #job: TranscriptImport;
  readonly #tally = new TranscriptTally();
  readonly #known: KnownCalls;
  readonly #writers: Writers;
  readonly #sessions = new Map<string, TranscriptAgent>();
  readonly #agents = new Map<TranscriptAgent, AgentCounts>();
  readonly #inside: (directory: string | null) => boolean;
  #denied = 0;
  #skipped = { known: 0, running: 0, elsewhere: 0 };
  readonly #edits: EditImport;

  constructor(job: TranscriptImport) {
    this.#job = job;
    const { since, now, ledger } = job;
    const seal = ledger?.sealOf('import');
    this.#known = new KnownCalls(job.directory, since === undefined ? undefined : since - HOUR_MS);
    this.#writers = new Writers(job.directory, seal);
    this.#edits = new EditImport(job.directory, since, { now, seal, writers: WRITERS });
    this.#inside = within(job.project);
  }

  async all(): Promise<void> {
    const { agents, env, since, project } = this.#job;
    const projects = project === undefined ? [] : [project];
    for (const fact of transcriptFacts({ agents, env, since, projects }, this.#tally)) {
      this.#job.step?.();
      if (!this.#inside(fact.home)) this.#skipped.elsewhere += Number(fact.kind === 'call');
      else if (fact.kind === 'edit') this.#edit(fact);
      else await this.#call(fact);
    }
  }

  #edit({ edit, file }: Extract<SourcedFact, { kind: 'edit' }>): void {
    this.#edits.add(edit, file.modifiedAt, this.#job.terms.redactCommand);
  }

  async #call({ call, file }: Extract<SourcedFact, { kind: 'call' }>): Promise<void> {
    const draft = draftOf(call, file.modifiedAt, this.#job.terms);
    if (this.#known.has(draft)) {
      this.#skipped.known += 1;
      return;
    }
    // The result may come: an entry that is written now could not get it any more.
    if (call.end === 'open' && this.#job.now() - file.modifiedAt < HOUR_MS) {
      this.#skipped.running += 1;
      return;
    }
    this.#count(call);
    if (!this.#job.dryRun) await this.#writers.append(call, draft);
  }

  #count({ agent, session, end }: TranscriptCall): void {
    const counts = this.#agents.get(agent) ?? { sessions: 0, commands: 0 };
    this.#agents.set(agent, counts);
    counts.commands += 1;
    this.#denied += Number(end === 'denied');
    const key = `${agent}\0${session}`;
    if (this.#sessions.has(key)) return;
    this.#sessions.set(key, agent);
    counts.sessions += 1;
  }

  async close(): Promise<void> {
    await this.#writers.close();
    if (this.#job.dryRun) return;
    await this.#edits.write((key) => this.#writers.sessionOf(key));
  }

  result(): TranscriptImportResult {
    const all = [...this.#agents.values()];
    return {
      commands: all.reduce((sum, { commands }) => sum + commands, 0),
      sessions: this.#sessions.size,
      denied: this.#denied,
      agents: this.#agents,
      ...this.#skipped,
      edits: this.#edits.count,
      tally: this.#tally,
    };
  }
}

/** A transcript has a directory as the agent saw it, which may be a link to the project. */
export function within(project: string | undefined): (directory: string | null) => boolean {
  if (project === undefined) return () => true;
  const roots = new Set([project, realOf(project)]);
  const known = new Map<string, boolean>();
  const isIn = (path: string): boolean =>
    [...roots].some((root) => path === root || path.startsWith(root === sep ? sep : root + sep));
  return (directory) => {
    if (directory === null) return false;
    const answer = known.get(directory) ?? (isIn(directory) || isIn(realOf(directory)));
    known.set(directory, answer);
    return answer;
  };
}

function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path; // it is gone: its name is all there is
  }
}

type Open = {
  readonly writer: SessionWriter;
  readonly claim: Claim;
  /** The session's clock shows at least this. */
  readonly set: (at: number) => void;
};

/** The sessions that are being written, the least used closed first. */
class Writers {
  readonly #directory: string;
  readonly #seal: SealOf | undefined;
  readonly #open = new Map<string, Open>();
  #ids: Map<string, string> | undefined;
  #flight: Promise<unknown>[] = [];

  constructor(directory: string, seal: SealOf | undefined) {
    this.#directory = directory;
    this.#seal = seal;
  }

  async append(call: TranscriptCall, draft: EntryDraft): Promise<void> {
    const key = `${call.agent}\0${call.session}`;
    const open = this.#open.get(key) ?? (await this.#opened(key, call, draft));
    this.#open.delete(key); // and to the end of the line
    this.#open.set(key, open);
    open.set(Date.parse(draft.timestamp) + draft.duration_ms);
    this.#flight.push(open.writer.append(draft));
    if (this.#flight.length >= IN_FLIGHT_MAX) await this.#landed();
  }

  /** The journal's session for the agent's, if there is one. */
  sessionOf(key: string): string | undefined {
    return this.#known().get(suffixOf(key));
  }

  #known(): Map<string, string> {
    this.#ids ??= new Map(journalSessionIds(this.#directory).map((id) => [id.slice(16), id]));
    return this.#ids;
  }

  async #opened(key: string, call: TranscriptCall, draft: EntryDraft): Promise<Open> {
    const [oldest] = this.#open;
    if (oldest !== undefined && this.#open.size >= OPEN_WRITERS_MAX) {
      this.#open.delete(oldest[0]);
      await this.#landed();
      await end(oldest[1]);
    }
    let clock = Date.parse(draft.timestamp);
    const random = (count: number): Uint8Array => hashOf(key).subarray(0, count);
    // A session is dated by its commands, and its metadata is written once, at its end.
    const env = { now: () => clock, random, later: () => () => undefined, seal: this.#seal };
    const opened = this.#resumed(suffixOf(key), env) ?? this.#started(call, draft, env);
    const set = (at: number): void => {
      clock = Math.max(clock, at);
    };
    return { ...opened, set };
  }

  /** The session that an earlier import made. */
  #resumed(suffix: string, env: Parameters<typeof resumeSession>[2]) {
    const id = this.#known().get(suffix);
    if (id === undefined) return undefined;
    const owner = thisProcess();
    const claim = claimSession(this.#directory, id, owner, processAlive);
    if (claim === undefined) throw busy(id);
    const writer = resumeSession(this.#directory, id, env);
    writer.goOn(owner);
    return { writer, claim };
  }

  #started(call: TranscriptCall, draft: EntryDraft, env: Parameters<typeof startSession>[2]) {
    const facts = {
      workingDirectory: draft.working_directory,
      agentId: call.agent,
      conversationId: call.session,
      owner: thisProcess(), // while it lives the session is not taken for a forgotten one
    };
    const writer = startSession(this.#directory, facts, env);
    this.#known().set(writer.id.slice(16), writer.id);
    return { writer, claim: holdSession(this.#directory, writer.id) };
  }

  async #landed(): Promise<void> {
    const all = this.#flight;
    this.#flight = [];
    await Promise.all(all);
  }

  async close(): Promise<void> {
    try {
      await this.#landed();
    } finally {
      for (const open of this.#open.values()) await end(open);
      this.#open.clear();
    }
  }
}

function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** How the id of the journal's session ends, behind its date and time. */
function suffixOf(key: string): string {
  const hex = hashOf(key).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}`;
}

async function end({ writer, claim }: Pick<Open, 'writer' | 'claim'>): Promise<void> {
  await writer.finalize(writer.broken ? 'interrupted' : 'complete', 'imported');
  claim.release();
}

function busy(id: string): AppError {
  return new AppError('journal_unwritable', `Another process writes the session ${id}`, {
    hint: 'Hint: Import again when it is done; nothing is imported twice',
  });
}
