// What is alive now: every run that something is left of, with its processes as a tree and who of
// them can still write to its output.

import { type CaptureSummary, listCaptures, type Store } from '../capture/store.ts';
import { processAlive } from '../run/processes.ts';
import { holders, type Member, membersOf, runnerAlive } from './processes.ts';

export type RunProcess = Member & {
  readonly holdsOutput: boolean;
  /** 0 for those whose parent is not of the run. */
  readonly depth: number;
};

export type LiveRun = {
  readonly capture: CaptureSummary;
  /** False when it was killed: then nobody captures what the processes print. */
  readonly runnerAlive: boolean;
  /** In the order of a tree: each process right before its children. */
  readonly processes: readonly RunProcess[];
};

/** Newest first. */
export function liveRuns(store: Store): LiveRun[] {
  return listCaptures(store).flatMap((capture) => {
    if (capture.final?.outputClosed === true) return [];
    const processes = runProcesses(capture);
    if (!capture.outputOpen && processes.length === 0) return [];
    return [{ capture, runnerAlive: runnerAlive(capture), processes }];
  });
}

export function runProcesses(run: Pick<CaptureSummary, 'meta' | 'final'>): RunProcess[] {
  const members = membersOf(run);
  const holding = holders(run, members);
  return inTreeOrder(members).map(({ member, depth }) => ({
    ...member,
    depth,
    holdsOutput: holding.has(member.pid),
  }));
}

export function stillAlive(processes: readonly RunProcess[]): ReadonlySet<number> {
  return new Set(processes.filter(processAlive).map(({ pid }) => pid));
}

function inTreeOrder(given: readonly Member[]): { member: Member; depth: number }[] {
  const members = [...given].sort((a, b) => a.startTime - b.startTime || a.pid - b.pid);
  const pids = new Set(members.map((one) => one.pid));
  const out: { member: Member; depth: number }[] = [];
  const placed = new Set<number>();
  const place = (member: Member, depth: number): void => {
    // A pid that was given away while we looked could make its own child its parent.
    if (placed.has(member.pid)) return;
    placed.add(member.pid);
    out.push({ member, depth });
    for (const one of members) if (one.parent === member.pid) place(one, depth + 1);
  };
  for (const one of members) if (!pids.has(one.parent)) place(one, 0);
  for (const one of members) place(one, 0);
  return out;
}
