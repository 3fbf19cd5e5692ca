// Makes the processes of a run from its frames: what they were, which process started them, how
// they ended. `lives.ts` decides which frames are about the same process, `images.ts` which
// programs it was, and this file joins them to a tree; `process.ts` has the type of the result.
// The result is the same for frames in any order, and for frames that came twice. What the frames
// lack about the first process comes from the capture (`RunEnd`).

import { baseName } from '../../text/base-name.ts';
import type { Outcome, ProcessId } from '../../types.ts';
import type { Frame, TraceHeader, Who, WriteRecord } from '../decode/format.ts';
import { imagesOf, nameOf, sameWords } from './images.ts';
import { type Life, type Lives, livesOf, type UnnamedReap } from './lives.ts';
import {
  decodeStatus,
  type Image,
  type Process,
  type ProcessExit,
  type Teller,
} from './process.ts';
import { usageOf } from './usage.ts';

/** What the capture itself says about the first process and its end. */
export type RunEnd = {
  readonly root?: ProcessId | undefined;
  readonly outcome?: Outcome | undefined;
  /** Epoch milliseconds. */
  readonly endedAt?: number | undefined;
  /** Of a run that goes on: the processes that were alive before its frames were read. */
  readonly alive?: readonly ProcessId[] | undefined;
};

export type OwnWrite = WriteRecord & { readonly process: number };

export type ProcessTable = {
  /** Parents before their children, in order of their start. */
  readonly processes: readonly Process[];
  /** The writes that they reported, in order of time for each. */
  readonly writes: readonly OwnWrite[];
  /** The process that had this name at a time, or nearest to it. */
  find(who: Who, atNs: bigint): Process | undefined;
};

type Draft = Omit<Process, 'id' | 'depth' | 'parent' | 'forkedFrom'> & {
  readonly life: Life;
  readonly parent: Life | undefined;
  readonly forkedFrom: Life | undefined;
  readonly peakBytes: number | undefined;
};

export function buildProcesses(
  frames: readonly Frame[],
  header: Pick<TraceHeader, 'pidNamespace' | 'runnerPid'> | undefined,
  runEnd: RunEnd = {},
): ProcessTable {
  const lives = livesOf(frames, header?.pidNamespace ?? 0);
  const drafts = new Map<Life, Draft>();
  // In order of time, so that a child finds what its parent was.
  for (const life of lives.all) drafts.set(life, draftOf(life, lives, drafts, runEnd));
  const ordered = treeOrder([...drafts.values()]);
  const ids = new Map(ordered.map(({ life }, id) => [life, id]));
  const processes = ordered.map(
    ({ life: _, peakBytes: __, parent, forkedFrom, ...draft }, id): Process => {
      const idOf = (one: Life | undefined): number | undefined => one && ids.get(one);
      return { ...draft, id, parent: idOf(parent), forkedFrom: idOf(forkedFrom) };
    },
  );
  return {
    processes,
    writes: ordered.flatMap(({ life }, process) => writesOf(life, process)),
    find(who, atNs) {
      const life = lives.find(who, atNs);
      return life && processes[ids.get(life) ?? -1];
    },
  };
}

const AFTER_ALL_NS = 2n ** 63n;

function draftOf(
  life: Life,
  lives: Lives,
  drafts: ReadonlyMap<Life, Draft>,
  runEnd: RunEnd,
): Draft {
  const { pid, space } = life.names[0] ?? { pid: 0, space: 0 };
  const { ppid, parent } = parentOf(life, lives);
  const isRoot = space === 0 && pid === runEnd.root?.pid && sameTicks(life, runEnd.root);
  const [reap = parent && unnamedReap(life, parent, lives)] = life.reaps;
  const { exit, endNs } = endOf(life, reap, isRoot ? runEnd : {});
  const runs = exit.kind === 'unknown' && isAlive(life, lives, runEnd.alive ?? []);
  const { images, failedExecs } = imagesOf(life);
  const above = parent && drafts.get(parent);
  const inherited = parent && inheritedImage(life, images, above);
  return {
    life,
    pid,
    space,
    ppid: parent?.names[0]?.pid ?? ppid,
    parent,
    startNs: life.firstNs,
    endNs,
    images: inherited ? [inherited] : images,
    forkedFrom: inherited && parent,
    exit: runs ? { kind: 'running' } : exit,
    ...usageOf(life, {
      images: images.length,
      isCopy: inherited !== undefined,
      parentPeak: above?.peakBytes,
    }),
    failedExecs,
    sources: tellersOf(life, reap),
  };
}

