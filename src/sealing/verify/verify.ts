// A verification: the ledger, the journals and the captures that it speaks of, and how far all of
// it reaches. A pure function of bytes that never throws, whatever they are; `gather.ts` reads
// them.
import { type CaptureContext, checkCaptures } from './capture-check.ts';
import { type Finding, isWrong } from './findings.ts';
import { checkJournal, type JournalCheck, type JournalFiles } from './journal-check.ts';
import { LeafIndex } from './leaf-index.ts';
import { type LedgerFiles, type LedgerReading, readLedger } from './ledger-check.ts';
import type { OutsideReading } from './outside.ts';
import type { SessionContext } from './session-check.ts';

export type Evidence = {
  readonly ledger: LedgerFiles;
  readonly journals: readonly JournalFiles[];
  /** Journals that were seen once and are not there. */
  readonly gone: readonly { journal: string; directory: string; at: number }[];
  readonly captures: Pick<CaptureContext, 'capture' | 'deep' | 'now'>;
  readonly vouched: (directory: string) => SessionContext['vouched'];
  /** Only this session, where one is asked about. */
  readonly only?: string | undefined;
};

type Counts = {
  /** Entries with a leaf. */
  readonly entries: number;
  /** Of these, how many are older than the anchor, and how many no checkpoint covers. */
  readonly anchored: number;
  readonly unsigned: number;
  /** Entries without a leaf. */
  readonly unsealed: number;
  readonly sessions: number;
  /** Captures that are there. */
  readonly captures: number;
};

export type Verification = {
  readonly origin: string | undefined;
  readonly ledger: Pick<
    LedgerReading,
    'size' | 'signed' | 'anchor' | 'noted' | 'checkpoint' | 'epoch'
  >;
  readonly outside: readonly OutsideReading[];
  /** It was verified with the key of a day that a person kept. */
  readonly keptEpoch: boolean;
  readonly counts: Counts;
  readonly findings: readonly Finding[];
  /** None of them is a wrong. */
  readonly intact: boolean;
  readonly deep: boolean;
};

export function verifyEvidence(evidence: Evidence): Verification {
  const { journals, only, gone, captures } = evidence;
  const reading = readLedger(evidence.ledger);
  const sealed = new LeafIndex(reading.leaves);
  const origin = evidence.ledger.key?.name;
  const checks = journals.map((files) =>
    checkJournal(files, { sealed, origin, only, vouched: evidence.vouched(files.directory) }),
  );
  const runs = only === undefined ? undefined : runsOf(checks);
  const captured = checkCaptures({ ...captures, sealed }, runs);
  const names = new Set(
    journals.flatMap(({ journal }) => (journal === undefined ? [] : [journal])),
  );
  const findings = [
    ...reading.findings,
    ...checks.flatMap((check) => check.findings),
    ...captured.findings,
    ...gone.filter(({ journal }) => !names.has(journal)).flatMap((one) => goneJournal(one, sealed)),
    ...gapsOf(sealed, names),
  ];
  return {
    origin,
    ledger: reading,
    outside: evidence.ledger.outside ?? [],
    keptEpoch: evidence.ledger.epoch !== undefined,
    counts: { ...countsOf(checks, reading), captures: captured.present },
    findings,
    intact: !findings.some(isWrong),
    deep: captures.deep,
  };
}

function runsOf(checks: readonly JournalCheck[]): ReadonlySet<string> {
  const runs = checks.flatMap(({ matched }) => matched.map(({ leaf }) => leaf.run));
  return new Set(runs.filter((run) => run !== null));
}

function countsOf(
  checks: readonly JournalCheck[],
  { anchor, signed }: LedgerReading,
): Omit<Counts, 'captures'> {
  const matched = checks.flatMap((check) => check.matched);
  return {
    entries: matched.length,
    anchored: matched.filter(({ index }) => index < (anchor?.size ?? 0)).length,
    unsigned: matched.filter(({ index }) => index >= signed).length,
    unsealed: checks.reduce((sum, { unsealed }) => sum + unsealed, 0),
    sessions: checks.reduce((sum, { sessions }) => sum + sessions, 0),
  };
}

function goneJournal(
  { journal, directory, at }: Evidence['gone'][number],
  sealed: LeafIndex,
): Finding[] {
  const tombstone = sealed.forgotten.get(journal);
  if (tombstone !== undefined) {
    const detail = `${tombstone.by}: ${tombstone.why ?? '-'}`;
    return [{ verdict: 'deleted', journal, at: tombstone.at, detail }];
  }
  const sessions = [...(sealed.journals.get(journal)?.values() ?? [])];
  const count = sessions.reduce((sum, { entries }) => sum + entries.length, 0);
  if (count === 0) return []; // it was named, and nothing was recorded
  return [{ verdict: 'journal_gone', journal, at, count, detail: directory }];
}

function gapsOf(sealed: LeafIndex, journals: ReadonlySet<string>): Finding[] {
  return sealed.gaps
    .filter(({ journal }) => journal === null || journals.has(journal))
    .map(({ journal, at, why }) => ({
      verdict: 'gap',
      at,
      detail: why ?? '-',
      ...(journal !== null && { journal }),
    }));
}
