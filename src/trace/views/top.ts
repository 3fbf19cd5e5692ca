// The processes that cost most: by the time they ran, processor time, memory or bytes written.

import { durationOf, exitText } from '../shown.ts';
import type { TracedProcess } from '../trace.ts';
import { grouped } from './groups.ts';
import { type Drawing, processTable } from './process-table.ts';
import { commonCommand, shapeOf } from './shape.ts';

export const TOP_KEYS = ['time', 'cpu', 'memory', 'bytes'] as const;

export type TopKey = (typeof TOP_KEYS)[number];

export const TOP_MAX = 20;

export type Ranking = {
  /** The most costly first; each a process, or several equal ones. */
  readonly groups: readonly (readonly TracedProcess[])[];
  /** Processes of which the cost is not known. */
  readonly unknown: number;
};

export type RankOptions = {
  readonly key: TopKey;
  readonly nowNs?: bigint | undefined;
  /** Processes of the same shape that ended alike count as one, with the sum of their costs. */
  readonly fold: boolean;
};

export function rank(
  processes: readonly TracedProcess[],
  { key, nowNs, fold }: RankOptions,
): Ranking {
  const costs = new Map(processes.map((one) => [one, costOf(one, key, nowNs)]));
  const known = processes.filter((one) => costs.get(one) !== undefined);
  const groups = fold ? grouped(known, kindOf) : known.map((one) => [one]);
  const cost = (group: readonly TracedProcess[]): number => {
    const all = group.map((one) => costs.get(one) ?? 0);
    return key === 'memory' ? Math.max(...all) : all.reduce((sum, one) => sum + one, 0);
  };
  const ranked = groups.map((group) => ({ group, cost: cost(group) }));
  // A stable order: equal ones stay in the order of the tree.
  ranked.sort((a, b) => b.cost - a.cost);
  return { groups: ranked.map(({ group }) => group), unknown: processes.length - known.length };
}

function kindOf(process: TracedProcess): string {
  return `${exitText(process.exit)} ${shapeOf(process)}`;
}

/** Undefined where it is not known: such a process has no place in the order. */
function costOf(
  process: TracedProcess,
  key: TopKey,
  nowNs: bigint | undefined,
): number | undefined {
  const { cpuNs, peak, bytes } = process;
  switch (key) {
    case 'time': {
      const duration = durationOf(process, nowNs);
      return duration === undefined ? undefined : Number(duration);
    }
    case 'cpu':
      return cpuNs;
    case 'memory':
      return peak?.bytes;
    case 'bytes':
      return bytes.stdout + bytes.stderr + bytes.pty;
  }
}

/** Lines, each with its `\n`; the head first. */
export function renderTop({ groups }: Ranking, drawing: Drawing = {}): string {
  const rows = groups
    .slice(0, TOP_MAX)
    .map((members) => ({ members, text: commonCommand(members) }));
  return processTable(rows, drawing);
}
