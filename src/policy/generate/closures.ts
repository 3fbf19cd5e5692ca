// The rules that `semantic` adds to the observed commands: commands of the same effect. When enough
// of one class was seen, the rest of it says nothing new about what the agent may do.

import { wordArg } from '../analyse/args.ts';
import { readCall } from '../profiles/index.ts';
import type { Arg } from '../unit.ts';
import { CLASSES, READS, REVEALING } from './effects.ts';
import type { Tally } from './tally.ts';

export type Member = {
  readonly head: string;
  /** Words that stand behind the head. */
  readonly fixed: readonly string[];
  /** More may follow. */
  readonly open: boolean;
  /** Words that may stand in front of the subcommand: `[--no-pager]`. */
  readonly lead?: string;
};

const READS_SEEN_MIN = 2;

const OWN_READS_SEEN_MIN = 4; // an agent that used four of them will use a fifth

/** The other ways to look with a program of which several were seen. */
export function readsOf(tally: Tally): readonly Member[] {
  return [...readMembers()].flatMap(([program, members]) => {
    if (program === 'xargs') return [];
    const seen = members.filter((member) => countOf(member, tally) > 0);
    return seen.length < OWN_READS_SEEN_MIN ? [] : members;
  });
}

/** Members of the classes that were seen often enough. */
export function closureOf(tally: Tally, minFrequency: number): readonly Member[] {
  const enough = (members: readonly Member[], seenMin: number): boolean => {
    const counts = members.map((member) => countOf(member, tally)).filter((count) => count > 0);
    const total = counts.reduce((sum, count) => sum + count, 0);
    return counts.length >= seenMin && total >= minFrequency;
  };
  const used = new Set([...tally.heads.values()].map(({ head }) => head.words[0]));
  const closed = CLASSES.flatMap(({ members, seenMin, used: more = [] }) => {
    const others = more.flatMap(memberOf).filter(({ head }) => used.has(head.split(' ')[0]));
    const own = [...members.flatMap(memberOf), ...others];
    return enough(own, seenMin) ? own : [];
  });
  const reads = readMembers();
  // Reading is one effect; of which programs, what was seen says.
  const open = enough([...reads.values()].flat(), READS_SEEN_MIN);
  const lead = gitLead(tally);
  const read = [...reads]
    .filter(([program]) => open && used.has(program))
    .flatMap(([, members]) => members)
    .map((one) => (lead !== '' && one.head.startsWith('git ') ? { ...one, lead } : one));
  const seen = open ? seenReading(tally) : [];
  return [...seen, ...closed, ...read, ...fetching(tally, minFrequency, used)];
}

/** An agent that reads with many programs may also read with one that was seen once. */
function seenReading({ heads }: Tally): readonly Member[] {
  return [...heads.values()].flatMap(({ head, text }) => {
    const { kind, narrow, unseen, words } = head;
    const reveals = words.some((_, at) => REVEALING.has(words.slice(0, at + 1).join(' ')));
    const fine = kind === 'read' && !narrow && !unseen && !reveals;
    return fine ? [{ head: text, fixed: [], open: true }] : [];
  });
}

/** Of this machine only, which the engine sees to: no other host is listed. */
function fetching(
  { needs }: Tally,
  minFrequency: number,
  used: ReadonlySet<string | undefined>,
): readonly Member[] {
  const own = [...needs].filter(([need]) => need.startsWith('network\0'));
  const seen = own.reduce((sum, [, count]) => sum + count, 0);
  return seen >= minFrequency && used.has('curl') ? memberOf('curl') : [];
}

/** An agent that calls git with these options does so for every subcommand. */
function gitLead({ heads }: Tally): string {
  const words = [...heads.values()].map(({ head }) => head.words).filter(([git]) => git === 'git');
  const pager = words.some(([, first]) => first === '--no-pager');
  const elsewhere = words.some((own) => own.includes('-C'));
  return [pager ? '[--no-pager]' : '', elsewhere ? '[-C <path>]' : ''].filter(Boolean).join(' ');
}

function readMembers(): ReadonlyMap<string, readonly Member[]> {
  return new Map(
    Object.entries(READS).map(([program, words]) => {
      const texts = words.map((word) =>
        word.startsWith('=') ? `=${program} ${word.slice(1)}` : `${program} ${word}`,
      );
      return [program, texts.flatMap(memberOf)];
    }),
  );
}

function countOf({ head, fixed, open }: Member, { heads }: Tally): number {
  let total = 0;
  for (const [{ tail }, { count }] of heads.get(head)?.shapes ?? []) {
    if (!open && tail.length !== fixed.length) continue;
    if (fixed.every((word, at) => word === '*' || tail[at] === word)) total += count;
  }
  return total;
}

/** None for what has no profile: `*` behind it would only ask. */
function memberOf(text: string): readonly Member[] {
  const words = text.replace(/^=/, '').split(' ');
  // The command behind `xargs` is a line of its own.
  const [, ...started] = words;
  if (words[0] === 'xargs') {
    return readCall(started.map(literal)) === undefined
      ? []
      : [{ head: text, fixed: [], open: true }];
  }
  const exact = text.startsWith('=');
  const call = readCall(words.map(literal));
  if (call === undefined) return [];
  // The name of a script, written out, is as good as `run` in front of it.
  const fine = call.parts.every(
    ({ effect, role }) => effect === undefined || (exact && role === 'script'),
  );
  if (!fine) return [];
  const end = Math.max(0, call.inner ?? 0, ...call.subcommands) + 1;
  return [{ head: words.slice(0, end).join(' '), fixed: words.slice(end), open: !exact }];
}

function literal(value: string): Arg {
  return value === '*'
    ? { kind: 'unknown', prefix: 'x', one: true, source: value, span: undefined }
    : wordArg(value);
}
