// Reading and finding in `cuff_shell`: any part of the output of any run of the conversation, and
// lines in all of them. What an answer leaves out is named with the call that shows it.

import type { Caller } from '../../agent/caller.ts';
import { type Match, searchOutputs } from '../../agent/search.ts';
import { type Matcher, matcherOf } from '../../agent/search-match.ts';
import type { ToolResult } from '../../host/plugin.ts';
import type { Channel } from '../../shell/output/lines.ts';
import { OutputReader } from '../../shell/output/reader.ts';
import { HEX_LINE_LENGTH, hexText } from '../../text/hex.ts';
import { missingText, unknownText } from '../../text/missing.ts';
import { counted } from '../../text/plural.ts';
import type { StreamTotals } from '../../types.ts';
import { type Args, ArgumentError, numberOf, textOf } from '../arguments.ts';
import { matchLines, outputOf, type Room, searchText } from './found.ts';
import { type Body, binaryLine } from './output.ts';
import { allRuns, findRun, type Native, type Subject } from './runs.ts';
import { CONTEXT_DEFAULT, LIMIT_DEFAULT, LIMIT_MAX } from './tools.ts';
import { callText, joined, lines, linesText, sizeText } from './words.ts';

export async function readRun(native: Native, args: Args, caller: Caller): Promise<ToolResult> {
  const subject = findRun(native, caller, String(args.id));
  const bytesMax = numberOf(args.max_bytes) ?? native.maxBytes;
  const places = ['from_line', 'from_byte', 'tail', 'grep'].filter(
    (name) => args[name] !== undefined,
  );
  if (places.length > 1) {
    throw new ArgumentError(`Give ${places[0]} or ${places[1]}, not both.`);
  }
  const { totals, lostBytes, unread } = native.reports.of(subject.open(), subject.run);
  const end = [
    ...(lostBytes === 0 ? [] : [missingText(lostBytes)]),
    ...(unread === undefined ? unknownLines(subject) : [unread]),
  ];
  const given = textOf(args.stream) as Channel | undefined;
  const channel =
    given ?? (totals.stdout.bytes === 0 && totals.stderr.bytes > 0 ? 'stderr' : 'stdout');
  if (args.grep !== undefined) {
    return grepRun(subject, args, { channel: given, bytesMax, end }, caller);
  }
  const part = args.tail === undefined ? pageOf : tailOf;
  const { text, about } = part(subject, args, { channel, bytesMax });
  const other = channel === 'stdout' ? 'stderr' : 'stdout';
  const call = callText('shell_read', subject.id, { stream: other });
  const both = given === undefined && totals[other].bytes > 0;
  const rest = both ? [`${other} has ${sizeText(totals[other])}: ${call}`] : [];
  const empty = totals[channel].bytes === 0 ? '(no output)' : '(nothing there)';
  return {
    success: true,
    text: joined([text === '' ? empty : text, lines([about, ...rest, ...end])]),
  };
}

/** Of a run that goes on, the records may be on their way. */
function unknownLines({ open }: Subject): readonly string[] {
  const capture = open();
  const bytes = capture.outputOpen ? 0 : OutputReader.of(capture).unknownBytes();
  return bytes === 0 ? [] : [unknownText(bytes)];
}

type Place = { readonly channel: Channel; readonly bytesMax: number };

type Part = { readonly text: string; readonly about: string };

function pageOf(subject: Subject, args: Args, { channel, bytesMax }: Place): Part {
  const capture = subject.open();
  const page = OutputReader.of(capture).page({
    channel,
    fromLine: numberOf(args.from_line),
    fromByte: numberOf(args.from_byte),
    linesMax: numberOf(args.lines),
    bytesMax,
  });
  const { firstLine, lastLine, totals, next, partialLine } = page;
  const size = `of ${totals.lines}, ${counted(totals.bytes, 'byte')}`;
  if (page.binary && args.from_byte !== undefined) {
    return hexPage(subject, Number(args.from_byte), { channel, bytesMax }, totals.bytes);
  }
  if (page.binary) return binaryPart(subject, channel, totals);
  if (lastLine < firstLine && next === undefined) {
    const { from_line: line = 1, from_byte: byte } = args;
    const place = byte === undefined ? `line ${line}` : `byte ${byte}`;
    const nothing = totals.bytes === 0 ? '' : ` has no ${place}:`;
    return { text: '', about: `${channel}${nothing} ${sizeText(totals)}${running(subject)}` };
  }
  const shown = `${partialLine ? 'a part of ' : ''}${linesText(firstLine, lastLine)}`;
  const { lines: linesMax, max_bytes, stream } = args;
  const same = { lines: linesMax, max_bytes, stream };
  const from = next?.inLine === true ? { from_byte: next.byte } : { from_line: next?.line };
  const more =
    next === undefined
      ? running(subject)
      : `; next: ${callText('shell_read', subject.id, { ...from, ...same })}`;
  return { text: page.text, about: `${channel} ${shown} ${size}${more}` };
}

