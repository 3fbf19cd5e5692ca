// What a verification says to a person: first how far it reaches, then what is good to know, then
// what is wrong. It never says that all is well without saying until when.
import { countText } from '../../text/dates.ts';
import { manyText } from '../../text/plural.ts';
import { printable } from '../../text/printable.ts';
import { type Finding, isWrong, type Verdict } from './findings.ts';
import { placeText } from './outside.ts';
import type { Verification } from './verify.ts';

const EXAMPLES_MAX = 5; // of one verdict; the rest is a number

/** Lines without their ends. */
export function verificationWords(verification: Verification, now: number): readonly string[] {
  const { findings } = verification;
  const wrongs = findings.filter(isWrong);
  const facts = findings.filter((one) => !isWrong(one));
  return [
    ...reachWords(verification, now),
    ...outsideWords(verification, now),
    ...grouped(facts).flatMap((group) => factWords(group)),
    ...(wrongs.length === 0 ? [] : [`WRONG, ${manyText(wrongs.length, 'finding')}:`]),
    ...grouped(wrongs).flatMap((group) => wrongWords(group)),
  ];
}

function reachWords(verification: Verification, now: number): string[] {
  const { counts, ledger, intact, deep } = verification;
  const { entries, anchored, unsigned, sessions } = counts;
  const locked = verification.findings.filter(
    ({ verdict, run }) => verdict === 'encrypted' && run !== undefined,
  );
  const captures = counts.captures - locked.length;
  const closed = verification.findings.some(
    ({ verdict, run }) => verdict === 'encrypted' && run === undefined,
  );
  const { anchor } = ledger;
  const newer = entries - anchored;
  const sealed = sealedText(entries);
  const good = intact ? 'as they were sealed' : 'compared with the ledger';
  const reach =
    anchor === undefined
      ? 'not anchored'
      : `anchored until ${timeOf(anchor, now)} (${placeOf(anchor)}, ${countText(anchored)})`;
  const hashed = deep ? 'hashed' : 'there, not hashed (--deep does)';
  return [
    entries === 0 && anchor === undefined
      ? `No sealed entries ${closed ? 'that can be compared' : 'here'}: nothing is proven.`
      : `${sealed} in ${manyText(sessions, 'session')}: ${good}, ${reach}`,
    ...(newer > 0
      ? [`  ${isOrAre(newer)} not anchored: ${REWRITE} ${newer === 1 ? 'it' : 'them'}`]
      : []),
    ...(unsigned > 0 ? [`  ${isOrAre(unsigned)} not under a valid signature`] : []),
    ...epochWords(verification),
    ...(captures > 0 ? [`  ${manyText(captures, 'sealed capture')} ${hashed}`] : []),
  ];
}

/** Only of a key that a person kept: one that is found beside the ledger proves nothing. */
function epochWords({ ledger: { epoch }, keptEpoch }: Verification): string[] {
  if (epoch === undefined || !keptEpoch) return [];
  const { from, to, size } = epoch;
  const days = `  the key of ${from} leads to that of ${to}`;
  if (size === 0) return [`${days}: its holder could still rewrite all of it`];
  return [`${days}: its holder could not rewrite the first ${manyText(size, 'line')}`];
}

const REWRITE = 'the holder of your account could still rewrite';

/** Which anchors were compared with what is at their places, and which only stand in our notes. */
function outsideWords({ outside, ledger: { noted } }: Verification, now: number): string[] {
  const read = outside.filter(({ heads }) => heads !== undefined);
  const places = read.map((one) => printable(placeText(one)));
  const failed = outside.filter(({ why }) => why !== undefined);
  const until = noted && `until ${timeOf(noted, now)} (${placeOf(noted)})`;
  return [
    ...(read.length > 0 ? [`  compared with what is there: ${places.join(', ')}`] : []),
    ...failed.map(({ heads, why, ...place }) => {
      const what = heads === undefined ? 'read' : 'asked';
      return `  ${printable(placeText(place))} could not be ${what}: ${printable(why ?? '')}`;
    }),
    ...(until === undefined
      ? []
      : [`  anchored ${until} by the ledger's own notes alone: bring what you kept with --at`]),
  ];
}

