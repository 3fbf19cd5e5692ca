// The output in an answer of `cuff_shell`: stdout, then stderr behind a heading, together never
// more than asked for. Where something is left out a line in brackets stands in its place, with the
// exact call that shows it.

import type { AgentShell } from '../agent/agent-shell.ts';
import type { NewsReader } from '../agent/report-news.ts';
import { readPage, streamHead } from '../agent/report-pages.ts';
import { cleanView } from '../agent/sanitized-view.ts';
import type { Capture } from '../shell.ts';
import { describeBinary } from '../text/binary.ts';
import type { StreamTotals } from '../types.ts';
import { callText, counted, joined, linesText, type Ranges } from './native-words.ts';

export type Channel = 'stdout' | 'stderr';
export type Kind = 'tail' | 'head' | 'middle' | 'none';

export type Body = {
  readonly text: string;
  readonly ranges: Ranges;
  /** How far the raw streams went when they were looked at. */
  readonly until?: Readonly<Record<Channel, number>>;
};

type Shown = {
  readonly text: string;
  /** Of the output in it, without what stands in place of the rest. */
  readonly bytes: number;
  /** Undefined when it is all. */
  readonly range: string | undefined;
  readonly until: number;
};

type Part = {
  readonly shell: AgentShell;
  readonly id: string;
  readonly channel: Channel;
  readonly bytesMax: number;
};

const NOTHING: Shown = { text: '', bytes: 0, range: undefined, until: 0 };

/** What a run has printed, of which nothing was told before. */
export function bodyOf(
  shell: AgentShell,
  id: string,
  kind: Kind,
  bytesMax: number,
  totals: { readonly stdout: StreamTotals; readonly stderr: StreamTotals },
): Body {
  if (kind === 'none') {
    const range = (channel: Channel): string | undefined =>
      totals[channel].bytes === 0 ? undefined : 'not shown';
    return { text: '', ranges: { stdout: range('stdout'), stderr: range('stderr') } };
  }
  return bothStreams(totals, bytesMax, (channel, most) =>
    shownStream({ shell, id, channel, bytesMax: most }, kind),
  );
}

/** What is new since the caller last heard of it. */
export function newsBody(
  shell: AgentShell,
  id: string,
  news: NewsReader,
  bytesMax: number,
  totals: { readonly stdout: StreamTotals; readonly stderr: StreamTotals },
): Body {
  const left = (channel: Channel): StreamTotals => ({
    ...totals[channel],
    bytes: totals[channel].bytes - news.until(channel),
  });
  const fresh = { stdout: left('stdout'), stderr: left('stderr') };
  return bothStreams(fresh, bytesMax, (channel, most) =>
    newStream({ shell, id, channel, bytesMax: most }, news),
  );
}

/** Each stream gets half at least, and what the other one leaves. */
function bothStreams(
  totals: { readonly stdout: StreamTotals; readonly stderr: StreamTotals },
  bytesMax: number,
  show: (channel: Channel, bytesMax: number) => Shown,
): Body {
  // Bytes that are no characters take three in UTF-8.
  const forStdout = Math.min(Math.ceil(bytesMax / 2), totals.stdout.bytes * 3);
  const stderr = totals.stderr.bytes > 0 ? show('stderr', bytesMax - forStdout) : NOTHING;
  const stdout = totals.stdout.bytes > 0 ? show('stdout', bytesMax - stderr.bytes) : NOTHING;
  const heading = totals.stderr.bytes > 0 ? '[stderr]' : '';
  const text = joined([stdout.text, heading, stderr.text]);
  const until = { stdout: stdout.until, stderr: stderr.until };
  return { text, ranges: { stdout: stdout.range, stderr: stderr.range }, until };
}

function shownStream(part: Part, kind: Kind): Shown {
  if (kind === 'head') return headOf(part);
  if (kind === 'tail') return tailOf(part);
  const all = headOf(part);
  return all.range === undefined ? all : endsOf(part);
}

