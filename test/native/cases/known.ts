// What the product knows about a traced run, as the judge wants it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeTrace } from '../../../src/trace/decode/decode.ts';
import type { ProcessExit } from '../../../src/trace/processes/process.ts';
import { buildTrace } from '../../../src/trace/trace.ts';
import type { Known } from './judge.ts';
import type { Capture } from './runs.ts';

export function knownFrom({ dir, output, chunks }: Capture): Known {
  const trace = buildTrace({
    captureId: 'case',
    decoded: decodeTrace(readFileSync(join(dir, 'trace.bin'))),
    chunks,
    read: (offset, length) => output.subarray(offset, offset + length),
    runEnd: {},
  });
  const writers = new Int32Array(output.length).fill(-1);
  for (const { offset, length, process = -1 } of trace.segments) {
    writers.fill(process, offset, offset + length);
  }
  const processes = trace.processes.map(({ pid, images, exit }) => ({
    pid,
    images,
    end: endText(exit),
  }));
  return { writers, processes };
}

function endText(exit: ProcessExit): string | undefined {
  if (exit.kind === 'unknown' || exit.kind === 'running') return undefined;
  return exit.kind === 'exited' ? `exit ${exit.code}` : `signal ${exit.signal}`;
}