function isOrAre(count: number): string {
  return `${countText(count)} ${count === 1 ? 'is' : 'are'}`;
}

function placeOf(place: { readonly kind: string; readonly where: string }): string {
  return printable(placeText(place));
}

function timeOf({ at, size }: { at: number | undefined; size: number }, now: number): string {
  if (at === undefined) return `line ${countText(size)} of the ledger`;
  const text = momentText(at);
  return text.slice(0, 10) === momentText(now).slice(0, 10) ? text.slice(11) : text;
}

/** `2026-01-18 14:30`, in UTC as everything is. */
function momentText(at: number): string {
  const limited = Math.min(Math.max(at, 0), 253_402_300_799_999);
  return new Date(limited).toISOString().slice(0, 16).replace('T', ' ');
}

type Group = readonly [Finding, ...Finding[]];

/** By verdict and, for what was deleted, by reason; in the order of the first of each. */
function grouped(findings: readonly Finding[]): Group[] {
  const groups = new Map<string, [Finding, ...Finding[]]>();
  for (const finding of findings) {
    const { verdict, detail, part, run } = finding;
    const of = verdict === 'encrypted' && run !== undefined ? 'capture' : '';
    const key = BY_DETAIL.includes(verdict) ? `${verdict} ${detail} ${part}` : `${verdict} ${of}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [finding]);
    else group.push(finding);
  }
  return [...groups.values()];
}

const BY_DETAIL: readonly Verdict[] = [
  'deleted',
  'sealed_elsewhere',
  'journal_gone',
  'redacted',
  'anchor_missing',
];

function factWords(group: Group): string[] {
  const words = FACT_WORDS[group[0].verdict];
  return [`  ${words === undefined ? group[0].verdict : words(aboutOf(group))}`];
}

type About = {
  readonly first: Finding;
  /** How many findings; how many things they count. */
  readonly many: number;
  readonly total: number;
  /** `1 entry was`, `3 entries were`. */
  readonly entries: string;
  readonly at: string;
  readonly detail: string;
};

function aboutOf(group: Group): About {
  const [first] = group;
  const many = group.length;
  return {
    first,
    many,
    total: group.reduce((sum, { count = 1 }) => sum + count, 0),
    entries: many === 1 ? '1 entry was' : `${countText(many)} entries were`,
    at: first.at === undefined ? '' : momentText(first.at),
    detail: printable(first.detail ?? ''),
  };
}

/** `1 session was`, `3 sessions were`. */
function sealedText(entries: number): string {
  return `${countText(entries)} sealed ${entries === 1 ? 'entry' : 'entries'}`;
}

function wasWere(many: number, one: string): string {
  return `${manyText(many, one)} ${many === 1 ? 'was' : 'were'}`;
}

const FACT_WORDS: Readonly<Partial<Record<Verdict, (about: About) => string>>> = {
  unsigned: ({ total, at }) =>
    `${manyText(total, 'line')} of the ledger not signed yet${at === '' ? '' : `, since ${at}`}`,
  unsealed: ({ total }) =>
    `${manyText(total, 'line')} of the journal without a seal: nothing is proven about that`,
  recovered: ({ entries, many, at }) =>
    `${entries} sealed late, after a crash${many === 1 ? ` at ${at}` : ''}`,
  spooled: ({ entries }) => `${entries} recorded in a sandbox, and sealed later`,
  deleted: ({ first, many, detail }) =>
    first.session === undefined
      ? `the journal ${first.journal} was deleted (${detail})`
      : `${wasWere(many, 'session')} deleted (${detail})`,
  redacted: ({ first, many, entries, detail }) =>
    first.run === undefined
      ? `${entries} redacted: ${first.part}, "${detail}"`
      : `${wasWere(many, 'capture')} redacted: ${first.part}, "${detail}"; what was sealed there ` +
        'before can no longer be shown',
  gap: ({ at, detail }) => `entries were lost at ${at} (${detail})`,
  fork: ({ at, detail }) => `this journal is a copy of ${detail}, named at ${at}`,
  anchor_missing: ({ total, detail }) =>
    `${manyText(total, 'anchor')} noted for ${detail}, and not there: not counted`,
  sealed_elsewhere: ({ many, detail }) =>
    `${manyText(many, 'session')} sealed elsewhere (${detail}): not checked here`,
  journal_gone: ({ at, detail, total }) =>
    `journal gone (last seen ${detail}, ${at}): ${sealedText(total)}`,
  encrypted: ({ first, many, total }) =>
    first.run === undefined
      ? `${total === 1 ? '1 entry was' : `${countText(total)} entries were`} not compared: ` +
        `encrypted, and no identity here reads ${total === 1 ? 'it' : 'them'}`
      : `${wasWere(many, 'capture')} not hashed: encrypted, and no identity here reads ` +
        (many === 1 ? 'it' : 'them'),
  expired: ({ many }) => `${wasWere(many, 'capture')} removed when the retention was over`,
};

const WRONG_WORDS: Readonly<Partial<Record<Verdict, string>>> = {
  checkpoint_bad: 'the signed checkpoint is not that of this ledger',
  epoch_broken: 'an older key leads to no signature of this ledger',
  ledger_edited: 'lines of the ledger were changed after they were signed',
  ledger_truncated: 'signed lines of the ledger are gone',
  history_rewritten: 'the ledger is not the one that was anchored',
  rolled_back: 'the ledger is older than its anchor: rolled back, or restored from a backup',
  edited: 'changed after it was sealed',
  unreadable_line: 'lines that cannot be read, in a session with missing entries',
  missing_entry: 'sealed, and not in the journal',
  reordered: 'not in the order in which it was sealed',
  inserted: 'in the journal, and was not sealed when it should have been',
  foreign_entry: 'sealed in another session',
  entry_twice: 'in the journal more than once',
  missing_session: 'sealed sessions that are gone',
  unknown_session: 'a session that says it was sealed, and was not',
  late_unexplained: 'sealed late, and no run vouches for it',
  deleted_early: 'deleted before its time',
  capture_edited: 'a capture that was changed after it was sealed',
};

function wrongWords(group: Group): string[] {
  const [{ verdict }] = group;
  const more = group.length - EXAMPLES_MAX;
  return [
    `  ${verdict}: ${WRONG_WORDS[verdict] ?? ''}`,
    ...group.slice(0, EXAMPLES_MAX).map((one) => `    ${whereText(one)}`),
    ...(more > 0 ? [`    and ${countText(more)} more`] : []),
  ];
}

function whereText({ session, sequence, run, part, leaf, at, count, detail }: Finding): string {
  const words = [
    session && `session ${session}`,
    sequence !== undefined && `entry ${sequence}`,
    run && `capture ${run}`,
    part,
    leaf !== undefined && `line ${leaf + 1} of the ledger`,
    count !== undefined && countText(count),
    at !== undefined && momentText(at),
    detail,
  ];
  return printable(
    words.filter((word) => word !== undefined && word !== false && word !== '').join(', '),
  );
}

/** As programs get it. */
export function verificationJson(verification: Verification) {
  const { origin, ledger, outside, counts, findings, intact, deep } = verification;
  const { anchor, noted, checkpoint, signed, size } = ledger;
  return {
    intact,
    origin: origin ?? null,
    ledger: { size, signed, checkpoint_size: checkpoint?.size ?? null },
    epoch: (verification.keptEpoch && ledger.epoch) || null,
    anchor: anchor === undefined ? null : anchorJson(anchor),
    noted_anchor: noted === undefined ? null : anchorJson(noted),
    outside: outside.map(({ kind, where, heads, why }) => ({
      kind,
      where,
      compared: heads?.length ?? null,
      trouble: why ?? null,
    })),
    counts,
    deep,
    findings: findings.map((finding) => ({ wrong: isWrong(finding), ...timed(finding) })),
  };
}

function anchorJson({ at, kind, where, size }: NonNullable<Verification['ledger']['anchor']>) {
  return { at: at === undefined ? null : new Date(at).toISOString(), kind, where, size };
}

function timed({ at, ...finding }: Finding) {
  return { ...finding, ...(at !== undefined && { at: `${momentText(at).replace(' ', 'T')}Z` }) };
}
