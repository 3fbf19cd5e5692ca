// `cuff record review`: what agents did that deserves a look, on one screen: the most serious
// first, each with its date and the way to where it stands. It writes nothing.

import { resolve } from 'node:path';
import { AppError } from '../../errors.ts';
import { homeOf } from '../../places.ts';
import { REVIEW_KINDS } from '../../recordings/commands.ts';
import type { FailingCommand, Finding, Review, ReviewGroup } from '../../recordings/review.ts';
import { reviewJournal, reviewTranscripts } from '../../recordings/review-sources.ts';
import { TranscriptTally } from '../../recordings/transcripts/read.ts';
import { countText, dateText, isoTime, sinceText, timeText } from '../../text/dates.ts';
import { manyText } from '../../text/plural.ts';
import { printable, shortLine } from '../../text/printable.ts';
import { paint, put, putJson, terminalWidth } from '../output.ts';
import type { Flags } from './flags.ts';
import { agentsOf } from './import-from.ts';
import { Progress } from './progress.ts';
import { tallyJson, unreadLines } from './transcript-words.ts';
import { damagedLines as damagedText } from './words.ts';

type Kind = (typeof REVIEW_KINDS)[number];

const TITLES: { readonly [kind in Kind]: string } = {
  dangerous: 'Could have emptied or overwritten a disk',
  secret: 'Read secrets, or files that usually hold some',
  'remote-code': 'Ran code straight from the network',
  'hidden-code': 'Ran code that was decoded first',
  published: 'Pushed, published or deployed',
  sent: 'Sent data to other machines',
  deleted: 'Deleted files or uncommitted work',
  protected: "Wrote start-up files, hooks, agents' settings or system directories",
  elevated: 'Ran as another user',
  permissions: 'Changed permissions or owners',
  overwrote: 'Wrote over files outside of the project',
  failing: 'Failed often',
};

// They fit on a screen: so many kinds with findings, and so many findings of all of them.
const KINDS_SHOWN_MAX = 5;
const FINDINGS_SHOWN_MAX = 8;
const OF_A_KIND_MAX = 3;
const WIDTH = 100;

type Source = {
  readonly review: Review;
  readonly tally: TranscriptTally;
  readonly notes: string[];
};

/**
 * `--json`: {"since","commands","sessions","projects","agents":[{"agent","sessions"}],"from","to",
 * "denied","without_rules":{"deny","ask"},"findings":[{"kind","count","shown":[{"command","part",
 * "weight","count","at","agent","project","place"}]}],"failing":[{"form","runs","failed","at",
 * "place"}],"not_understood","not_understood_at","not_read"}. `--limit` holds for each kind.
 */
export async function review(flags: Flags): Promise<void> {
  const source = await sourceOf(flags);
  if (flags.on('--json')) return putJson(reviewJson(source, flags));
  const only = REVIEW_KINDS.find((kind) => kind === flags.text('--only'));
  const lines = only === undefined ? screen(source, flags) : listing(source.review, only, flags);
  await put(`${lines.join('\n')}\n`);
}

async function sourceOf(flags: Flags): Promise<Source> {
  const since = flags.since();
  const home = homeOf(process.env);
  const progress = new Progress('commands read');
  const step = (): void => progress.step();
  try {
    if (flags.on('--from')) {
      const given = flags.text('--project');
      const project = given === undefined ? undefined : resolve(given);
      const query = { agents: agentsOf(flags), env: process.env, home, since, project, step };
      const { review, tally } = reviewTranscripts(query);
      return { review, tally, notes: [...unreadLines(tally), ...unknownLine(tally)] };
    }
    if (flags.on('--project')) throw new AppError('usage', "Option '--project' needs --from");
    const { directory } = await flags.journal();
    const { review, damagedLines } = reviewJournal({ directory, home, since, step });
    const notes = damagedLines > 0 ? [damagedText(damagedLines)] : [];
    return { review, tally: new TranscriptTally(), notes };
  } finally {
    progress.end();
  }
}

function unknownLine({ unknown, unknownAt: [first] }: TranscriptTally): readonly string[] {
  if (first === undefined) return [];
  const where = `${printable(first.path)}:${first.line}`;
  return [`Not understood: ${manyText(unknown, 'line')}, the first is ${where}`];
}

function screen({ review, notes }: Source, flags: Flags): readonly string[] {
  const period = sinceText(flags.text('--since'));
  const from = flags.text('--from');
  if (review.commands === 0) return [nothing(period, from), ...notes];
  return [
    head(review),
    '',
    ...groupsText(review),
    ...(notes.length === 0 ? [] : [...notes, '']),
    ...footer(review, flags),
  ];
}

function nothing(period: string, from: string | undefined): string {
  if (from === undefined) {
    const other = "Agents' own transcripts: cuff record review --from all";
    return `No commands in the journal (${period}). ${other}`;
  }
  const whose = from === 'all' ? 'any agent' : from;
  return `No commands found in transcripts of ${whose} (${period}).`;
}

function head({ commands, sessions, agents, projects, from, to }: Review): string {
  const who = agents.map((one) => `${printable(one.agent)} ${countText(one.sessions)}`).join(', ');
  const dates = from === null || to === null ? '' : `, ${dateText(from)} to ${dateText(to)}`;
  const what = `${manyText(commands, 'command')} of ${manyText(sessions, 'session')} (${who})`;
  return paint('bold', `${what} in ${manyText(projects, 'project')}${dates}`);
}

