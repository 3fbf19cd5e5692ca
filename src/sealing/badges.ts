// One word on how far a session is sealed, for people who look at a list of them:
//
//   anchored   all its entries are older than the last anchor that the ledger notes
//   sealed     all are signed, and not all are anchored
//   open       it is being written, or its last leaves are not signed yet
//   recovered  some were sealed late, after a crash
//   gap        some have no seal
//   tampered   it is not what was sealed
//
// For one session that is what a verification found. For a list it is what the files say of
// themselves: the end of the ledger is read, leaves are counted and nothing is hashed, so that a
// list needs no longer than before. Neither asks the places of the anchors: `cuff verify` does.

import * as fs from 'node:fs';
import { errnoOf } from '../errors.ts';
import { parseLeaf } from '../ledger/leaf.ts';
import type { SessionMetadata } from '../types.ts';
import { openForReading, readSmall, sealFile } from './place.ts';
import { anchorsIn } from './verify/anchors.ts';
import { isWrong } from './verify/findings.ts';
import type { Verification } from './verify/verify.ts';

export type Badge = 'anchored' | 'sealed' | 'open' | 'recovered' | 'gap' | 'tampered';

const WORST_FIRST: readonly Badge[] = [
  'tampered',
  'gap',
  'recovered',
  'open',
  'sealed',
  'anchored',
];

const END_BYTES = 1_048_576; // 4,000 leaves, read in a millisecond or two

/**
 * Of a verification of one session that a list calls `listed`. Undefined: nothing of it was sealed.
 */
export function verifiedBadge(
  { counts, findings }: Verification,
  { active, listed }: { readonly active: boolean; readonly listed: Badge | undefined },
): Badge | undefined {
  const found = (...verdicts: readonly string[]): boolean =>
    findings.some(({ verdict }) => verdicts.includes(verdict));
  if (findings.some(isWrong)) return 'tampered';
  if (counts.entries === 0) return undefined;
  if (found('unsealed', 'gap')) return 'gap';
  if (found('recovered')) return 'recovered';
  if (active || counts.unsigned > 0) return 'open';
  return listed === 'anchored' ? listed : 'sealed';
}

type ListedSession = Pick<SessionMetadata, 'session_id' | 'status' | 'entry_count'> &
  Pick<SessionMetadata, 'sealed_by' | 'unsealed'>;

/** By session; those without a badge were not sealed here. Never throws. */
export function listedBadges(
  stateRoot: string,
  journal: string | undefined,
  sessions: readonly ListedSession[],
): ReadonlyMap<string, Badge> {
  const origin = quietly(() => readSmall(sealFile(stateRoot, 'vkey'))?.split('+')[0]);
  const ours = sessions.filter(({ sealed_by }) => origin !== undefined && sealed_by === origin);
  if (ours.length === 0) return new Map();
  const end = quietly(() => endOf(stateRoot, journal, ours)) ?? NO_END;
  const anchors = anchorsIn(quietly(() => readSmall(sealFile(stateRoot, 'anchors.jsonl'))) ?? '');
  const anchored = Math.max(0, ...anchors.map(({ size }) => size));
  return new Map(
    ours
      .filter(({ entry_count }) => entry_count > 0)
      .map((session) => [session.session_id, listedBadge(session, end, anchored)]),
  );
}

/** The worst of the parts of a session. */
export function worstBadge(badges: readonly (Badge | undefined)[]): Badge | undefined {
  return WORST_FIRST.find((badge) => badges.includes(badge));
}

type Leaves = {
  readonly numbers: Set<number>;
  /** The number of the last leaf in the ledger. */
  last: number;
  late: boolean;
  unexplained: boolean;
};

type LedgerEnd = {
  /** Leaves with a lower number were not read. */
  readonly from: number;
  readonly signed: number;
  readonly sessions: ReadonlyMap<string, Leaves>;
};

const NO_END: LedgerEnd = { from: 0, signed: 0, sessions: new Map() };

