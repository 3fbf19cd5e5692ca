// What the pictures of a trace cannot show, in a few sentences below them.

import { counted } from '../../text/plural.ts';
import type { Trace, TracedProcess } from '../../tracing/read.ts';
import { say } from '../output.ts';

export function remarks(trace: Trace, chosen: readonly TracedProcess[]): void {
  const { processes } = trace;
  if (chosen.length < processes.length) {
    say(`${chosen.length} of ${counted(processes.length, 'process', 'processes')}.`);
  }
  sayLosses(trace);
}

function sayLosses({ unattributedBytes, untraced: events }: Trace): void {
  if (unattributedBytes > 0) {
    const bytes = counted(unattributedBytes, 'byte of output is', 'bytes of output are');
    say(`${bytes} not attributed to a process.`);
  }
  const count = (kind: string): number => events.filter((one) => one.kind === kind).length;
  const statics = count('static');
  if (statics > 0) {
    say(`${counted(statics, 'static program was', 'static programs were')} not followed.`);
  }
  const silent = count('silent');
  if (silent > 0) {
    const programs = counted(silent, 'program that installs', 'programs that install');
    say(`Of ${programs} a seccomp filter by itself, only the start is known.`);
  }
  const dropped = events.reduce((sum, one) => sum + (one.kind === 'dropped' ? one.frames : 0), 0);
  if (dropped > 0) say(`${dropped} reports of processes could not be written.`);
  if (count('damaged') > 0) say('A part of the trace is damaged and left out.');
}
