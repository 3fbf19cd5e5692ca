// A trace in the format of Chrome's trace viewer and Perfetto ("trace events"): one complete event
// for each program, on the line of its process, in microseconds since the start of the capture.

import type { JsonObject } from '../text/json.ts';
import { quoteWords } from '../text/printable.ts';
import { exitFields, programName } from './shown.ts';
import type { Trace, TracedProcess } from './trace.ts';

export function chromeTrace(trace: Trace): JsonObject {
  const endNs = lastMoment(trace);
  return {
    traceEvents: trace.processes.flatMap((one) => eventsOf(one, trace.startedNs, endNs)),
    displayTimeUnit: 'ms',
    otherData: { capture_id: trace.captureId },
  };
}

function eventsOf(process: TracedProcess, startedNs: bigint, lastNs: bigint): JsonObject[] {
  const { pid, images, startNs, endNs = lastNs } = process;
  const line = { pid, tid: pid };
  // Before its first program, and without one, a process is still there.
  const parts = images.length === 0 ? [undefined] : images;
  return [
    { name: 'process_name', ph: 'M', ...line, args: { name: programName(process) } },
    { name: 'process_sort_index', ph: 'M', ...line, args: { sort_index: process.id } },
    ...parts.map((image, index) => {
      const from = image?.startNs ?? startNs;
      const until = parts[index + 1]?.startNs ?? endNs;
      const program = image && { argv: image.argv, exe: image.exe, cwd: image.cwd };
      return {
        name: (image && quoteWords(image.argv.slice(0, 3))) || programName(process),
        cat: 'process',
        ph: 'X',
        ts: micros(from - startedNs),
        dur: micros(until > from ? until - from : 0n),
        ...line,
        args: { ...program, ...exitFields(process.exit), bytes: process.bytes },
      };
    }),
  ];
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
