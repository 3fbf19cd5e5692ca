// What a run has printed since its caller last heard of it, each stream by itself, as clean text.
// Answers put together are the clean stream, as long as each had room for its part; what had no
// room is named by its lines. The unfinished line at the end is shown, too: it may be a question.
// What follows it comes alone, unless the line was written over meanwhile: then all of it does.

import type { Source } from '../capture/snapshot.ts';
import type { Channel } from '../shell/output/lines.ts';
import { type Growth, NewOutput } from '../shell/output/new-output.ts';
import { OutputReader } from '../shell/output/reader.ts';
import { sizeOf, tailCut } from '../text/cut.ts';
import { decodeUtf8 } from '../text/utf8.ts';
import type { StreamTotals } from '../types.ts';

export type News = {
  readonly text: string;
  /** The lines before it that are new and had no room, in the raw stream. */
  readonly hidden: { readonly firstLine: number; readonly lastLine: number } | undefined;
  /** Raw bytes that are new. */
  readonly bytes: number;
  /** Of the whole stream; an unfinished line counts. */
  readonly totals: StreamTotals;
  readonly binary: boolean;
};

const NOTHING = new Uint8Array();

export class NewsReader {
  readonly #outputs = { stdout: newStream('stdout'), stderr: newStream('stderr') };
  /** What was shown of the unfinished line. */
  readonly #partial: Record<Channel, Uint8Array> = { stdout: NOTHING, stderr: NOTHING };

  /** Gives what is new, at most `bytesMax` of text, and counts it as heard. */
  take(capture: Source, channel: Channel, bytesMax: number): News {
    const output = this.#outputs[channel];
    const known = this.#partial[channel];
    const last = Math.max(0, bytesMax) + known.length + 1;
    const taken = output.take(capture, { first: 0, last });
    const { totals, binary, ends } = taken;
    const { all, passed } = ends;
    const rest = output.peek();
    this.#partial[channel] = rest;
    const news = Buffer.concat([all.last, rest]);
    const whole = !passed && all.totals.bytes <= all.last.length;
    const same = whole && news.subarray(0, known.length).equals(known);
    const fresh = same ? news.subarray(known.length) : news;
    const limits = { bytesMax, linesMax: Number.POSITIVE_INFINITY };
    const cut = tailCut(fresh, limits, whole ? 'all' : 'inside');
    const shown = fresh.subarray(cut.from);
    const hidden =
      whole && cut.from === 0 ? undefined : hiddenLines(capture, channel, taken, shown);
    return { text: decodeUtf8(shown), hidden, bytes: taken.to - taken.from, totals, binary };
  }

  /** What came before `until` was told in another way. */
  heard(channel: Channel, until: number): void {
    this.#outputs[channel].jump(until);
    this.#partial[channel] = NOTHING;
  }

  /** How far the caller was told. */
  until(channel: Channel): number {
    return this.#outputs[channel].cursor;
  }
}

function newStream(channel: Channel): NewOutput {
  return new NewOutput(channel, { cr: 'overwrite' });
}

function hiddenLines(
  capture: Source,
  channel: Channel,
  { from, totals }: Growth,
  shown: Uint8Array,
): News['hidden'] {
  const firstLine = OutputReader.of(capture).newlinesBefore(channel, from) + 1;
  return { firstLine, lastLine: Math.max(firstLine, totals.lines - sizeOf(shown).lines) };
}