/** Its start is not always known in ticks: then the last process of this pid is the one alive. */
function isAlive(life: Life, lives: Lives, alive: readonly ProcessId[]): boolean {
  const [name] = life.names;
  if (name === undefined || name.space !== 0) return false;
  const seen = alive.find(({ pid }) => pid === name.pid);
  return seen !== undefined && sameTicks(life, seen) && lives.find(name, AFTER_ALL_NS) === life;
}

function sameTicks(life: Life, id: ProcessId): boolean {
  return life.startTicks === 0 || id.startTime === 0 || life.startTicks === id.startTime;
}

/**
 * Its parent. Children of a dead parent are given to another process, so the earliest report
 * counts, and that of a parent about its child before the child's own. A debugger also waits for
 * children of others: its report comes last.
 */
function parentOf(
  life: Life,
  lives: Lives,
): { readonly ppid: number; readonly parent: Life | undefined } {
  const tellers = life.spawnedBy.map(({ who, atNs }) => ({ who, atNs }));
  const own = life.said.flatMap((frame) => {
    if ((frame.type !== 'start' && frame.type !== 'fork') || frame.parent === 0) return [];
    const { who, inner, atNs } = frame;
    const spaces = inner === undefined ? [who.space] : [who.space, inner.space];
    return spaces.map((space) => ({ who: { pid: frame.parent, space }, atNs }));
  });
  const waiters = life.reaps
    .filter(({ source }) => source === 'shim')
    .map(({ who, atNs }) => ({ who, atNs }));
  for (const { who, atNs } of [...tellers, ...own, ...waiters]) {
    const parent = lives.find(who, atNs);
    if (parent !== undefined && parent !== life) return { ppid: who.pid, parent };
  }
  return { ppid: [...tellers, ...own][0]?.who.pid ?? 0, parent: undefined };
}

/**
 * The status that system(3) or pclose(3) returned for the shell that the libc had started. Only if
 * it can be no other: several threads may start some at once.
 */
function unnamedReap(life: Life, parent: Life, lives: Lives): UnnamedReap | undefined {
  if (!startedInside(life)) return undefined;
  const during = ({ firstNs }: Life, { sinceNs, atNs }: UnnamedReap): boolean =>
    sinceNs <= firstNs && firstNs <= atNs;
  const [reap, ...others] = lives.unnamed.filter(
    (one) => during(life, one) && lives.find(one.who, one.atNs) === parent,
  );
  if (reap === undefined || others.length > 0) return undefined;
  const alone = lives.all.every(
    (one) =>
      one === life ||
      !during(one, reap) ||
      !startedInside(one) ||
      parentOf(one, lives).parent !== parent,
  );
  return alone ? reap : undefined;
}

/** Started by the libc itself: no frame announced it, and it did not fork. */
function startedInside({ spawnedBy, said }: Life): boolean {
  return spawnedBy.length === 0 && said[0]?.type === 'start' && said[0].source === 'shim';
}

