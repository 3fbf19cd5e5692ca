// What the status of a traced run hides: stages of its pipelines that failed, and programs inside
// of it that died of a signal. A run that did not end by itself hides nothing.

import type { Capture } from '../shell/shell.ts';
import { signalExitCode } from '../text/signal-name.ts';
import { cpuText, peakText } from '../trace/shown.ts';
import { type Failure, failures } from '../tracing/failures.ts';
import { smallTrace } from '../tracing/small-trace.ts';
import type { Ended } from '../types.ts';

export type HiddenFailure = {
  readonly pid: number;
  /** As it is written, or what it ran; undefined for a copy of the shell. */
  readonly command: string | undefined;
  readonly end:
    | { readonly kind: 'exited'; readonly code: number }
    | { readonly kind: 'signaled'; readonly signal: string };
  /** Its place in a pipeline of the command, counted from 1. */
  readonly stage:
    | { readonly number: number; readonly of: number; readonly ending: boolean }
    | undefined;
  /** What it used, if that is worth a word: `12 s of CPU, 1.2 GiB`. */
  readonly used: string | undefined;
};

// Less than that is what any small program uses, and explains nothing.
const CPU_NS_MIN = 1_000_000_000;
const PEAK_BYTES_MIN = 256 * 1024 * 1024;

/** Of a run of another server: its trace is decoded now. */
export function hiddenIn({ dir, meta, final }: Capture): readonly HiddenFailure[] {
  if (meta?.trace?.enabled !== true) return [];
  if (final !== undefined && final.endedBy !== 'itself') return [];
  const text = meta.command.kind === 'shell' ? meta.command.text : '';
  const trace = smallTrace(dir);
  return trace?.kind === 'whole' ? hiddenAmong(failures(trace.processes, text), final) : [];
}

/** `ended` undefined: it is not known how the run ended. */
export function hiddenAmong(
  failed: readonly Failure[],
  ended: Pick<Ended, 'outcome' | 'endedBy'> | undefined,
): readonly HiddenFailure[] {
  if (ended !== undefined && ended.endedBy !== 'itself') return [];
  const told = ended?.outcome.kind === 'exited' ? ended.outcome.code : undefined;
  return failed.filter(({ process }) => !tells(told, process)).flatMap(hidden);
}

/** The status is that of this very program, and says which signal it was. */
function tells(code: number | undefined, { exit, depth }: Failure['process']): boolean {
  if (exit.kind !== 'signaled' || depth !== 1) return false;
  return code === signalExitCode(exit.signal);
}

function hidden({ process, name, place }: Failure): HiddenFailure[] {
  const { pid, exit } = process;
  if (exit.kind === 'unknown' || exit.kind === 'running') return [];
  const before = place !== undefined && place.stage < place.of;
  if (!before && exit.kind !== 'signaled') return [];
  const stage = place && { number: place.stage, of: place.of, ending: place.ending };
  return [{ pid, command: name, end: exit, stage, used: usedText(process) }];
}

function usedText({ cpuNs = 0, peak }: Failure['process']): string | undefined {
  const known = [
    ...(cpuNs >= CPU_NS_MIN ? [`${cpuText(cpuNs)} of CPU`] : []),
    ...(peak?.kind === 'known' && peak.bytes >= PEAK_BYTES_MIN ? [peakText(peak)] : []),
  ];
  return known.length === 0 ? undefined : known.join(', ');
}
