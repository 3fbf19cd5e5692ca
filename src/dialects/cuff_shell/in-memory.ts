// The output of a run where nothing can be written, as in a read-only sandbox: the head of each
// stream is in memory. It can be shown once, in the answer; no later call finds the run.

import { isAppError } from '../../errors.ts';
import { OutputReader } from '../../shell/output/reader.ts';
import type { MemoryOutput } from '../../shell/run.ts';
import type { Body } from './output.ts';
import { joined } from './words.ts';

/** Undefined where there is a capture, or where nothing was kept. */
export function memoryOf(
  memory: MemoryOutput | undefined,
  open: () => unknown,
): MemoryOutput | undefined {
  if (memory === undefined) return undefined;
  try {
    open();
    return undefined;
  } catch (error) {
    if (isAppError(error) && error.code === 'session_not_found') return memory;
    throw error;
  }
}

/** Both ends of each stream; `totals` are those of all that was printed. */
export function memoryBody(memory: MemoryOutput, bytesMax: number): Required<Body> {
  const reader = OutputReader.ofMemory(memory);
  const shown = (channel: 'stdout' | 'stderr') =>
    reader.view({
      kind: 'ends',
      channel,
      bytesMax: Math.ceil(bytesMax / 2),
      gap: ({ firstLine, lastLine }) => `\n[lines ${firstLine}-${lastLine} were not kept]\n`,
    });
  const [stdout, stderr] = [shown('stdout'), shown('stderr')];
  const text = joined([stdout.text, stderr.totals.bytes > 0 ? '[stderr]' : '', stderr.text]);
  return {
    text: text === '' ? '(no output)' : text,
    totals: { stdout: stdout.totals, stderr: stderr.totals },
  };
}
