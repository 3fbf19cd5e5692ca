// The critical path of a run: what it waited for. Read from the end, the first process waited last
// for the child that ended last; before that child began, for the one that had ended last by then,
// and each of them for its own children in turn. Making a process shorter that is not on the path
// makes the run no faster.

import { table } from '../../text/table.ts';
import { spanText } from '../shown.ts';
import type { TracedProcess } from '../trace.ts';
import { byKey, grouped } from './groups.ts';
import type { Drawing } from './process-table.ts';
import { commonCommand, shapeOf } from './shape.ts';

/** A stretch of time in which the run waited for this process itself. */
export type Step = {
  readonly process: TracedProcess;
  readonly fromNs: bigint;
  readonly toNs: bigint;
};

/**
 * In order of time, without gaps, from the start of the first process to its end, or to `lastNs`
 * where that is not known. `processes` are in the order of the tree.
 */
export function criticalPath(processes: readonly TracedProcess[], lastNs: bigint): Step[] {
  const [root] = processes;
  if (root === undefined) return [];
  const children = endedChildren(processes);
  const steps: Step[] = [];
  // What is left to look at, from the end of the run backwards: a process until a time.
  const open = [
    { process: root, fromNs: root.startNs, atNs: later(root.endNs ?? lastNs, root.startNs) },
  ];
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const { process, fromNs, atNs } = top;
    const child = children.get(process.id)?.pop();
    const from = child && later(child.startNs, fromNs);
    if (child === undefined || from === undefined || child.endNs === undefined) {
      if (atNs > fromNs) steps.push({ process, fromNs, toNs: atNs });
      open.pop();
      continue;
    }
    // It ran beside the one that was waited for, or longer than its parent: it kept none waiting.
    if (child.endNs > atNs || child.endNs <= fromNs || from >= child.endNs) continue;
    if (atNs > child.endNs) steps.push({ process, fromNs: child.endNs, toNs: atNs });
    top.atNs = from;
    open.push({ process: child, fromNs: from, atNs: child.endNs });
  }
  return steps.reverse();
}

/** Of each process those of which the end is known, the last to end at the end of the list. */
function endedChildren(processes: readonly TracedProcess[]): Map<number, TracedProcess[]> {
  const children = new Map<number, TracedProcess[]>();
  for (const one of processes) {
    if (one.parent === undefined || one.endNs === undefined) continue;
    const siblings = children.get(one.parent);
    if (siblings === undefined) children.set(one.parent, [one]);
    else siblings.push(one);
  }
  for (const siblings of children.values()) {
    siblings.sort((a, b) => Number((a.endNs ?? 0n) - (b.endNs ?? 0n)) || a.id - b.id);
  }
  return children;
}

function later(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

/** Several steps that are one row: all of a process, or of equal ones, with `fold`. */
type Wait = { readonly steps: readonly Step[]; readonly members: readonly TracedProcess[] };

function waitsOf(steps: readonly Step[], fold: boolean): Wait[] {
  if (!fold) return steps.map((step) => ({ steps: [step], members: [step.process] }));
  const own = [...byKey(steps, ({ process }) => process).entries()];
  return grouped(own, ([process]) => `${process.depth} ${shapeOf(process)}`).map((group) => ({
    steps: group.flatMap(([, all]) => all),
    members: group.map(([process]) => process),
  }));
}

const DEPTH_MAX = 20;

/** Lines, each with its `\n`; the head first. */
export function renderCritical(
  steps: readonly Step[],
  { fold = true, width, paint = (_, text) => text }: Drawing & { readonly fold?: boolean } = {},
): string {
  const startNs = steps[0]?.fromNs ?? 0n;
  const totalNs = (steps.at(-1)?.toNs ?? startNs) - startNs;
  const rows = waitsOf(steps, fold).map(({ steps: own, members }) => {
    const waited = own.reduce((sum, { fromNs, toNs }) => sum + (toNs - fromNs), 0n);
    const share = totalNs === 0n ? 0 : Number(waited) / Number(totalNs);
    const indent = '  '.repeat(Math.min(members[0]?.depth ?? 0, DEPTH_MAX));
    return [
      members.length === 1 ? String(members[0]?.pid) : '',
      spanText((own[0]?.fromNs ?? startNs) - startNs),
      spanText(waited),
      `${Math.round(share * 100)} %`,
      indent + commonCommand(members),
    ];
  });
  const numbers = ['PID', 'AT', 'WAITED', 'SHARE'];
  return table(
    [...numbers.map((title) => ({ title, align: 'right' as const })), { title: 'COMMAND' }],
    rows,
    { ...(width !== undefined && { width }), styleHead: (text) => paint('dim', text) },
  );
}
