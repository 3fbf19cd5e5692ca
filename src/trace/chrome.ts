// A trace in the format of Chrome's trace viewer and Perfetto ("trace events"): one complete event
// for each program, on the line of its process, in microseconds since the start of the capture.

import type { JsonObject } from '../text/json.ts';
import { quoteWords } from '../text/printable.ts';
import { exitFields, programName, usageFields } from './shown.ts';
import { lastMoment, type Trace, type TracedProcess } from './trace.ts';

export function chromeTrace(trace: Trace): JsonObject {
  const endNs = lastMoment(trace);
  const lines = linesOf(trace.processes);
  return {
    traceEvents: trace.processes.flatMap((one, at) => {
      return eventsOf(one, {
        startedNs: trace.startedNs,
        lastNs: endNs,
        line: lines[at] ?? one.pid,
      });
    }),
    displayTimeUnit: 'ms',
    otherData: { capture_id: trace.captureId },
  };
}

// The kernel gives no pid above it, so that multiples of it make numbers that no process has.
const PID_LIMIT = 4_194_304;

/**
 * The number under which each process is drawn. A viewer has one name for a pid: the second process
 * that was given one, and one of another pid namespace, is drawn under a number of its own.
 */
function linesOf(processes: readonly TracedProcess[]): number[] {
  const given = new Map<number, number>();
  return processes.map(({ pid }) => {
    const before = given.get(pid) ?? 0;
    given.set(pid, before + 1);
    return pid + before * PID_LIMIT;
  });
}

type Place = { readonly startedNs: bigint; readonly lastNs: bigint; readonly line: number };

function eventsOf(process: TracedProcess, { startedNs, lastNs, line: at }: Place): JsonObject[] {
  const { pid, images, startNs, endNs = lastNs } = process;
  const line = { pid: at, tid: at };
  const name = at === pid ? programName(process) : `${programName(process)} (pid ${pid})`;
  // Before its first program, and without one, a process is still there.
  const parts = images.length === 0 ? [undefined] : images;
  return [
    { name: 'process_name', ph: 'M', ...line, args: { name } },
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
        args: {
          ...program,
          ...(at !== pid && { pid }),
          ...exitFields(process.exit),
          ...usageFields(process),
          bytes: process.bytes,
        },
      };
    }),
  ];
}

function micros(ns: bigint): number {
  return Number(ns) / 1000;
}