function listedBadge(session: ListedSession, end: LedgerEnd, anchored: number): Badge {
  const { session_id, status, entry_count, unsealed } = session;
  const leaves = end.sessions.get(session_id);
  if (leaves === undefined && end.from === 0) return 'gap'; // all were read, and none is of it
  // One whose leaves were not read is older than all that were.
  const last = leaves?.last ?? end.from - 1;
  // Its first leaf was read, and so all of them.
  const sealed = leaves?.numbers.has(1) === true ? leaves.numbers.size : undefined;
  if (leaves?.unexplained === true || (sealed ?? 0) > entry_count) return 'tampered';
  if (unsealed !== undefined || (sealed !== undefined && sealed < entry_count)) return 'gap';
  if (leaves?.late === true) return 'recovered';
  if (status === 'active' || last >= end.signed) return 'open';
  return last < anchored ? 'anchored' : 'sealed';
}

function endOf(
  stateRoot: string,
  journal: string | undefined,
  sessions: readonly ListedSession[],
): LedgerEnd {
  const position = readSmall(sealFile(stateRoot, 'position')) ?? '';
  const [, size = '0', bytes = '0'] = /^(\d{1,15}) (\d{1,15})\n$/.exec(position) ?? [];
  const [signed, signedBytes] = [Number(size), Number(bytes)];
  const start = Math.max(0, signedBytes - END_BYTES);
  const [first, ...rest] = linesFrom(sealFile(stateRoot, 'leaves'), start);
  // Where the beginning was left out, the first line may be the end of one.
  const lines = start === 0 ? [first ?? '', ...rest] : rest;
  const skipped = start === 0 ? 0 : (first?.length ?? 0) + 1;
  let below = 0; // lines that are signed
  for (let at = start + skipped; at < signedBytes && below < lines.length; below += 1) {
    at += (lines[below]?.length ?? 0) + 1;
  }
  const from = signed - below;
  const wanted = new Set(sessions.map(({ session_id }) => session_id));
  const found = new Map<string, Leaves>();
  const names = namesOf(journal ?? '', lines);
  for (const [n, line] of lines.entries()) {
    const [, , leafJournal = '', session = ''] = line.split(' ', 4);
    if (n >= (names.get(leafJournal) ?? 0) || !wanted.has(session)) continue;
    const leaf = parseLeaf(`${line}\n`);
    if (leaf?.kind !== 'entry') continue;
    const leaves: Leaves = found.get(session) ?? noLeaves();
    found.set(session, leaves);
    if (leaves.numbers.has(leaf.sequence)) continue; // of two equal ones the first counts
    leaves.numbers.add(leaf.sequence);
    leaves.last = from + n;
    if (leaf.origin !== 'late') continue;
    if (leaf.run === null) leaves.unexplained = true;
    else leaves.late = true;
  }
  return { from, signed, sessions: found };
}

/** Of a journal and of those that it is a copy of, each with the first line that is not its own. */
function namesOf(journal: string, lines: readonly string[]): ReadonlyMap<string, number> {
  const names = new Map([[journal, Number.POSITIVE_INFINITY]]);
  let copy = journal;
  for (const [n, line] of [...lines.entries()].reverse()) {
    if (!line.startsWith(`cuff/1 fork ${copy} `)) continue;
    const leaf = parseLeaf(`${line}\n`);
    if (leaf?.kind !== 'fork' || names.has(leaf.from)) continue;
    names.set(leaf.from, n);
    copy = leaf.from;
  }
  return names;
}

function noLeaves(): Leaves {
  return { numbers: new Set(), last: 0, late: false, unexplained: false };
}

/** Without their ends; what stands behind the last end is none. */
function linesFrom(path: string, start: number): string[] {
  const fd = openForReading(path);
  try {
    const bytes = Buffer.alloc(Math.min(fs.fstatSync(fd).size - start, 2 * END_BYTES));
    const count = fs.readSync(fd, bytes, 0, bytes.length, start);
    return bytes.toString('latin1', 0, count).split('\n').slice(0, -1);
  } finally {
    fs.closeSync(fd);
  }
}

/** What cannot be read is as if it were not there. */
function quietly<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (errnoOf(error) === undefined && !(error instanceof RangeError)) throw error;
    return undefined;
  }
}
