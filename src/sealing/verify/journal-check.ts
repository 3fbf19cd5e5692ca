// One journal: the sessions that are there against the sessions that the ledger knows.
import { ENTRY_PARTS, type EntryPart } from '../../ledger/commitments.ts';
import type { LeafOf } from '../../ledger/leaf.ts';
import type { Finding } from './findings.ts';
import type { Fork, LeafIndex, SealedEntry, SealedSession } from './leaf-index.ts';
import { checkSession, type SessionContext, type SessionFiles } from './session-check.ts';

export type JournalFiles = {
  /** Its name in ledgers; undefined while it has none. */
  readonly journal: string | undefined;
  readonly directory: string;
  readonly sessions: readonly SessionFiles[];
};

export type JournalCheck = {
  readonly directory: string;
  readonly journal: string | undefined;
  readonly sessions: number;
  readonly matched: readonly SealedEntry[];
  readonly unsealed: number;
  readonly findings: readonly Finding[];
};

export type JournalContext = Pick<SessionContext, 'sealed' | 'origin' | 'vouched'> & {
  /** Only this session is asked about. */
  readonly only?: string | undefined;
};

export function checkJournal(files: JournalFiles, context: JournalContext): JournalCheck {
  const { sealed, only } = context;
  const journal = files.journal ?? '';
  const fork = sealed.forks.get(journal);
  const wanted = ({ id }: { readonly id: string }): boolean => only === undefined || id === only;
  const checks = files.sessions.filter(wanted).map((session) => {
    const leaves = leavesOf(sealed, journal, session.id, fork);
    const place = { journal, session: session.id };
    const check = checkSession(session, { ...context, leaves, place, forkedAt: fork?.index });
    return { ...check, findings: [...check.findings, ...saidOf(leaves)] };
  });
  const there = new Set(files.sessions.map(({ id }) => id));
  const known = [...(sealed.journals.get(journal)?.values() ?? [])];
  const gone = known
    .filter(({ session }) => !there.has(session) && wanted({ id: session }))
    .flatMap((leaves) => [...goneFindings(leaves, sealed), ...saidOf(leaves)]);
  return {
    directory: files.directory,
    journal: files.journal,
    sessions: checks.length,
    matched: checks.flatMap(({ matched }) => matched),
    unsealed: checks.reduce((sum, { unsealed }) => sum + unsealed, 0),
    findings: [
      ...(fork === undefined ? [] : [forkFinding(journal, fork)]),
      ...checks.flatMap(({ findings }) => findings),
      ...gone,
    ],
  };
}

function forkFinding(journal: string, { from, at }: Fork): Finding {
  return { verdict: 'fork', journal, at, detail: from };
}

/** A copy of a journal has the leaves of the original up to where it was named. */
function leavesOf(
  sealed: LeafIndex,
  journal: string,
  session: string,
  fork: Fork | undefined,
): SealedSession | undefined {
  const own = sealed.session(journal, session);
  const seen = new Set([journal]);
  let merged = own;
  for (let at = fork; at !== undefined && !seen.has(at.from); at = sealed.forks.get(at.from)) {
    seen.add(at.from);
    const { from, index } = at;
    const first = sealed.session(from, session);
    if (first === undefined) continue;
    const entries = first.entries.filter((entry) => entry.index < index);
    merged = {
      ...first,
      closed: merged === undefined ? first.closed : merged.closed,
      tombstone: merged?.tombstone,
      entries: [...entries, ...(merged?.entries ?? [])],
      amends: [...first.amends, ...(merged?.amends ?? [])],
      ...redactionsOf([first, ...(merged === undefined ? [] : [merged])]),
    };
  }
  return merged;
}

/** Of the original and of its copy. */
function redactionsOf(
  sessions: readonly SealedSession[],
): Pick<SealedSession, 'redacted' | 'redactions'> {
  const redactions = sessions.flatMap((one) => one.redactions);
  const redacted = new Map<number, Set<EntryPart>>();
  for (const { sequence, parts } of redactions) {
    redacted.set(sequence, new Set([...(redacted.get(sequence) ?? []), ...parts]));
  }
  return { redacted, redactions };
}

/** A session whose file is not there. */
function goneFindings(leaves: SealedSession, sealed: LeafIndex): Finding[] {
  const { journal, session, entries, tombstone } = leaves;
  const buried = tombstone ?? sealed.forgotten.get(journal);
  if (entries.length === 0 && buried === undefined) return []; // nothing was ever in it
  const last = entries.reduce((latest, { leaf }) => Math.max(latest, leaf.at), 0);
  if (buried === undefined) {
    return [{ verdict: 'missing_session', journal, session, count: entries.length, at: last }];
  }
  const detail = `${buried.by}: ${buried.why ?? '-'}`;
  const said: Finding = {
    verdict: 'deleted',
    journal,
    session,
    at: buried.at,
    count: entries.length,
    detail,
  };
  const early = buried.by === 'retention' && !retentionExplains(buried, last);
  return early ? [{ ...said, verdict: 'deleted_early' }, said] : [said];
}

const DAY_MS = 86_400_000;

/** The reason says after how many days; the last entry must be that old. */
function retentionExplains({ at, why }: LeafOf<'tombstone'>, last: number): boolean {
  const days = Number(/^(\d{1,6}) days?$/.exec(why ?? '')?.[1] ?? Number.NaN);
  return at - last >= days * DAY_MS;
}

/** What the ledger says of it beside its entries: of each entry once, whatever was said twice. */
function saidOf(leaves: SealedSession | undefined): Finding[] {
  const last = new Map(leaves?.redactions.map((one) => [one.sequence, one]));
  return [...last.values()].map(({ journal, session, sequence, at, why }) => {
    const parts = ENTRY_PARTS.filter((part) => leaves?.redacted.get(sequence)?.has(part));
    const part = sequence === 0 ? 'edit' : parts.join(',');
    return { verdict: 'redacted', journal, session, sequence, at, part, detail: why ?? '-' };
  });
}
