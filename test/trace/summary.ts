// What most tests of processes are about, in one line for each.
import type { Frame } from '../../src/trace/decode/format.ts';
import { buildProcesses } from '../../src/trace/processes/processes.ts';
import { HEADER } from './encode.ts';

/** Pid, parent, depth, words of every image, end, and who told. */
export function summary(frames: readonly Frame[]): (string | number)[][] {
  const { processes } = buildProcesses(frames, HEADER);
  return processes.map(({ pid, ppid, depth, images, exit: end, sources }) => {
    const words = images.map(({ argv }) => argv.join(' '));
    const code = end.kind === 'exited' ? end.code : end.kind === 'signaled' ? end.signal : '?';
    return [pid, ppid, depth, words.join(' -> '), code, sources.join()];
  });
}
