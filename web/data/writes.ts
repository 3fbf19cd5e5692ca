// What one process wrote: the ranges of output.bin that are known to be of it, as text.
import type { OutputPart } from '../../src/web/api.ts';
import { getBytes } from './client.ts';

const SHOWN_BYTES = 65_536;

type Range = readonly [offset: number, length: number, channel: string];
export type Written = { readonly parts: readonly OutputPart[]; readonly left: number };

export async function writtenBy(id: string, ranges: readonly Range[]): Promise<Written> {
  const whole = ranges.reduce((sum, [, length]) => sum + length, 0);
  const parts: { channel: OutputPart['channel']; bytes: Uint8Array }[] = [];
  let shown = 0;
  for (const [offset, length, channel] of joined(ranges)) {
    if (shown >= SHOWN_BYTES) break;
    const end = offset + Math.min(length, SHOWN_BYTES - shown);
    const piece = await getBytes(id, offset, end);
    if (piece === undefined) continue;
    shown += piece.bytes.length;
    parts.push({ channel: channelOf(channel), bytes: piece.bytes });
  }
  const decoder = new TextDecoder();
  return {
    parts: parts.map(({ channel, bytes }) => ({ channel, text: decoder.decode(bytes) })),
    left: whole - shown,
  };
}

/** Ranges that touch are one request. */
function joined(ranges: readonly Range[]): Range[] {
  const out: Range[] = [];
  for (const range of ranges) {
    const last = out.at(-1);
    if (last !== undefined && last[0] + last[1] === range[0] && last[2] === range[2]) {
      out[out.length - 1] = [last[0], last[1] + range[1], last[2]];
    } else out.push(range);
  }
  return out;
}

function channelOf(name: string): OutputPart['channel'] {
  return name === 'stdout' || name === 'stderr' || name === 'pty' ? name : 'unknown';
}
