// The texts and numbers that the pictures of a trace share.

import { baseName } from '../text/base-name.ts';
import { quoteWords } from '../text/printable.ts';
import { type Image, lastImage, type Process, type ProcessExit } from './processes/process.ts';

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

/** `exit 3`, `SIGKILL`, `?` */
export function exitText(exit: ProcessExit): string {
  if (exit.kind === 'exited') return `exit ${exit.code}`;
  return exit.kind === 'signaled' ? exit.signal : '?';
}

/** Empty while it runs. */
export function durationText({ startNs, endNs }: Process): string {
  return endNs === undefined ? '' : spanText(endNs - startNs);
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