function headOf({ shell, id, channel, bytesMax }: Part): Shown {
  const page = readPage(shell.open(id), { channel, bytesMax });
  if (page.binary) return binaryOf(shell, id, channel, page.totals.bytes);
  const bytes = Buffer.byteLength(page.text);
  const until = page.totals.bytes;
  if (page.next === undefined) return { text: page.text, bytes, range: undefined, until };
  const { byte, line, inLine } = page.next;
  const behind = linesText(inLine ? line + 1 : line, page.totals.lines);
  const last = line >= page.totals.lines;
  const rest = inLine ? `the rest of line ${line}${last ? '' : ` and ${behind}`}` : behind;
  const from = inLine ? { from_byte: byte } : { from_line: line };
  const text = joined([page.text, hidden(rest, id, channel, from)]);
  return { text, bytes, range: rangeText(inLine, 1, page.lastLine, bytes), until };
}

function tailOf({ shell, id, channel, bytesMax }: Part): Shown {
  const view = cleanView(shell, id, { kind: 'tail', channel, bytesMax, cr: 'overwrite' });
  if (view.binary) return binaryOf(shell, id, channel, view.totals.bytes);
  const { bytes } = view.shown;
  const until = view.totals.bytes;
  if (view.cut === 'none') return { text: view.text, bytes, range: undefined, until };
  const { firstLine, lastLine, partialLine } = view;
  const before = firstLine === 1 ? '' : `${linesText(1, firstLine - 1)} and `;
  const rest = partialLine
    ? `${before}the start of line ${firstLine}`
    : linesText(1, firstLine - 1);
  const from = firstLine === 1 ? { from_byte: 0 } : { from_line: 1 };
  const text = joined([hidden(rest, id, channel, from), view.text]);
  return { text, bytes, range: rangeText(partialLine, firstLine, lastLine, bytes), until };
}

function endsOf({ shell, id, channel, bytesMax }: Part): Shown {
  const capture = shell.open(id);
  const first = readPage(capture, { channel, bytesMax: Math.floor(bytesMax / 2) });
  const bytes = Buffer.byteLength(first.text);
  const options = { kind: 'tail', channel, bytesMax: bytesMax - bytes, cr: 'overwrite' } as const;
  const last = cleanView(shell, id, options);
  const { next } = first;
  const until = last.totals.bytes;
  if (next === undefined) return { text: first.text, bytes, range: undefined, until };
  if (first.binary || last.binary) return binaryOf(shell, id, channel, first.totals.bytes);
  const whole = !next.inLine && !last.partialLine;
  const rest = whole ? linesText(next.line, last.firstLine - 1) : 'the middle';
  const from = next.inLine ? { from_byte: next.byte } : { from_line: next.line };
  const all = bytes + last.shown.bytes;
  const ends = `${linesText(1, first.lastLine)} and ${linesText(last.firstLine, last.lastLine)}`;
  return {
    text: joined([first.text, hidden(rest, id, channel, from), last.text]),
    bytes: all,
    until,
    range: whole
      ? `shown ${ends} (${counted(all, 'byte')})`
      : `shown ${counted(all, 'byte')} of both ends`,
  };
}

function newStream({ shell, id, channel, bytesMax }: Part, reader: NewsReader): Shown {
  const news = reader.take(shell.open(id), channel, bytesMax);
  if (news.binary) return binaryOf(shell, id, channel, news.totals.bytes);
  const bytes = Buffer.byteLength(news.text);
  const until = news.totals.bytes;
  if (news.hidden === undefined) return { text: news.text, bytes, range: undefined, until };
  const { firstLine, lastLine } = news.hidden;
  const marker = hidden(`new ${linesText(firstLine, lastLine)}`, id, channel, {
    from_line: firstLine,
  });
  return { text: joined([marker, news.text]), bytes, range: undefined, until };
}

function hidden(
  what: string,
  id: string,
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

function binaryOf(shell: AgentShell, id: string, channel: Channel, totalBytes: number): Shown {
  const text = binaryLine(shell.open(id), channel, totalBytes);
  return { text, bytes: 0, range: undefined, until: totalBytes };
}

export function binaryLine(capture: Capture, channel: Channel, totalBytes: number): string {
  return describeBinary({ head: streamHead(capture, channel, HEAD_BYTES), totalBytes });
}
