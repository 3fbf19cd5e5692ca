// Finds out which process wrote which bytes of the output. On a socket the kernel names the writer
// of every chunk. On pipes and terminals each process reports length, hash and time of its writes,
// and `align.ts` finds those again in the bytes of their channel: in order where it can, by search
// (`align-search.ts`), interleaved (`weave.ts`) or without a hash (`unhashed.ts`) where it must.
// `evidence.ts` drops matches that may be chance: bytes without proof stay without a writer.

import type { Channel, Chunk } from '../../types.ts';
import type { OwnWrite } from '../processes/processes.ts';
import { align } from './align.ts';
import { ChannelBytes, type ReadBytes } from './channel-bytes.ts';
import { Writes } from './writes.ts';

/** `process` is an id, or undefined for bytes whose writer is not known. */
export type Segment = {
  readonly offset: number;
  readonly length: number;
  readonly channel: Channel;
  readonly process: number | undefined;
};

export type AttributionInput = {
  readonly chunks: readonly Chunk[];
  readonly writes: readonly OwnWrite[];
  readonly read: ReadBytes;
  /** The process with a pid, as the kernel counts for the runner, at a time in milliseconds. */
  readonly writerOf: (pid: number, at: number) => number | undefined;
};

const CHANNELS: readonly Channel[] = ['stdout', 'stderr', 'pty'];

/** Every byte of the chunks once, in order of offset. */
export function attribute({ chunks, writes, read, writerOf }: AttributionInput): Segment[] {
  const stamped = chunks.flatMap(({ offset, length, channel, at, pid = 0 }): Segment[] =>
    pid === 0 ? [] : [{ offset, length, channel, process: writerOf(pid, at) }],
  );
  const unstamped = chunks.filter(({ pid = 0 }) => pid === 0);
  const told = CHANNELS.flatMap((channel) => {
    const own = unstamped.filter((chunk) => chunk.channel === channel);
    const said = writes.filter(({ stream }) => stream === channel);
    return own.length > 0 ? segmentsOf(channel, own, said, read) : [];
  });
  return joined(stamped.concat(told).sort((a, b) => a.offset - b.offset));
}

function segmentsOf(
  channel: Channel,
  chunks: readonly Chunk[],
  told: readonly OwnWrite[],
  read: ReadBytes,
): Segment[] {
  const bytes = new ChannelBytes(chunks, read);
  const writes = new Writes(told);
  const segments: Segment[] = [];
  const add = (from: number, to: number, process: number | undefined): void => {
    if (to <= from) return;
    for (const { offset, length } of bytes.pieces(from, to)) {
      segments.push({ offset, length, channel, process });
    }
  };
  let at = 0;
  for (const { from, to, write } of align(bytes, writes, channel === 'pty')) {
    add(at, from, undefined);
    add(from, to, writes.process[write]);
    at = to;
  }
  add(at, bytes.length, undefined);
  return segments;
}

/** Neighbours of the same process and channel as one. */
function joined(segments: readonly Segment[]): Segment[] {
  const found: { offset: number; length: number; channel: Channel; process: number | undefined }[] =
    [];
  for (const { offset, length, channel, process } of segments) {
    const last = found.at(-1);
    const same = last?.process === process && last?.channel === channel;
    if (last !== undefined && same && last.offset + last.length === offset) last.length += length;
    else if (length > 0) found.push({ offset, length, channel, process });
  }
  return found;
}
