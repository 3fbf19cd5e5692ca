// The output in an answer of `cuff_shell`: stdout, then stderr behind a heading, together never
// more than asked for. Where something is left out a line in brackets stands in its place, with the
// exact call that shows it.

import type { NewsReader } from '../../agent/report-news.ts';
import { type FoldedEnds, foldedEnds } from '../../shell/output/folded.ts';
import type { Channel } from '../../shell/output/lines.ts';
import { OutputReader } from '../../shell/output/reader.ts';
import { type LineRange, type Suspects, suspectsIn } from '../../shell/output/suspects.ts';
import type { Capture } from '../../shell/shell.ts';
import { describeBinary } from '../../text/binary.ts';
import { counted } from '../../text/plural.ts';
import type { StreamTotals } from '../../types.ts';
import { callText, joined, linesText } from './words.ts';

/** `auto`: both ends, similar lines folded. `listing`: more of the start, folded only if cut. */
export type Kind = 'tail' | 'head' | 'middle' | 'none' | 'auto' | 'listing';

export type Body = {
  readonly text: string;
  /** Of the raw streams when they were looked at: they may have grown since the report. */
  readonly totals?: Totals;
};

type Totals = Readonly<Record<Channel, StreamTotals>>;

type StreamText = {
  readonly text: string;
  /** Of the output in it, without what stands in place of the rest. */
  readonly bytes: number;
  /** It is all of the stream. */
  readonly whole: boolean;
  /** Errors in what is left out are named. */
  readonly named?: boolean;
  /** Of the stream it is from. */
  readonly totals: StreamTotals;
};

type Part = {
  readonly capture: Capture;
  readonly channel: Channel;
  readonly bytesMax: number;
  /** Whether what is left out is searched for errors: something failed. */
  readonly failed: boolean;
};

/** A capture that is opened only where there is output to show: most commands print nothing. */
type Openable = { open(): Capture };

export type BodyRequest = {
  readonly bytesMax: number;
  readonly totals: Totals;
  readonly failed: boolean;
};

/** What a run has printed, of which nothing was told before. */
export function bodyOf(of: Openable, kind: Kind, { bytesMax, totals, failed }: BodyRequest): Body {
  if (kind === 'none') return { text: '' };
  const left = { stdout: totals.stdout.bytes, stderr: totals.stderr.bytes };
  return bothStreams(totals, left, bytesMax, (channel, most) =>
    shownStream({ capture: of.open(), channel, bytesMax: most, failed }, kind),
  );
}

