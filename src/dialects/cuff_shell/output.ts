// The output in an answer of `cuff_shell`: stdout, then stderr behind a heading, together never
// more than asked for. Where something is left out a line in brackets stands in its place, with the
// exact call that shows it.

import type { NewsReader } from '../../agent/report-news.ts';
import type { Channel } from '../../shell/output/lines.ts';
import { OutputReader } from '../../shell/output/reader.ts';
import type { Capture } from '../../shell/shell.ts';
import { describeBinary } from '../../text/binary.ts';
import { counted } from '../../text/plural.ts';
import type { StreamTotals } from '../../types.ts';
import { callText, joined, linesText, type Ranges } from './words.ts';

export type Kind = 'tail' | 'head' | 'middle' | 'none';

export type Body = {
  readonly text: string;
  readonly ranges: Ranges;
  /** Of the raw streams when they were looked at: they may have grown since the report. */
  readonly totals?: Totals;
};

type Totals = Readonly<Record<Channel, StreamTotals>>;

type StreamText = {
  readonly text: string;
  /** Of the output in it, without what stands in place of the rest. */
  readonly bytes: number;
  /** Undefined when it is all. */
  readonly range: string | undefined;
  /** Of the stream it is from. */
  readonly totals: StreamTotals;
};

type Part = {
  readonly capture: Capture;
  readonly channel: Channel;
  readonly bytesMax: number;
};

/** A capture that is opened only where there is output to show: most commands print nothing. */
type Openable = { open(): Capture };

/** What a run has printed, of which nothing was told before. */
export function bodyOf(of: Openable, kind: Kind, bytesMax: number, totals: Totals): Body {
  if (kind === 'none') {
    const range = (channel: Channel): string | undefined =>
      totals[channel].bytes === 0 ? undefined : 'not shown';
    return { text: '', ranges: { stdout: range('stdout'), stderr: range('stderr') } };
  }
  const left = { stdout: totals.stdout.bytes, stderr: totals.stderr.bytes };
  return bothStreams(totals, left, bytesMax, (channel, most) =>
    shownStream({ capture: of.open(), channel, bytesMax: most }, kind),
  );
}

/** What is new since the caller last heard of it. */
export function newsBody(of: Openable, news: NewsReader, bytesMax: number, totals: Totals): Body {
  const left = (channel: Channel): number => totals[channel].bytes - news.until(channel);
  const fresh = { stdout: left('stdout'), stderr: left('stderr') };
  return bothStreams(totals, fresh, bytesMax, (channel, most) =>
    newStream({ capture: of.open(), channel, bytesMax: most }, news),
  );
}

/** Each stream gets half at least, and what the other one leaves; one without bytes gets none. */
function bothStreams(
  totals: Totals,
  left: Readonly<Record<Channel, number>>,
  bytesMax: number,
  show: (channel: Channel, bytesMax: number) => StreamText,
): Body {
  const shown = (channel: Channel, most: number): StreamText =>
    left[channel] > 0
      ? show(channel, most)
      : { text: '', bytes: 0, range: undefined, totals: totals[channel] };
  // Bytes that are no characters take three in UTF-8.
  const forStdout = Math.min(Math.ceil(bytesMax / 2), left.stdout * 3);
  const stderr = shown('stderr', bytesMax - forStdout);
  const stdout = shown('stdout', bytesMax - stderr.bytes);
  const heading = left.stderr > 0 ? '[stderr]' : '';
  return {
    text: joined([stdout.text, heading, stderr.text]),
    ranges: { stdout: stdout.range, stderr: stderr.range },
    totals: { stdout: stdout.totals, stderr: stderr.totals },
  };
}

function shownStream(part: Part, kind: Kind): StreamText {
  if (kind === 'head') return headOf(part);
  if (kind === 'tail') return tailOf(part);
  const all = headOf(part);
  return all.range === undefined ? all : endsOf(part);
}

function headOf({ capture, channel, bytesMax }: Part): StreamText {
  const page = OutputReader.of(capture).page({ channel, bytesMax });
  const { totals } = page;
  if (page.binary) return binaryOf(capture, channel, totals);
  const bytes = Buffer.byteLength(page.text);
  if (page.next === undefined) return { text: page.text, bytes, range: undefined, totals };
  const { byte, line, inLine } = page.next;
  const behind = linesText(inLine ? line + 1 : line, totals.lines);
  const last = line >= totals.lines;
  const rest = inLine ? `the rest of line ${line}${last ? '' : ` and ${behind}`}` : behind;
  const from = inLine ? { from_byte: byte } : { from_line: line };
  const text = joined([page.text, hidden(rest, capture, channel, from)]);
  return { text, bytes, range: rangeText(inLine, 1, page.lastLine, bytes), totals };
}

