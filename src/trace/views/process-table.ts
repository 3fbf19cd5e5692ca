// Rows about processes for a terminal: what the tree and the list of the most costly share. A row
// is about one process, or about equal ones, of which it has the sums, and the greatest memory.

import { formatSize } from '../../text/size.ts';
import { table } from '../../text/table.ts';
import type { PeakMemory } from '../processes/process.ts';
import { cpuText, durationOf, exitText, hasFailed, peakText, spanText } from '../shown.ts';
import type { StreamBytes, TracedProcess } from '../trace.ts';

export type Drawing = {
  /** Of the terminal; without it nothing is cut. */
  readonly width?: number | undefined;
  /** Of a run that goes on: how long its processes have run until here. */
  readonly nowNs?: bigint | undefined;
  readonly paint?: ((format: 'red' | 'dim' | 'bold', text: string) => string) | undefined;
};

export type ProcessRow = {
  /** None for a further program of the same process. */
  readonly members: readonly TracedProcess[];
  readonly text: string;
  /** It is there to show where another belongs. */
  readonly isContext?: boolean;
};

const STREAMS = { stdout: 'out', stderr: 'err', pty: 'pty' } as const;

/** Lines, each with its `\n`; the head first. */
export function processTable(
  rows: readonly ProcessRow[],
  { width, nowNs, paint = (_, text) => text }: Drawing,
): string {
  const measured = rows.some(({ members }) => members.some(({ cpuNs, peak }) => cpuNs ?? peak));
  const style = (text: string, at: number): string => {
    const { members = [], isContext = false } = rows[at] ?? {};
    if (isContext) return paint('dim', text);
    return members.some(({ exit }) => hasFailed(exit)) ? paint('red', text) : text;
  };
  const numbers = ['PID', 'TIME', ...(measured ? ['CPU', 'MEMORY'] : [])];
  const cellsOf = ({ members, text }: ProcessRow): string[] => {
    const [first] = members;
    if (first === undefined) return [...numbers.map(() => ''), '', '', text];
    const usage = measured ? [cpuText(cpuOf(members)), peakText(peakOf(members))] : [];
    const pid = members.length === 1 ? String(first.pid) : '';
    return [
      pid,
      timeText(members, nowNs),
      ...usage,
      exitText(first.exit),
      bytesText(members),
      text,
    ];
  };
  return table(
    [
      ...numbers.map((title) => ({ title, align: 'right' as const })),
      { title: 'END', style },
      { title: 'OUTPUT' },
      { title: 'COMMAND', style },
    ],
    rows.map(cellsOf),
    { ...(width !== undefined && { width }), styleHead: (text) => paint('dim', text) },
  );
}

/** Empty if the time of none is known. */
function timeText(members: readonly TracedProcess[], nowNs: bigint | undefined): string {
  const times = members.flatMap((one) => durationOf(one, nowNs) ?? []);
  return times.length === 0 ? '' : spanText(times.reduce((sum, time) => sum + time, 0n));
}

/** Undefined if that of one is not known: the sum of the others would be too small. */
function cpuOf(members: readonly TracedProcess[]): number | undefined {
  const known = members.flatMap(({ cpuNs }) => cpuNs ?? []);
  return known.length === members.length ? known.reduce((sum, ns) => sum + ns, 0) : undefined;
}

/** The greatest. A limit that is greater than everything known is all that can be said. */
function peakOf(members: readonly TracedProcess[]): PeakMemory | undefined {
  let most: PeakMemory | undefined;
  for (const { peak } of members) {
    if (peak === undefined) return undefined;
    if (most === undefined || peak.bytes > most.bytes) most = peak;
  }
  return most;
}

function bytesText(members: readonly TracedProcess[]): string {
  return (Object.keys(STREAMS) as (keyof StreamBytes)[])
    .map((stream) => [stream, members.reduce((sum, { bytes }) => sum + bytes[stream], 0)] as const)
    .filter(([, bytes]) => bytes > 0)
    .map(([stream, bytes]) => `${STREAMS[stream]} ${formatSize(bytes)}`)
    .join(', ');
}
