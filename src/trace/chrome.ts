// A trace in the format of Chrome's trace viewer and Perfetto ("trace events"): one complete event
// for each program, on the line of its process, in microseconds since the start of the capture.

import { quoteWords } from '../text/printable.ts';
import type { Image } from './processes/process.ts';
import { exitFields, programName } from './shown.ts';
import type { Trace, TracedProcess } from './trace.ts';

type Event = Readonly<Record<string, unknown>>;

export function chromeTrace(trace: Trace): Readonly<Record<string, unknown>> {
  const endNs = lastMoment(trace);
  return {
    traceEvents: trace.processes.flatMap((one) => eventsOf(one, trace.startedNs, endNs)),
    displayTimeUnit: 'ms',
    otherData: { capture_id: trace.captureId },
  };
}

function eventsOf(process: TracedProcess, startedNs: bigint, lastNs: bigint): Event[] {
  const { pid, images, startNs, endNs = lastNs } = process;
  const line = { pid, tid: pid };
  const named: Event[] = [
    { name: 'process_name', ph: 'M', ...line, args: { name: programName(process) } },
    { name: 'process_sort_index', ph: 'M', ...line, args: { sort_index: process.id } },
  ];
  // Before its first program, and without one, a process is still there.
  const parts = images.length === 0 ? [{ image: undefined, startNs }] : images.map(withStart);
  return parts.reduce((events, { image, startNs: from }, index) => {
    const until = parts[index + 1]?.startNs ?? endNs;
    events.push({
      name: (image && quoteWords(image.argv.slice(0, 3))) || programName(process),
      cat: 'process',
      ph: 'X',
      ts: micros(from - startedNs),
      dur: micros(until > from ? until - from : 0n),
      ...line,
      args: { ...argsOf(image), ...exitFields(process.exit), bytes: process.bytes },
    });
    return events;
  }, named);
}

function withStart(image: Image): { readonly image: Image; readonly startNs: bigint } {
  return { image, startNs: image.startNs };
}

function argsOf(image: Image | undefined): Readonly<Record<string, unknown>> {
  return image === undefined ? {} : { argv: image.argv, exe: image.exe, cwd: image.cwd };
}

function micros(ns: bigint): number {
  return Number(ns) / 1000;
}

/** Until here everything that did not end is drawn. */
function lastMoment({ processes, startedNs }: Trace): bigint {
  return processes.reduce((last, { startNs, endNs = startNs }) => {
    return endNs > last ? endNs : last;
  }, startedNs);
}