function binaryPart(subject: Subject, channel: Channel, totals: StreamTotals): Part {
  const call = callText('shell_read', subject.id, { from_byte: 0, stream: channel });
  const text = binaryLine(subject.open(), channel, totals.bytes);
  return { text, about: `${channel} ${sizeText(totals)}; as hex: ${call}` };
}

const HEX_BYTES_MAX = 4_096;

function hexPage(
  subject: Subject,
  from: number,
  { channel, bytesMax }: Place,
  totalBytes: number,
): Part {
  const most = Math.min(HEX_BYTES_MAX, Math.max(1, Math.floor(bytesMax / HEX_LINE_LENGTH)) * 16);
  const bytes = OutputReader.of(subject.open()).bytes(channel, from, from + most);
  const end = from + bytes.length;
  const call = callText('shell_read', subject.id, { from_byte: end, stream: channel });
  const more = end < totalBytes ? `; next: ${call}` : running(subject);
  const shown = bytes.length === 0 ? `no byte ${from}` : `bytes ${from}-${end - 1}`;
  return { text: hexText(bytes, from), about: `${channel} ${shown} of ${totalBytes}${more}` };
}

function tailOf(subject: Subject, args: Args, { channel, bytesMax }: Place): Part {
  const linesMax = numberOf(args.tail);
  const options = { kind: 'tail', channel, linesMax, bytesMax, cr: 'overwrite' } as const;
  const capture = subject.open();
  const view = OutputReader.of(capture).view(options);
  const { firstLine, lastLine, totals, partialLine } = view;
  if (view.binary) return binaryPart(subject, channel, totals);
  const what = `${partialLine ? 'a part of ' : ''}${linesText(firstLine, lastLine)}`;
  const shown = lastLine < firstLine ? 'nothing' : what;
  const size = `of ${totals.lines}, ${counted(totals.bytes, 'byte')}`;
  return { text: view.text, about: `${channel} ${shown} ${size}${running(subject)}` };
}

/** More may come. */
function running({ open }: Subject): string {
  return open().outputOpen ? ' so far' : '';
}

type Search = {
  readonly channel: Channel | undefined;
  readonly bytesMax: number;
  /** Lines behind the others. */
  readonly end: readonly string[];
};

async function grepRun(
  subject: Subject,
  args: Args,
  { channel, bytesMax, end }: Search,
  caller: Caller,
): Promise<ToolResult> {
  const text = String(args.grep);
  const { shown, count } = await matchesIn(subject, caller, {
    matcher: matcherOf({ text, regex: args.regex === true, ignoreCase: false }),
    limit: numberOf(args.lines) ?? LIMIT_MAX,
    channel,
    bytesMax,
  });
  return { success: true, text: joined([shown, lines([count, ...end])]) };
}

/** The same in the answer to the command itself, with the call that shows the rest. */
export async function grepBody(
  subject: Subject,
  matcher: Matcher,
  bytesMax: number,
  caller: Caller,
): Promise<{ readonly instead: () => Body; readonly first: readonly string[] }> {
  const request = { matcher, limit: LIMIT_MAX, channel: undefined, bytesMax };
  const { shown, count } = await matchesIn(subject, caller, request);
  const call = callText('shell_read', subject.id);
  const text = shown === '' ? '(no matching line)' : shown;
  return { instead: () => ({ text }), first: [`${count}; all lines: ${call}`] };
}

type MatchRequest = {
  readonly matcher: Matcher;
  readonly limit: number;
  readonly channel: Channel | undefined;
  readonly bytesMax: number;
};

async function matchesIn(
  subject: Subject,
  { signal }: Caller,
  { matcher, limit, channel, bytesMax }: MatchRequest,
): Promise<{ readonly shown: string; readonly count: string }> {
  const channels = channel === undefined ? undefined : [channel];
  const options = { matcher, limit, context: 0, channels, signal };
  const outputOf = ({ open }: Subject): OutputReader => OutputReader.of(open());
  const { found, stopped } = await searchOutputs([subject], outputOf, options);
  const matches: readonly Match[] = found[0]?.matches ?? [];
  const room: Room = { left: bytesMax };
  const { text, shown } = matchLines(matches, room);
  const atLeast = stopped === undefined ? '' : 'at least ';
  const cut = shown < matches.length ? `, ${shown} shown` : '';
  return { shown: text, count: `${atLeast}${counted(matches.length, 'matching line')}${cut}` };
}

export async function searchRuns(native: Native, args: Args, caller: Caller): Promise<ToolResult> {
  const text = String(args.pattern);
  if (text === '') throw new ArgumentError('pattern is empty: give the text to find.');
  const { regex, ignore_case: ignoreCase } = args;
  const matcher = matcherOf({ text, regex: regex === true, ignoreCase: ignoreCase === true });
  const id = textOf(args.id);
  const runs = id === undefined ? allRuns(native, caller) : [findRun(native, caller, id)];
  const options = {
    matcher,
    limit: numberOf(args.limit) ?? LIMIT_DEFAULT,
    context: numberOf(args.context) ?? CONTEXT_DEFAULT,
    signal: caller.signal,
  };
  const result = await searchOutputs(runs, (run) => outputOf(native, run), options);
  return { success: true, text: searchText(native, result, runs.length) };
}
