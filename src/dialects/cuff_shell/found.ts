// Lists in `cuff_shell`: runs, and the lines that were found in them.

import type { Caller } from '../../agent/caller.ts';
import type { Line, Match, SearchResult } from '../../agent/search.ts';
import type { ToolResult } from '../../host/plugin.ts';
import { OutputReader } from '../../shell/output/reader.ts';
import { counted } from '../../text/plural.ts';
import { keepRecent } from '../../text/recent.ts';
import type { Args } from '../arguments.ts';
import { allRuns, type Native, nameOf, opened, type Subject } from './runs.ts';
import { LIST_MAX } from './tools.ts';
import { durationText, howEnded, joined, lines, oneLine, processList } from './words.ts';

const LINE_SHOWN_MAX = 300; // characters of a line that was found; shell_read shows all of it
const LAST_LINE_BYTES = 200;
const KEPT_MAX = 1_000; // runs that are over and were listed or searched

/** What an answer may still have, in bytes. */
export type Room = { left: number };

/** `12: text` for matches and `11- text` around them; lines of stderr say so. */
export function matchLines(
  matches: readonly Match[],
  room: Room,
): { readonly text: string; readonly shown: number } {
  const texts: string[] = [];
  let [shown, lastLine] = [0, 0];
  for (const match of matches) {
    const { channel, before, after } = match;
    const own = [...before.map(around(channel)), hit(match), ...after.map(around(channel))];
    const first = before[0]?.number ?? match.number;
    const apart = before.length + after.length > 0 && lastLine > 0 && first !== lastLine + 1;
    const text = `${apart ? '--\n' : ''}${own.join('\n')}\n`;
    room.left -= Buffer.byteLength(text);
    if (room.left < 0) break;
    texts.push(text);
    shown += 1;
    lastLine = after.at(-1)?.number ?? match.number;
  }
  return { text: texts.join(''), shown };
}

function hit({ channel, number, text }: Match): string {
  return `${prefix(channel)}${number}: ${shortened(text)}`;
}

function around(channel: Match['channel']): (line: Line) => string {
  return ({ number, text }) => `${prefix(channel)}${number}- ${shortened(text)}`;
}

function prefix(channel: Match['channel']): string {
  return channel === 'stderr' ? 'stderr ' : '';
}

function shortened(text: string): string {
  const characters = [...text.slice(0, LINE_SHOWN_MAX * 2)];
  if (characters.length <= LINE_SHOWN_MAX) return text;
  return `${characters.slice(0, LINE_SHOWN_MAX).join('')}…`;
}

export function searchText(native: Native, result: SearchResult<Subject>, runs: number): string {
  const room: Room = { left: native.maxBytes };
  const parts: string[] = [];
  let [shown, all] = [0, 0];
  for (const { source, matches } of result.found) {
    all += matches.length;
    const heading = `${headingOf(native, source)}\n`;
    room.left -= Buffer.byteLength(heading);
    if (room.left < 0) continue;
    const found = matchLines(matches, room);
    shown += found.shown;
    parts.push(heading + found.text);
  }
  const many = counted(all, 'match', 'matches');
  const more = shown < all ? `, ${shown} shown` : '';
  const why = result.stopped === 'limit' ? 'the limit was reached' : 'the time was over';
  const stop = result.stopped === undefined ? '' : `; stopped because ${why}`;
  const searched = `${result.searched} of ${counted(runs, 'run')} searched`;
  return joined([...parts, lines([`${many}${more}; ${searched}${stop}`])]);
}

/** `1a2b3c4d exit 0, 2m ago: npm test` */
function headingOf(native: Native, subject: Subject, state = stateOf(native, subject)): string {
  const age = durationText(native.services.now() - subject.createdAt);
  return `${nameOf(subject)} ${state}, ${age} ago: ${oneLine(subject.command)}`;
}

function stateOf({ reports }: Native, subject: Subject): string {
  const { ended, pid, unread } = reports.ending(subject.open(), subject.run);
  if (ended === undefined) return `running, pid ${pid ?? '?'}`;
  return `${howEnded(ended)}${unread === undefined ? '' : ` (${unread})`}`;
}

export function listRuns(native: Native, args: Args, caller: Caller): ToolResult {
  const texts: string[] = [];
  let more = 0;
  for (const subject of allRuns(native, caller)) {
    if (args.all !== true && isOver(native, subject)) continue;
    if (texts.length >= LIST_MAX) more += 1;
    else if (native.listed.has(subject.id) || opened(subject) !== undefined) {
      texts.push(listed(native, subject));
    }
  }
  const count = texts.length + more;
  const none = args.all === true ? 'no runs' : 'no runs are alive';
  const some = args.all === true ? counted(count, 'run') : `${counted(count, 'run')} alive`;
  const tail = more > 0 ? `, the newest ${LIST_MAX} shown` : '';
  return {
    success: true,
    text: joined([...texts, lines([`${count === 0 ? none : some}${tail}`])]),
  };
}

/** What is told of it cannot change any more. */
function isOver({ shell }: Native, { id, run }: Subject): boolean {
  return (run === undefined || run.result !== undefined) && shell.over(id);
}

/** Undefined for a run whose capture was removed meanwhile. */
export function outputOf(native: Native, subject: Subject): OutputReader | undefined {
  const known = native.outputs.get(subject.id);
  if (known !== undefined) return known;
  const capture = opened(subject);
  const output = capture && OutputReader.of(capture);
  if (output && isOver(native, subject)) {
    keepRecent(native.outputs, subject.id, output, KEPT_MAX);
  }
  return output;
}

function listed(native: Native, subject: Subject): string {
  const over = isOver(native, subject);
  const known = native.listed.get(subject.id);
  const { state, last } = known ?? {
    state: stateOf(native, subject),
    last: lastLine(subject),
  };
  if (over) keepRecent(native.listed, subject.id, { state, last }, KEPT_MAX);
  const survivors = over ? [] : native.reports.ending(subject.open(), subject.run).survivors;
  return [
    headingOf(native, subject, state),
    ...(survivors.length === 0 ? [] : [`  still alive: ${processList(survivors)}`]),
    ...(last === '' ? [] : [`  last line: ${last}`]),
  ].join('\n');
}

function lastLine({ open }: Subject): string {
  const options = {
    kind: 'tail',
    linesMax: 1,
    bytesMax: LAST_LINE_BYTES,
    cr: 'overwrite',
  } as const;
  const view = OutputReader.of(open()).view(options);
  return view.binary ? '[binary]' : oneLine(view.text);
}