/** What is new since the caller last heard of it. */
export function newsBody(of: Openable, news: NewsReader, request: BodyRequest): Body {
  const { bytesMax, totals, failed } = request;
  const left = (channel: Channel): number => totals[channel].bytes - news.until(channel);
  const fresh = { stdout: left('stdout'), stderr: left('stderr') };
  return bothStreams(totals, fresh, bytesMax, (channel, most) =>
    newStream({ capture: of.open(), channel, bytesMax: most, failed }, news),
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
      : { text: '', bytes: 0, whole: true, totals: totals[channel] };
  const both = (most: number): Readonly<Record<Channel, StreamText>> => {
    // Bytes that are no characters take three in UTF-8.
    const forStdout = Math.min(Math.ceil(most / 2), left.stdout * 3);
    const stderr = shown('stderr', most - forStdout);
    return { stdout: shown('stdout', most - stderr.bytes), stderr };
  };
  const all = both(bytesMax);
  // Where the errors are named the ends have less to tell.
  const named = all.stdout.named === true || all.stderr.named === true;
  const { stdout, stderr } = named ? both(Math.floor(bytesMax / 2)) : all;
  const heading = left.stderr > 0 ? '[stderr]' : '';
  return {
    text: joined([stdout.text, heading, stderr.text]),
    totals: { stdout: stdout.totals, stderr: stderr.totals },
  };
}

function shownStream(part: Part, kind: Kind): StreamText {
  if (kind === 'tail') return tailOf(part);
  const all = headOf(part);
  if (kind === 'head' || (all.whole && kind !== 'auto')) return all;
  const folded = kind === 'middle' ? undefined : foldedOf(part, kind, all);
  return folded ?? (all.whole ? all : endsOf(part));
}

const FOLDED_BYTES_MAX = 4 * 1024 * 1024; // some 200 ms; of a larger stream only the ends are read

/** Undefined where its lines cannot be shown one by one. */
function foldedOf(part: Part, kind: Kind, all: StreamText): StreamText | undefined {
  const { bytesMax, failed } = part;
  const { totals, whole } = all;
  if (totals.bytes > FOLDED_BYTES_MAX || bytesMax === 0) return undefined;
  const share = kind === 'listing' ? 3 / 4 : 1 / 2;
  // Bytes that are no characters take three in UTF-8.
  const ends = linesOf(part, totals, whole ? totals.bytes * 6 : bytesMax, share);
  if (ends === undefined || (whole && ends.bytes >= all.bytes)) return undefined;
  const { head, hidden, tail, bytes } = ends;
  if (hidden === undefined) return { text: head + tail, bytes, whole: false, totals };
  const what = linesText(hidden.firstLine, hidden.lastLine);
  const marker = failed
    ? hiddenErrors(part, hidden, { ...hidden.errors, unsearchedBytes: 0 })
    : hiddenText(what, part, { from_line: hidden.firstLine });
  const named = failed && hidden.errors.count > 0;
  return { text: joined([head, marker, tail]), bytes, whole: false, named, totals };
}

function linesOf(
  { capture, channel }: Part,
  totals: StreamTotals,
  bytesMax: number,
  share: number,
): FoldedEnds | undefined {
  let told = false;
  const folded = ({ firstLine, lastLine }: LineRange): string => {
    const call = told ? '' : `: ${callOf(capture, channel, { from_line: firstLine })}`; // once
    told = true;
    return `[${lastLine - firstLine + 1} lines like the one above${call}]`;
  };
  const headBytes = Math.floor(bytesMax * share);
  const limits = { headBytes, tailBytes: bytesMax - headBytes, folded };
  return foldedEnds(OutputReader.of(capture).lines(channel), totals.lines, limits);
}

function headOf(part: Part): StreamText {
  const { capture, channel, bytesMax } = part;
  const page = OutputReader.of(capture).page({ channel, bytesMax });
  const { totals } = page;
  if (page.binary) return binaryOf(capture, channel, totals);
  const bytes = Buffer.byteLength(page.text);
  if (page.next === undefined) return { text: page.text, bytes, whole: true, totals };
  const { byte, line, inLine } = page.next;
  const behind = linesText(inLine ? line + 1 : line, totals.lines);
  const last = line >= totals.lines;
  const rest = inLine ? `the rest of line ${line}${last ? '' : ` and ${behind}`}` : behind;
  const from = inLine ? { from_byte: byte } : { from_line: line };
  return { text: joined([page.text, hiddenText(rest, part, from)]), bytes, whole: false, totals };
}

function tailOf(part: Part): StreamText {
  const { capture, channel, bytesMax } = part;
  const output = OutputReader.of(capture);
  const view = output.view({ kind: 'tail', channel, bytesMax, cr: 'overwrite' });
  const { totals } = view;
  if (view.binary) return binaryOf(capture, channel, totals);
  const { bytes } = view.shown;
  if (view.cut === 'none') return { text: view.text, bytes, whole: true, totals };
  const { firstLine, partialLine } = view;
  const range = { firstLine: 1, lastLine: firstLine - 1 };
  const before = firstLine === 1 ? '' : `${linesText(1, firstLine - 1)} and `;
  const marker = partialLine
    ? hiddenText(
        `${before}the start of line ${firstLine}`,
        part,
        firstLine === 1 ? { from_byte: 0 } : { from_line: 1 },
      )
    : hiddenPart(part, range);
  return { text: joined([marker, view.text]), bytes, whole: false, totals };
}

function endsOf(part: Part): StreamText {
  const { capture, channel, bytesMax } = part;
  const output = OutputReader.of(capture);
  const first = output.page({ channel, bytesMax: Math.floor(bytesMax / 2) });
  const bytes = Buffer.byteLength(first.text);
  const options = { kind: 'tail', channel, bytesMax: bytesMax - bytes, cr: 'overwrite' } as const;
  const last = output.view(options);
  const { next } = first;
  const { totals } = last;
  if (next === undefined) {
    return { text: first.text, bytes, whole: true, totals: first.totals };
  }
  if (first.binary || last.binary) return binaryOf(capture, channel, totals);
  const marker =
    next.inLine || last.partialLine
      ? hiddenText(
          'the middle',
          part,
          next.inLine ? { from_byte: next.byte } : { from_line: next.line },
        )
      : hiddenPart(part, { firstLine: next.line, lastLine: last.firstLine - 1 });
  const all = bytes + last.shown.bytes;
  return { text: joined([first.text, marker, last.text]), bytes: all, whole: false, totals };
}

function newStream(part: Part, reader: NewsReader): StreamText {
  const { capture, channel, bytesMax } = part;
  const news = reader.take(capture, channel, bytesMax);
  const { totals } = news;
  if (news.binary) return binaryOf(capture, channel, totals);
  const bytes = Buffer.byteLength(news.text);
  if (news.hidden === undefined) return { text: news.text, bytes, whole: true, totals };
  const marker = hiddenPart(part, news.hidden, 'new ');
  return { text: joined([marker, news.text]), bytes, whole: false, totals };
}

/** Lines that are left out, with those of them that look like errors if something failed. */
function hiddenPart(part: Part, range: LineRange, which = ''): string {
  const { capture, channel, failed } = part;
  if (failed) return hiddenErrors(part, range, suspectsIn(capture, channel, range), which);
  const what = `${which}${linesText(range.firstLine, range.lastLine)}`;
  return hiddenText(what, part, { from_line: range.firstLine });
}

const AROUND = 5; // lines before the first error, so that its cause can be seen
const LINES_AROUND = 40;

function hiddenErrors(part: Part, range: LineRange, suspects: Suspects, which = ''): string {
  const { lines, count, unsearchedBytes } = suspects;
  const [first] = lines;
  const what = `${which}${linesText(range.firstLine, range.lastLine)}`;
  const unsearched =
    unsearchedBytes === 0
      ? ''
      : `[${counted(unsearchedBytes, 'byte')} of them were not searched for errors]`;
  if (first === undefined) {
    return joined([hiddenText(what, part, { from_line: range.firstLine }), unsearched]);
  }
  const some = lines.length < count ? `${lines.length} of ${count}` : `${count}`;
  const from = Math.max(range.firstLine, first.number - AROUND);
  const call = callOf(part.capture, part.channel, { from_line: from, lines: LINES_AROUND });
  return joined([
    `[${what} not shown, errors in them (${some}): ${call}]`,
    ...lines.map(({ number, text }) => `${number}: ${text}`),
    unsearched,
  ]);
}

function hiddenText(what: string, part: Part, from: Readonly<Record<string, number>>): string {
  return `[${what} not shown: ${callOf(part.capture, part.channel, from)}]`;
}

function callOf({ id }: Capture, channel: Channel, from: Readonly<Record<string, number>>): string {
  return callText('shell_read', id, channel === 'stderr' ? { ...from, stream: channel } : from);
}

const HEAD_BYTES = 264; // tells every kind

function binaryOf(capture: Capture, channel: Channel, totals: StreamTotals): StreamText {
  const line = binaryLine(capture, channel, totals.bytes);
  const text = `${line.slice(0, -1)}; as hex: ${callOf(capture, channel, { from_byte: 0 })}]`;
  return { text, bytes: 0, whole: true, totals };
}

export function binaryLine(capture: Capture, channel: Channel, totalBytes: number): string {
  const head = OutputReader.of(capture).head(channel, HEAD_BYTES);
  return describeBinary({ head, totalBytes });
}
