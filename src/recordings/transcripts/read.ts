// The facts of all transcripts of some agents, each once: a session that was resumed or forked
// repeats the calls of the one before it. Whatever cannot be read is counted and named.

import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { AppError, errnoOf } from '../../errors.ts';
import type { Env } from '../../types.ts';
import type {
  TranscriptAgent,
  TranscriptCall,
  TranscriptEdit,
  TranscriptFact,
  TranscriptParser,
} from './call.ts';
import { claudeFacts } from './claude.ts';
import { clineFacts } from './cline.ts';
import { codexFacts } from './codex.ts';
import { copilotFacts } from './copilot.ts';
import { cursorFacts } from './cursor.ts';
import { directoryOf } from './directory-names.ts';
import { geminiFacts } from './gemini.ts';
import { opencodeFacts } from './opencode.ts';
import { piFacts } from './pi.ts';
import { sessionFromPath, type TranscriptFile, transcriptFiles, type Unread } from './places.ts';
import { qwenFacts } from './qwen.ts';
import { recordsOf, UnreadableTranscript } from './records.ts';

export const PARSERS: { readonly [agent in TranscriptAgent]: TranscriptParser } = {
  claude: claudeFacts,
  codex: codexFacts,
  gemini: geminiFacts,
  qwen: qwenFacts,
  opencode: opencodeFacts,
  copilot: copilotFacts,
  pi: piFacts,
  cline: clineFacts,
  cursor: cursorFacts,
};

export type TranscriptQuery = {
  readonly agents: readonly TranscriptAgent[];
  readonly env: Env;
  /** Calls from then on (epoch ms); a file that was last written before is not opened. */
  readonly since?: number | undefined;
  /** Directories that a session may be told to have worked in where only a name is known. */
  readonly projects: readonly string[];
};

/** What the transcripts came to; filled while they are read. */
export class TranscriptTally {
  readonly files = new Map<TranscriptAgent, number>();
  readonly unread: Unread[] = [];
  /** Lines and calls that were not understood. */
  unknown = 0;
  /** The first of them. */
  readonly unknownAt: { readonly path: string; readonly line: number }[] = [];

  noteUnknown(path: string, line: number): void {
    this.unknown += 1;
    if (this.unknownAt.length < UNKNOWN_SHOWN_MAX) this.unknownAt.push({ path, line });
  }
}

const UNKNOWN_SHOWN_MAX = 20;

/** Where a fact comes from, and where its session works as far as that is known. */
type Source = { readonly file: TranscriptFile; readonly home: string | null };

export type SourcedFact =
  | ({ readonly kind: 'call'; readonly call: TranscriptCall } & Source)
  | ({ readonly kind: 'edit'; readonly edit: TranscriptEdit } & Source);

export function* transcriptFacts(
  query: TranscriptQuery,
  tally: TranscriptTally,
): Generator<SourcedFact, void, undefined> {
  const seen = new Set<string>();
  for (const agent of query.agents) {
    for (const found of transcriptFiles(agent, query.env)) {
      if ('unread' in found) tally.unread.push(found.unread);
      else if (mayHave(found.file, query.since)) {
        tally.files.set(agent, (tally.files.get(agent) ?? 0) + 1);
        yield* fileFacts(found.file, query, tally, seen);
      }
    }
  }
}

/** A database in use may keep its news in the log beside it. */
function mayHave({ modifiedAt, kind }: TranscriptFile, since: number | undefined): boolean {
  return since === undefined || kind === 'database' || modifiedAt >= since;
}

