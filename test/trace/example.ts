// One run with a bit of everything, for the tests of what is made of a trace.
import type { Frame } from '../../src/trace/decode/format.ts';
import { buildTrace, type Trace } from '../../src/trace/trace.ts';
import type { Channel, Chunk } from '../../src/types.ts';
import { HEADER } from './encode.ts';
import { exec, execFail, exit, exited, fork, reap, start } from './frames.ts';

const MS = 1000;
const startMs = Number(HEADER.startedNs / 1_000_000n);

/** `sh` starts a pipeline, a program that becomes another, a static one, and one that is killed. */
const FRAMES: readonly Frame[] = [
  start(0, 10, ['sh', '-c', 'sort x | wc; ./go\u001b[31m'], { source: 'runner', exe: 'sh' }),
  start(1 * MS, 10, ['sh', '-c', 'sort x | wc; ./go\u001b[31m'], { parent: HEADER.runnerPid }),
  fork(2 * MS, 11, 10),
  exec(2.1 * MS, 11, ['sort', 'x']),
  start(2.5 * MS, 11, ['sort', 'x'], { parent: 10, env: { PATH: '/bin' } }),
  fork(3 * MS, 12, 10),
  execFail(3.05 * MS, 12, '/usr/local/bin/wc'),
  exec(3.1 * MS, 12, ['env', 'wc']),
  start(3.5 * MS, 12, ['env', 'wc'], { parent: 10 }),
  exec(4 * MS, 12, ['wc']),
  start(4.5 * MS, 12, ['wc'], { parent: 10, cwd: '/project/sub' }),
  exit(8 * MS, 11, 2),
  reap(8.5 * MS, 10, 11, exited(2)),
  exit(9 * MS, 12, 0),
  reap(9.5 * MS, 10, 12, 0),
  fork(10 * MS, 13, 10),
  fork(11 * MS, 14, 13),
  exec(11.1 * MS, 14, ['rg', '--files', '[API_KEY]'], { isStatic: true, redacted: true }),
  reap(19 * MS, 13, 14, 9),
  exit(20 * MS, 13, 137),
  reap(20 * MS, 10, 13, exited(137)),
  { ...exit(0, 0, 0), type: 'drop', frames: 3, errno: 28, who: { pid: 13, space: 0 } } as Frame,
];

const PIECES: readonly (readonly [Channel, string, number, number])[] = [
  ['stderr', 'sort: cannot read: x\n', 8, 11],
  ['stdout', '      0       0       0\n', 9, 12],
  ['stdout', 'src/main.rs\n', 12, 14],
  ['stdout', 'from nowhere\n', 13, 99],
  ['stderr', 'Killed\n', 20, 13],
];

export const OUTPUT = Buffer.from(PIECES.map(([, text]) => text).join(''));

function chunks(): Chunk[] {
  let offset = 0;
  return PIECES.map(([channel, text, ms, pid]) => {
    const { length } = text;
    offset += length;
    return { offset: offset - length, length, channel, at: startMs + ms, lines: 1, pid };
  });
}

export function exampleTrace(frames = FRAMES, damagedBytes = 7): Trace {
  return buildTrace({
    captureId: HEADER.captureId,
    decoded: { header: { ...HEADER, mode: 'socket' }, frames: [...frames], damagedBytes },
    chunks: chunks(),
    read: (offset, length) => OUTPUT.subarray(offset, offset + length),
    runEnd: {
      root: { pid: 10, startTime: 0 },
      outcome: { kind: 'exited', code: 0 },
      endedAt: startMs + 21,
    },
  });
}