function tailOf({ capture, channel, bytesMax }: Part): StreamText {
  const output = OutputReader.of(capture);
  const view = output.view({ kind: 'tail', channel, bytesMax, cr: 'overwrite' });
  const { totals } = view;
  if (view.binary) return binaryOf(capture, channel, totals);
  const { bytes } = view.shown;
  if (view.cut === 'none') return { text: view.text, bytes, range: undefined, totals };
  const { firstLine, lastLine, partialLine } = view;
  const before = firstLine === 1 ? '' : `${linesText(1, firstLine - 1)} and `;
  const rest = partialLine
    ? `${before}the start of line ${firstLine}`
    : linesText(1, firstLine - 1);
  const from = firstLine === 1 ? { from_byte: 0 } : { from_line: 1 };
  const text = joined([hidden(rest, capture, channel, from), view.text]);
  return { text, bytes, range: rangeText(partialLine, firstLine, lastLine, bytes), totals };
}

function endsOf({ capture, channel, bytesMax }: Part): StreamText {
  const output = OutputReader.of(capture);
  const first = output.page({ channel, bytesMax: Math.floor(bytesMax / 2) });
  const bytes = Buffer.byteLength(first.text);
  const options = { kind: 'tail', channel, bytesMax: bytesMax - bytes, cr: 'overwrite' } as const;
  const last = output.view(options);
  const { next } = first;
  const { totals } = last;
  if (next === undefined) {
    return { text: first.text, bytes, range: undefined, totals: first.totals };
  }
  if (first.binary || last.binary) return binaryOf(capture, channel, totals);
  const whole = !next.inLine && !last.partialLine;
  const rest = whole ? linesText(next.line, last.firstLine - 1) : 'the middle';
  const from = next.inLine ? { from_byte: next.byte } : { from_line: next.line };
  const all = bytes + last.shown.bytes;
  const ends = `${linesText(1, first.lastLine)} and ${linesText(last.firstLine, last.lastLine)}`;
  return {
    text: joined([first.text, hidden(rest, capture, channel, from), last.text]),
    bytes: all,
    totals,
    range: whole
      ? `shown ${ends} (${counted(all, 'byte')})`
      : `shown ${counted(all, 'byte')} of both ends`,
  };
}

function newStream({ capture, channel, bytesMax }: Part, reader: NewsReader): StreamText {
  const news = reader.take(capture, channel, bytesMax);
  const { totals } = news;
  if (news.binary) return binaryOf(capture, channel, totals);
  const bytes = Buffer.byteLength(news.text);
  if (news.hidden === undefined) return { text: news.text, bytes, range: undefined, totals };
  const { firstLine, lastLine } = news.hidden;
  const from = { from_line: firstLine };
  const marker = hidden(`new ${linesText(firstLine, lastLine)}`, capture, channel, from);
  return { text: joined([marker, news.text]), bytes, range: undefined, totals };
}

function hidden(
  what: string,
  { id }: Capture,
  channel: Channel,
  from: Readonly<Record<string, number>>,
): string {
  const args = channel === 'stderr' ? { ...from, stream: channel } : from;
  return `[${what} not shown: ${callText('shell_read', id, args)}]`;
}

function rangeText(partial: boolean, first: number, last: number, bytes: number): string {
  if (bytes === 0) return 'nothing shown';
  const what = partial ? `a part of ${linesText(first, last)}` : linesText(first, last);
  return `shown ${what} (${counted(bytes, 'byte')})`;
}

const HEAD_BYTES = 264; // tells every kind

function binaryOf(capture: Capture, channel: Channel, totals: StreamTotals): StreamText {
  const text = binaryLine(capture, channel, totals.bytes);
  return { text, bytes: 0, range: undefined, totals };
}

export function binaryLine(capture: Capture, channel: Channel, totalBytes: number): string {
  const head = OutputReader.of(capture).head(channel, HEAD_BYTES);
  return describeBinary({ head, totalBytes });
}
