// What a run has printed since its caller last heard of it, each stream by itself, as clean text.
// Answers put together are the sanitised stream, as long as each had room for its part; what had no
// room is named by its lines. The unfinished line at the end is shown, too: it may be a question.
// What follows it comes alone, unless the line was written over meanwhile: then all of it does.

import { type Source, withSnapshot } from '../capture/snapshot.ts';
import { keptFrom, newlinesBefore, streamBytes } from '../capture/stream.ts';
import { streamOf, type Whole } from '../shell/output/piece.ts';
import { looksBinary } from '../text/binary.ts';
import { countNewlines } from '../text/lines.ts';
import { sanitizer } from '../text/sanitize.ts';
import { decodeUtf8, utf8End, utf8Start } from '../text/utf8.ts';
import type { StreamTotals } from '../types.ts';

const NEWLINE = 0x0a;
const RAW_PER_SHOWN = 8; // colours and progress bars; of more than that only the end is looked at
const RAW_BYTES_MIN = 1024 * 1024;

export type Channel = 'stdout' | 'stderr';

export type News = {
  readonly channel: Channel;
  readonly text: string;
  /** The lines before it that are new and had no room, in the raw stream. */
  readonly hidden: { readonly firstLine: number; readonly lastLine: number } | undefined;
  /** Raw bytes that are new. */
  readonly bytes: number;
  /** Of the whole stream; an unfinished line counts. */
  readonly totals: StreamTotals;
  readonly binary: boolean;
};

type Seen = {
  /** Where the unfinished line starts that was shown last, in the raw stream. */
  readonly lineStart: number;
  /** All before was shown. */
  readonly until: number;
  /** What was shown of that line. */
  readonly partial: string;
};

const NOTHING_SEEN: Seen = { lineStart: 0, until: 0, partial: '' };

export class NewsReader {
  readonly #seen = new Map<Channel, Seen>();

  /** Gives what is new, at most `bytesMax` of text, and counts it as heard. */
  take(capture: Source, channel: Channel, bytesMax: number): News {
    const seen = this.#seen.get(channel) ?? NOTHING_SEEN;
    const { news, next } = withSnapshot(capture, (snapshot) => {
      const whole = streamOf(snapshot, channel, { cr: 'overwrite', open: capture.outputOpen });
      return newsOf(whole, channel, seen, bytesMax);
    });
    this.#seen.set(channel, next);
    return news;
  }

  /** What came before `until` was told in another way. */
  heard(channel: Channel, until: number): void {
    this.#seen.set(channel, { lineStart: until, until, partial: '' });
  }

  /** How far the caller was told. */
  until(channel: Channel): number {
    return this.#seen.get(channel)?.until ?? 0;
  }
}

function newsOf(
  whole: Whole,
  channel: Channel,
  seen: Seen,
  bytesMax: number,
): { readonly news: News; readonly next: Seen } {
  const { totals } = whole;
  const nothing = { channel, text: '', hidden: undefined, bytes: 0, totals, binary: false };
  if (totals.bytes <= seen.until) return { news: nothing, next: seen };
  const room = Math.max(RAW_BYTES_MIN, bytesMax * RAW_PER_SHOWN);
  const kept = keptFrom(whole.snapshot, whole.stream);
  const from = Math.max(seen.lineStart, totals.bytes - room, kept);
  const skipped = from > seen.lineStart;
  const part = render(whole, from, skipped);
  const known = !skipped && part.text.startsWith(seen.partial) ? seen.partial.length : 0;
  const fresh = part.text.slice(known);
  const text = lastLines(fresh, bytesMax);
  const cut = skipped || text.length < fresh.length;
  const hidden = cut ? hiddenLines(whole, seen, text) : undefined;
  const news = {
    ...nothing,
    text,
    hidden,
    bytes: totals.bytes - seen.until,
    binary: looksBinary(part.raw),
  };
  return { news, next: part.next };
}

type Rendered = { readonly text: string; readonly raw: Uint8Array; readonly next: Seen };

/** `[from, end)` of a stream; from the next line on if something before it was left out. */
function render(
  { snapshot, stream, totals, open }: Whole,
  from: number,
  skipped: boolean,
): Rendered {
  const read = streamBytes(snapshot, stream, from, totals.bytes);
  const start = skipped ? textStart(read) : 0;
  const end = open ? utf8End(read, read.length) : read.length;
  const raw = read.subarray(start, end);
  const newline = raw.lastIndexOf(NEWLINE);
  const clean = sanitizer({ cr: 'overwrite' });
  const lines = decodeUtf8(clean.push(raw.subarray(0, newline + 1)));
  const rest = decodeUtf8(Buffer.concat([clean.push(raw.subarray(newline + 1)), clean.end()]));
  // Inside of a sequence of several lines no line has ended: it is read again as a whole.
  const ended = newline >= 0 && lines.endsWith('\n');
  const next = {
    lineStart: from + start + (ended ? newline + 1 : 0),
    until: from + end,
    partial: ended ? rest : lines + rest,
  };
  return { text: lines + rest, raw, next };
}

function textStart(bytes: Uint8Array): number {
  const newline = bytes.indexOf(NEWLINE);
  return newline >= 0 && newline < bytes.length - 1 ? newline + 1 : utf8Start(bytes, 0);
}

/** Whole lines from the end that fit; of a line that does not, its end. */
function lastLines(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  if (bytesMax <= 0) return '';
  const reach = bytes.length - bytesMax;
  const newline = bytes.indexOf(NEWLINE, reach - 1);
  const found = newline >= 0 && newline < bytes.length - 1;
  return bytes.subarray(found ? newline + 1 : utf8Start(bytes, reach)).toString('utf8');
}

function hiddenLines(
  { snapshot, stream, totals }: Whole,
  { until }: Seen,
  text: string,
): { readonly firstLine: number; readonly lastLine: number } {
  const firstLine = newlinesBefore(snapshot, stream, until) + 1;
  const unfinished = text !== '' && !text.endsWith('\n') ? 1 : 0;
  const shown = countNewlines(Buffer.from(text)) + unfinished;
  return { firstLine, lastLine: Math.max(firstLine, totals.lines - shown) };
}