function* fileFacts(
  file: TranscriptFile,
  query: TranscriptQuery,
  tally: TranscriptTally,
  seen: Set<string>,
): Generator<SourcedFact> {
  const unknown = (line: number): void => tally.noteUnknown(file.path, line);
  const origin = { session: sessionFromPath(file), cwd: directoryOf(file, query.projects) };
  const homes = new Map<string, string>();
  try {
    for (const fact of PARSERS[file.agent](recordsOf(file, { unknown }), origin)) {
      if (fact.kind === 'unknown') unknown(fact.line);
      else if (fact.kind === 'place') homes.set(fact.session, fact.cwd);
      else if (isNew(fact, seen)) yield* sourced(fact, file, homes, query.since);
    }
  } catch (error) {
    tally.unread.push({ agent: file.agent, path: file.path, why: whyUnread(error) });
  }
}

function* sourced(
  fact: Extract<TranscriptFact, { kind: 'call' | 'edit' }>,
  file: TranscriptFile,
  homes: Map<string, string>,
  since: number | undefined,
): Generator<SourcedFact> {
  const { session, cwd } = fact.kind === 'call' ? fact.call : fact.edit;
  if (cwd !== null && !homes.has(session)) homes.set(session, cwd);
  const at = (fact.kind === 'call' ? fact.call.startedAt : fact.edit.at) ?? file.modifiedAt;
  if (since !== undefined && at < since) return;
  const home = homes.get(session) ?? null;
  if (fact.kind === 'call') yield { kind: 'call', call: whole(fact.call, file), file, home };
  else yield { kind: 'edit', edit: fact.edit, file, home };
}

function isNew(
  fact: Extract<TranscriptFact, { kind: 'call' | 'edit' }>,
  seen: Set<string>,
): boolean {
  const keys = fact.kind === 'call' ? callKeys(fact.call) : [editKey(fact.edit)];
  const known = keys.map((key) => shortHash(`${fact.kind}\0${key}`));
  if (known.some((key) => seen.has(key))) return false;
  for (const key of known) seen.add(key);
  return true;
}

/** The call in its session, and the call as a copy of its session has it. */
function callKeys(one: TranscriptCall): readonly string[] {
  const { agent, session, call, startedAt, command } = one;
  const own = `${agent}\0${session}\0${call}`;
  return startedAt === null ? [own] : [own, `${agent}\0${call}\0${startedAt}\0${command}`];
}

function editKey({ agent, call, path, at }: TranscriptEdit): string {
  return `${agent}\0${call}\0${path}\0${at}`;
}

function shortHash(text: string): string {
  return createHash('sha1').update(text).digest('base64').slice(0, 20);
}

function whyUnread(error: unknown): string {
  if (error instanceof UnreadableTranscript) return error.message;
  if (error instanceof AppError) return 'it is no regular file';
  const errno = errnoOf(error);
  // What SQLite throws has a code of its own.
  return errno?.startsWith('E') === true ? `it cannot be read (${errno})` : 'it is damaged';
}

const OUTPUT_BYTES_MAX = 1_048_576;

/** With the whole output, where that is in a file of the agent's own. */
function whole(call: TranscriptCall, { root }: TranscriptFile): TranscriptCall {
  if (call.outputFile === undefined) return call;
  const text = ownText(call.outputFile, root);
  if (text === undefined) return call;
  return { ...call, output: text.text, truncated: text.cut };
}

/** A transcript may name any file: only one of the agent's own directory is read for it. */
function ownText(path: string, root: string): { text: string; cut: boolean } | undefined {
  let fd: number | undefined;
  try {
    const real = realpathSync.native(path);
    if (!real.startsWith(root + sep)) return undefined;
    fd = openSync(real, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const { size, uid } = fstatSync(fd);
    const own = process.geteuid === undefined || uid === process.geteuid();
    if (!own || !fstatSync(fd).isFile()) return undefined;
    const bytes = Buffer.alloc(Math.min(size, OUTPUT_BYTES_MAX));
    const count = readSync(fd, bytes, 0, bytes.length, 0);
    return { text: bytes.subarray(0, count).toString('utf8'), cut: size > count };
  } catch {
    return undefined; // it was cleaned up; the transcript has the beginning
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
