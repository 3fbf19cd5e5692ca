// The processes of a trace over time: a bar for each, from its start to its end, in the order they
// started. A process that has not ended reaches to the end.

import { table } from '../text/table.ts';
import { lastImage } from './processes/process.ts';
import { commandText, durationText, exitText, hasFailed, spanText } from './shown.ts';
import type { Trace, TracedProcess } from './trace.ts';
import type { Drawing } from './views/process-table.ts';

const BAR_MIN = 20;
const BAR_MAX = 60;
const WIDTH_DEFAULT = 100;

/** Lines, each with its `\n`; the head first. */
export function renderTimeline(
  trace: Trace,
  { width, nowNs = 0n, paint = (_, text) => text }: Drawing = {},
): string {
  const processes = [...trace.processes].sort((a, b) => compare(a.startNs, b.startNs));
  const span = spanOf(processes, trace.startedNs, nowNs);
  const cells = Math.min(BAR_MAX, Math.max(BAR_MIN, Math.floor((width ?? WIDTH_DEFAULT) / 3)));
  const colour = (text: string, row: number): string => {
    const process = processes[row];
    return process !== undefined && hasFailed(process.exit) ? paint('red', text) : text;
  };
  return table(
    [
      { title: 'PID', align: 'right' },
      { title: 'START', align: 'right' },
      { title: 'TIME', align: 'right' },
      { title: `0${spanText(span.toNs - span.fromNs).padStart(cells - 1)}`, style: colour },
      { title: 'COMMAND', style: colour },
    ],
    processes.map((process) => [
      String(process.pid),
      spanText(process.startNs - span.fromNs),
      durationText(process),
      bar(process, span, cells),
      words(process),
    ]),
    { ...(width !== undefined && { width }), styleHead: (text) => paint('dim', text) },
  );
}

type Span = { readonly fromNs: bigint; readonly toNs: bigint };

function spanOf(processes: readonly TracedProcess[], startedNs: bigint, nowNs: bigint): Span {
  let fromNs = processes[0]?.startNs ?? startedNs;
  if (startedNs < fromNs) fromNs = startedNs;
  let toNs = nowNs > fromNs ? nowNs : fromNs + 1n;
  for (const { startNs, endNs = startNs } of processes) if (endNs > toNs) toNs = endNs;
  return { fromNs, toNs };
}

/** At least one cell, inside the picture. */
function bar(process: TracedProcess, { fromNs, toNs }: Span, cells: number): string {
  const scale = (ns: bigint): number => (Number(ns - fromNs) / Number(toNs - fromNs)) * cells;
  const from = Math.min(cells - 1, Math.max(0, Math.floor(scale(process.startNs))));
  const to = Math.min(cells, Math.max(from + 1, Math.ceil(scale(process.endNs ?? toNs))));
  const open = process.endNs === undefined ? '▷' : '';
  const length = to - from;
  const drawn = open === '' ? '█'.repeat(length) : '█'.repeat(length - 1) + open;
  return `${' '.repeat(from)}${drawn}${' '.repeat(cells - to)}`;
}

function words(process: TracedProcess): string {
  const text = commandText(process, lastImage(process));
  return hasFailed(process.exit) ? `${text}  (${exitText(process.exit)})` : text;
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