function groupsText({ groups, failing }: Review): readonly string[] {
  if (groups.length === 0 && failing.length === 0) {
    return ['Nothing in them deserves a look by the built-in rules.', ''];
  }
  const shown = shares(groups.slice(0, KINDS_SHOWN_MAX).map(({ findings }) => findings.length));
  const counted = groups.slice(KINDS_SHOWN_MAX).flatMap((group) => groupText(group, 0));
  const blocks = [
    ...groups.slice(0, KINDS_SHOWN_MAX).map((group, at) => groupText(group, shown[at] ?? 0)),
    counted,
    failingText(failing, 1),
  ];
  return blocks.filter((lines) => lines.length > 0).flatMap((lines) => [...lines, '']);
}

/** One of each kind, then more of the most serious ones. */
function shares(counts: readonly number[]): readonly number[] {
  const shares = counts.map((count) => Math.min(1, count));
  let left = FINDINGS_SHOWN_MAX - shares.length;
  for (let round = 2; round <= OF_A_KIND_MAX; round += 1) {
    for (const [at, count] of counts.entries()) {
      if (left <= 0 || count < round) continue;
      shares[at] = round;
      left -= 1;
    }
  }
  return shares;
}

function groupText({ kind, count, findings }: ReviewGroup, shown: number): readonly string[] {
  const more = findings.length - shown;
  const many = shown === 0 ? '' : `${countText(more)} more: `;
  const rest = more > 0 ? paint('dim', `  ${many}--only ${kind}`) : '';
  return [
    `${paint('bold', `${TITLES[kind]}: ${countText(count)}`)}${rest}`,
    ...findings.slice(0, shown).flatMap(findingText),
  ];
}

function findingText(finding: Finding): readonly string[] {
  const { count, at, agent, project, place } = finding;
  const width = terminalWidth().width ?? WIDTH;
  const times = count > 1 ? ` (${countText(count)} times)` : '';
  const where = project === null ? 'unknown project' : home(project);
  const facts = [timeText(at).slice(0, 16), agent, where, home(place)].map(printable);
  return [
    `  ${fitting(finding, Math.max(20, width - 4 - times.length))}${times}`,
    paint('dim', `    ${facts.join('  ')}`),
  ];
}

/** The command, or of a long one the part that it is listed for. */
function fitting({ command, part }: Finding, lengthMax: number): string {
  const line = shortLine(command, lengthMax);
  return line.endsWith('…') ? shortLine(`… ${part}`, lengthMax) : line;
}

function failingText(failing: readonly FailingCommand[], shown: number): readonly string[] {
  if (failing.length === 0) return [];
  const width = terminalWidth().width ?? WIDTH;
  const more = failing.length - shown;
  const rest = more > 0 ? paint('dim', `  ${countText(more)} more: --only failing`) : '';
  const rows = failing
    .slice(0, shown)
    .flatMap(({ form, runs, failed, at, place }) => [
      `  ${shortLine(form, Math.max(20, width - 30))}  ${countText(failed)} of ${countText(runs)}`,
      paint('dim', `    ${[timeText(at).slice(0, 16), home(place)].map(printable).join('  ')}`),
    ]);
  return [`${paint('bold', `${TITLES.failing}: ${countText(failing.length)}`)}${rest}`, ...rows];
}

/** As a person writes it. */
function home(path: string): string {
  const own = homeOf(process.env);
  return path === own || path.startsWith(`${own}/`) ? `~${path.slice(own.length)}` : path;
}

function* footer({ verdicts, denied }: Review, flags: Flags): Generator<string> {
  const { deny, ask } = verdicts;
  const said = `refuses ${countText(deny)} of these and asks about ${countText(ask)}`;
  yield `A policy without a single rule ${said}.`;
  if (denied > 0) yield `The agents' own rules or users refused ${countText(denied)} more.`;
  const from = flags.text('--from');
  const since = `--since ${flags.text('--since')}`;
  if (from === undefined) {
    yield `Rules made from them: cuff record generate ${since}; a first policy: cuff policy init`;
    return;
  }
  const all = flags.on('--project') ? ` --project ${flags.text('--project')}` : ' --all-projects';
  const take = `cuff record import --from ${from} ${since}`;
  yield `Keep them, for agents delete them: ${take}${printable(all)}`;
  yield 'A first policy for a project, in its directory: cuff policy init --from-history';
  yield `Rules from what ran there: ${take}; cuff record generate`;
}

/** Every finding of one kind. */
function listing(review: Review, only: Kind, flags: Flags): readonly string[] {
  const limit = flags.count('--limit');
  if (only === 'failing') {
    const lines = failingText(review.failing, Math.min(limit, review.failing.length));
    return lines.length === 0 ? [`${TITLES.failing}: none`] : lines;
  }
  const group = review.groups.find(({ kind }) => kind === only);
  if (group === undefined) return [`${TITLES[only]}: none`];
  const shown = Math.min(limit, group.findings.length);
  const more = group.findings.length - shown;
  const head = paint('bold', `${TITLES[only]}: ${countText(group.count)}`);
  const rest = more > 0 ? [`${countText(more)} more: --limit ${group.findings.length}`] : [];
  return [head, ...group.findings.slice(0, shown).flatMap(findingText), ...rest];
}

function reviewJson({ review, tally }: Source, flags: Flags) {
  const { groups, failing, verdicts, from, to, ...counts } = review;
  const limit = flags.count('--limit');
  return {
    since: flags.text('--since'),
    ...counts,
    from: from === null ? null : isoTime(from),
    to: to === null ? null : isoTime(to),
    without_rules: verdicts,
    findings: groups.map(({ kind, count, findings }) => ({
      kind,
      count,
      shown: findings.slice(0, limit).map(({ at, ...rest }) => ({ ...rest, at: isoTime(at) })),
    })),
    failing: failing.slice(0, limit).map(({ at, ...rest }) => ({ ...rest, at: isoTime(at) })),
    ...tallyJson(tally),
  };
}