/** From wait(2), else from the process on its way out, else from the capture about its root. */
function endOf(
  life: Life,
  reap: Life['reaps'][number] | undefined,
  { outcome, endedAt }: RunEnd,
): { readonly exit: ProcessExit; readonly endNs: bigint | undefined } {
  const exits = life.said.filter(({ type }) => type === 'exit' || type === 'start');
  const last = exits.at(-1);
  const said: ProcessExit | undefined =
    last?.type === 'exit' ? { kind: 'exited', code: last.code & 0xff } : undefined;
  const waited = reap && decodeStatus(reap.status);
  // It may have been a zombie for long before its parent waited for it.
  const itself = said?.kind === 'exited' && waited?.kind === 'exited' && said.code === waited.code;
  if (waited !== undefined) return { exit: waited, endNs: itself ? last?.atNs : reap?.atNs };
  if (said !== undefined) return { exit: said, endNs: last?.atNs };
  const endNs = endedAt === undefined ? undefined : BigInt(endedAt) * 1_000_000n;
  if (outcome?.kind === 'exited') return { exit: outcome, endNs };
  if (outcome?.kind === 'signaled') return { exit: { ...outcome, core: false }, endNs };
  return { exit: { kind: 'unknown' }, endNs: undefined };
}

/** The parent's program, where a forked process is still that. */
function inheritedImage(
  life: Life,
  images: readonly Image[],
  parent: Draft | undefined,
): Image | undefined {
  const image = parent?.images.findLast(({ startNs }) => startNs <= life.firstNs);
  const forked = life.said.some(({ type }) => type === 'fork');
  // A vfork reports nothing; but a process that speaks through its parent's shim is a copy of it.
  const copied = images.length === 0 && life.said.some(({ source }) => source === 'shim');
  if (image === undefined || !(forked || copied)) return undefined;
  const [first] = images;
  const started = life.said.some(({ type, source }) => type === 'start' && source === 'shim');
  // A reader of /proc saw the words of its parent, or the name of its program.
  const looked = images.length === 1 && !started && first?.argvFrom === 'child';
  const seen = looked && (isCopy(first, image) || nameOf(first) === shortName(image));
  if (first !== undefined && !seen) return undefined;
  return { ...image, startNs: life.firstNs, cwd: first?.cwd ?? image.cwd, inherited: true };
}

function isCopy(a: Image, b: Image): boolean {
  return a.exe === b.exe && sameWords(a, b);
}

/** As the kernel keeps it. */
function shortName({ exe }: Image): string {
  return baseName(exe).slice(0, 15);
}

function tellersOf(life: Life, reap: Life['reaps'][number] | undefined): Teller[] {
  const tellers = new Set<Teller>(life.said.map(({ source }) => source));
  if (life.spawnedBy.length > 0 || reap?.child === 0) tellers.add('parent');
  for (const { source } of life.reaps) tellers.add(source === 'shim' ? 'parent' : source);
  return [...tellers].sort();
}

function writesOf(life: Life, process: number): OwnWrite[] {
  return life.said
    .flatMap((frame) => (frame.type === 'write' ? frame.writes : []))
    .map((write) => ({ ...write, process }));
}

type TreeNode = Draft & { readonly depth: number };

/**
 * Parents before their children, siblings in order of their start; `drafts` are in that order.
 * Forged frames may describe a circle: a process that no root reaches becomes a root. Any depth:
 * there is no recursion.
 */
function treeOrder(drafts: readonly Draft[]): TreeNode[] {
  const known = new Set(drafts.map(({ life }) => life));
  const children = new Map<Life | undefined, Draft[]>();
  for (const draft of drafts) {
    const parent = draft.parent && known.has(draft.parent) ? draft.parent : undefined;
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [draft]);
    else siblings.push(draft);
  }
  const ordered: TreeNode[] = [];
  const seen = new Set<Life>();
  for (const root of [...(children.get(undefined) ?? []), ...drafts]) {
    if (seen.has(root.life)) continue;
    const waiting: TreeNode[] = [{ ...root, parent: undefined, depth: 0 }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (seen.has(next.life)) continue;
      seen.add(next.life);
      ordered.push(next);
      const own = children.get(next.life) ?? [];
      for (const child of own.toReversed()) waiting.push({ ...child, depth: next.depth + 1 });
    }
  }
  return ordered;
}
