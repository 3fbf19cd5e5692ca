// What a dead process left undone in a journal. Planning is pure: the facts come in as values,
// because sessions are known here and runs are known elsewhere. A process that acts on a plan holds
// the claim (claim.ts) meanwhile.
import { setImmediate } from 'node:timers/promises';
import type { JournalIntent, ProcessId, SessionMetadata } from '../types.ts';
import { entriesIn } from './entry-lines.ts';
import { findSessionFiles, indexPath, readText } from './files.ts';
import { decodeIndex } from './index-file.ts';
import { Tally } from './metadata.ts';
import { openLines } from './packed/source.ts';
import { journalSessionIds, readMetadata } from './reader.ts';

const TURN_MS = 10; // of reading, before others have their turn

export type KnownSession = {
  readonly metadata: SessionMetadata;
  /** While its owner lives no other process writes it. */
  readonly ownerAlive: boolean;
  /** The runs that have an entry in it. */
  readonly runIds: ReadonlySet<string>;
  /** Every line is an entry, the last one included. */
  readonly whole: boolean;
  /** The process that plans goes on with it, so that it has not ended. */
  readonly open?: boolean;
};

export type KnownIntent = {
  readonly runId: string;
  readonly intent: JournalIntent & { readonly sessionId: string };
  /** The process that asked for the run lives, and will write the entry itself. */
  readonly starterAlive: boolean;
  /** It may still change how it ends. */
  readonly running: boolean;
};

/** What is to be done for one session. */
export type SessionRecovery = {
  readonly sessionId: string;
  /** Runs whose entries can be written now, oldest first. */
  readonly append: readonly string[];
  /** Runs that still go on: their entries are written when they have ended. */
  readonly wait: readonly string[];
  /**
   * The status of a session that says it is active and has lost its owner: `complete` when it has
   * the entries of all its commands. Undefined: it has ended before.
   */
  readonly end: 'complete' | 'interrupted' | undefined;
};

/** A session that is gone was removed on purpose: its runs do not bring it back. */
export function planRecovery(facts: {
  readonly directory: string;
  readonly sessions: readonly KnownSession[];
  readonly intents: readonly KnownIntent[];
}): SessionRecovery[] {
  const bySession = new Map<string, KnownIntent[]>();
  for (const known of facts.intents) {
    const { directory, sessionId } = known.intent;
    if (directory !== facts.directory || known.starterAlive) continue;
    bySession.set(sessionId, [...(bySession.get(sessionId) ?? []), known]);
  }
  return facts.sessions
    .filter(({ ownerAlive, open }) => open === true || !ownerAlive)
    .map((session) => planFor(session, bySession.get(session.metadata.session_id) ?? []))
    .filter(({ append, wait, end }) => end !== undefined || append.length + wait.length > 0);
}

function planFor(session: KnownSession, intents: readonly KnownIntent[]): SessionRecovery {
  const missing = intents
    .filter(({ runId }) => !session.runIds.has(runId))
    .sort((a, b) => startOf(a) - startOf(b));
  const ids = (running: boolean): string[] =>
    missing.filter((one) => one.running === running).map(({ runId }) => runId);
  const complete = missing.length === 0 && session.whole;
  const end = complete ? 'complete' : 'interrupted';
  return {
    sessionId: session.metadata.session_id,
    append: ids(false),
    wait: ids(true),
    end: session.metadata.status === 'active' && session.open !== true ? end : undefined,
  };
}

function startOf({ intent }: KnownIntent): number {
  return Date.parse(intent.draft.timestamp);
}

/**
 * The sessions a plan is about: those that say they are active, and those that `named` intents
 * name. Others are not even opened: a session that has ended stays ended.
 */
export async function knownSessions(
  directory: string,
  named: Iterable<string>,
  alive: (one: ProcessId) => boolean,
): Promise<KnownSession[]> {
  const wanted = new Set(named);
  const rows = decodeIndex(readText(indexPath(directory)) ?? '')?.sessions ?? {};
  const ended = (id: string): boolean => {
    const status = Object.hasOwn(rows, id) ? rows[id]?.status : undefined;
    return status !== undefined && status !== 'active';
  };
  const known: KnownSession[] = [];
  for (const id of journalSessionIds(directory).filter((one) => wanted.has(one) || !ended(one))) {
    const metadata = readMetadata(directory, id);
    if (metadata === undefined) continue;
    if (metadata.status !== 'active' && !wanted.has(id)) continue;
    const seen = await runsIn(directory, id);
    known.push({ metadata, ownerAlive: ownerAlive(metadata, alive), ...seen });
  }
  return known;
}

/** A session may be hundreds of megabytes, and callers of the server wait meanwhile. */
async function runsIn(
  directory: string,
  sessionId: string,
): Promise<Pick<KnownSession, 'runIds' | 'whole'>> {
  const source = openLines(findSessionFiles(directory, sessionId)?.entries ?? '');
  const packed = source?.stub?.facts;
  const tally = new Tally(packed);
  const damage = { lines: packed?.damaged ?? 0 };
  let turn = performance.now();
  for (const { entry } of source ? entriesIn(source, source.packedBytes, damage) : []) {
    tally.add(entry);
    if (performance.now() - turn < TURN_MS) continue;
    await setImmediate();
    turn = performance.now();
  }
  return { runIds: tally.runIds, whole: damage.lines === 0 };
}

export function ownerAlive(
  { owner }: Pick<SessionMetadata, 'owner'>,
  alive: (one: ProcessId) => boolean,
): boolean {
  return owner !== null && alive({ pid: owner.pid, startTime: owner.start_time });
}
