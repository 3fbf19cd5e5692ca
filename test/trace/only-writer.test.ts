// Bytes that no process reported: on pipes they are those of a static program that was alone.
import { describe, expect, it } from 'vitest';
import type { Frame, TraceHeader } from '../../src/trace/decode/format.ts';
import { buildTrace } from '../../src/trace/trace.ts';
import { HEADER } from './encode.ts';
import { exit, fork, reap, start } from './frames.ts';

const ALONE: readonly Frame[] = [
  start(0, 10, ['./go'], { source: 'runner', exe: './go' }),
  start(1, 10, ['./go'], { source: 'ptrace', isStatic: true, exe: '/project/go' }),
  reap(90, 'runner', 10, 0),
];

function unattributed(
  frames: readonly Frame[],
  header: Partial<TraceHeader> = {},
  damagedBytes = 0,
): number {
  const at = Number(HEADER.startedNs / 1_000_000n) + 1;
  const decoded = {
    header: { ...HEADER, mode: 'pipe', follows: true, ...header } as const,
    frames: [...frames],
    damagedBytes,
  };
  const chunk = { offset: 0, length: 5, channel: 'stdout', at, lines: 1 } as const;
  return buildTrace({
    captureId: HEADER.captureId,
    decoded,
    chunks: [chunk],
    read: (offset, length) => Buffer.from('hello').subarray(offset, offset + length),
    runEnd: {},
  }).unattributedBytes;
}

describe('bytes on a pipe that no process reported', () => {
  it('are those of a static program that was followed and alone', () => {
    expect(unattributed(ALONE)).toBe(0);
  });

  it.each<readonly [string, readonly Frame[], Partial<TraceHeader>, number]>([
    ['beside another process', [...ALONE, fork(5, 11, 10), exit(6, 11, 0)], {}, 0],
    ['of a program with a loader', [start(0, 10, ['go']), reap(9, 'runner', 10, 0)], {}, 0],
    ['of one that was another program before', [start(0, 10, ['sh']), ...ALONE.slice(1)], {}, 0],
    ['where static programs are not followed', ALONE, { follows: false }, 0],
    ['of one that the runner let go', [{ ...ALONE[1], left: true } as Frame], {}, 0],
    ['on a terminal, which echoes', ALONE, { mode: 'pty' }, 0],
    ['where a report may be missing', ALONE, {}, 8],
    [
      'where one is known to be missing',
      [...ALONE, { ...exit(3, 10, 0), type: 'drop', frames: 1, errno: 28 } as Frame],
      {},
      0,
    ],
  ])('have no writer %s', (_, frames, header, damaged) => {
    expect(unattributed(frames, header, damaged)).toBe(5);
  });
});
