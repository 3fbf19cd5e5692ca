// The texts and numbers that the pictures of a trace share.

import { baseName } from '../text/base-name.ts';
import { quoteWords } from '../text/printable.ts';
import { formatSize } from '../text/size.ts';
import {
  type Image,
  lastImage,
  type PeakMemory,
  type Process,
  type ProcessExit,
} from './processes/process.ts';

/** `git`, `(sh)` for a copy of a shell, `pid 4711` when nothing is known. */
export function programName(process: Pick<Process, 'images' | 'pid'>): string {
  const image = lastImage(process);
  const name = image === undefined ? '' : baseName(image.argv[0] || image.exe);
  if (image === undefined || name === '') return `pid ${process.pid}`;
  return image.inherited ? `(${name})` : name;
}

/** A process as the command line of one of its programs, if it has one of its own. */
export function commandText(process: Process, image: Image | undefined): string {
  return image === undefined || image.inherited ? programName(process) : argvText(image);
}

/** An image known only by its file has no words. */
export function argvText({ argv, exe, cut, isStatic }: Image): string {
  const words = argv.length === 0 ? quoteWords([exe]) : quoteWords(argv);
  return `${words}${cut ? ' …' : ''}${isStatic ? ' (static)' : ''}`;
}

export function exitFields(exit: ProcessExit): Readonly<Record<string, string | number>> {
  if (exit.kind === 'exited') return { exit_code: exit.code };
  return exit.kind === 'signaled' ? { signal: exit.signal } : {};
}

/** An unknown end is no failure. */
export function hasFailed(exit: ProcessExit): boolean {
  return exit.kind === 'signaled' || (exit.kind === 'exited' && exit.code !== 0);
}

/** `exit 3`, `SIGKILL`, `still runs`, `not seen` */
export function exitText(exit: ProcessExit): string {
  switch (exit.kind) {
    case 'exited':
      return `exit ${exit.code}`;
    case 'signaled':
      return exit.signal;
    case 'running':
      return 'still runs';
    case 'unknown':
      return 'not seen';
  }
}

/** How long it ran, or has run until `nowNs`; undefined where its end is not known. */
export function durationOf(
  { startNs, endNs, exit }: Pick<Process, 'startNs' | 'endNs' | 'exit'>,
  nowNs?: bigint,
): bigint | undefined {
  const end = endNs ?? (exit.kind === 'running' ? nowNs : undefined);
  if (end === undefined) return undefined;
  return end > startNs ? end - startNs : 0n;
}

/** Empty where it is not known. */
export function durationText(
  process: Pick<Process, 'startNs' | 'endNs' | 'exit'>,
  nowNs?: bigint,
): string {
  const duration = durationOf(process, nowNs);
  return duration === undefined ? '' : spanText(duration);
}

/** In cells of tables; a word would make the columns wide. */
const NOT_KNOWN = '?';

const SHORTEST_NS = 50_000; // less is shown as 0.0 ms

export function cpuText(ns: number | undefined): string {
  if (ns === undefined) return NOT_KNOWN;
  return ns < SHORTEST_NS ? '<0.1 ms' : spanText(BigInt(ns));
}

/** `28 MiB`; `≤ 28 MiB` where only a limit is known. */
export function peakText(peak: PeakMemory | undefined): string {
  if (peak === undefined) return NOT_KNOWN;
  const size = formatSize(peak.bytes >= MIB_10 ? Math.round(peak.bytes / MIB) * MIB : peak.bytes);
  return peak.kind === 'known' ? size : `≤ ${size}`;
}

const MIB = 1024 * 1024;
const MIB_10 = 10 * MIB; // above, no decimals

/** What is known of it, for formats of other programs. */
export function usageFields({
  cpuNs,
  peak,
}: Pick<Process, 'cpuNs' | 'peak'>): Readonly<Record<string, number>> {
  return {
    ...(cpuNs !== undefined && { cpu_ns: cpuNs }),
    ...(peak?.kind === 'known' && { peak_rss_bytes: peak.bytes }),
    ...(peak?.kind === 'at most' && { peak_rss_bytes_at_most: peak.bytes }),
  };
}

/** `0.4 ms`, `12 ms`, `3.21 s`, `2 min 5 s`; clocks may be set, so that a span is negative: 0 */
export function spanText(ns: bigint): string {
  const ms = Math.max(0, Number(ns) / 1e6);
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(2)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
