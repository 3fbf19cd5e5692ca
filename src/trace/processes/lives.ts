// Which frames are about the same process. A pid may be given twice, one process may have two pids
// (its own inside a pid namespace, another one outside), and frames come from several writers in no
// order at all. A life is everything said about one process, found by name, time and start ticks.

import type { ExecFrame, Frame, Who } from '../decode/format.ts';
import { decodeStatus } from './process.ts';

type ReapFrame = Extract<Frame, { readonly type: 'reap' }>;

export type Life = {
  /** Every name it goes by, the recorder's first. */
  readonly names: readonly Who[];
  readonly startTicks: number;
  readonly firstNs: bigint;
  /** When its parent had waited for it: the pid is free from here on. */
  readonly goneNs: bigint | undefined;
  /** Reports by itself, or by a process that looked at it, in order of time. */
  readonly said: readonly Frame[];
  /** Reports of the process that spawned it. */
  readonly spawnedBy: readonly ExecFrame[];
  readonly reaps: readonly ReapFrame[];
};

export type Lives = {
  readonly all: readonly Life[];
  /** The life that had this name at a time, or nearest to it. */
  find(who: Who, atNs: bigint): Life | undefined;
  /** The name by which a process calls its own children. */
  childOf(frame: Frame, pid: number): Who;
  /** Exit statuses whose pid is unknown. */
  readonly unnamed: readonly UnnamedReap[];
};

export type UnnamedReap = ReapFrame & { readonly sinceNs: bigint };

// How late something may be said about a process that is gone already.
const LATE_NS = 1_000_000_000n;

/** `ownSpace` is the recorder's pid namespace, which frames call 0. */
export function livesOf(frames: readonly Frame[], ownSpace: number): Lives {
  const sorter = new Sorter(ownSpace);
  for (const frame of inOrder(frames)) sorter.take(frame);
  return sorter.lives();
}

class Draft {
  readonly names: Who[];
  ticks = 0;
  firstNs: bigint;
  exited = false;
  said: Frame[] = [];
  spawnedBy: ExecFrame[] = [];
  reaps: ReapFrame[] = [];

  constructor(name: Who, atNs: bigint) {
    this.names = [name];
    this.firstNs = atNs;
  }

  get reap(): ReapFrame | undefined {
    return this.reaps[0];
  }

  add(frame: Frame): void {
    this.said.push(frame);
    if (frame.type === 'exit') this.exited = true;
    if (frame.type === 'start') this.exited = false;
  }

  absorb(other: Draft): void {
    this.names.push(...other.names);
    this.ticks ||= other.ticks;
    if (other.firstNs < this.firstNs) this.firstNs = other.firstNs;
    this.said = this.said.concat(other.said);
    this.spawnedBy = this.spawnedBy.concat(other.spawnedBy);
    this.reaps = this.reaps.concat(other.reaps);
  }

  life(): Life {
    const reaps = inOrder(this.reaps);
    const space = (name: Who): number => (name.space === 0 ? 0 : 1);
    return {
      names: [...new Map(this.names.map((name) => [key(name), name])).values()].sort(
        (a, b) => space(a) - space(b),
      ),
      startTicks: this.ticks,
      firstNs: this.firstNs,
      goneNs: reaps[0]?.atNs,
      said: inOrder(this.said),
      spawnedBy: inOrder(this.spawnedBy),
      reaps,
    };
  }
}

/** Takes frames in order of time. */
class Sorter {
  readonly #ownSpace: number;
  readonly #byName = new Map<string, Draft[]>();
  readonly #byTicks = new Map<string, Draft>();
  /** The inner names of processes that have two. */
  readonly #inner = new Map<string, Who>();
  readonly #late: { readonly draft: Draft; readonly last: Draft }[] = [];
  readonly #unnamed: UnnamedReap[] = [];
  readonly #aliases: { readonly draft: Draft; readonly name: Who }[] = [];

  constructor(ownSpace: number) {
    this.#ownSpace = ownSpace;
  }

  take(frame: Frame): void {
    if (frame.type === 'drop') return; // about frames, and said by the runner, too
    if (frame.type === 'reap') {
      const { sinceNs } = frame;
      if (sinceNs !== undefined) this.#unnamed.push({ ...frame, sinceNs });
      else this.#reaped(frame);
      return;
    }
    const who = this.#name(frame.who);
    const draft =
      frame.type === 'start' || frame.type === 'fork'
        ? this.#begun(who, frame)
        : this.#open(who, frame.atNs);
    draft.add(frame);
    if (frame.type === 'exec' && frame.spawned !== undefined) {
      this.#spawned(this.childOf(frame, frame.spawned), frame);
    }
  }

  /** Processes count their children as they are counted themselves. */
  childOf(frame: Frame, pid: number): Who {
    const who = this.#name(frame.who);
    const seen = frame.source === 'shim' ? (this.#inner.get(key(who)) ?? who) : who;
    return { pid, space: seen.space };
  }

  lives(): Lives {
    const merged = new Map<Draft, Draft>();
    this.#takeBack(merged);
    for (const { draft, name } of this.#aliases) this.#merge(merged, draft, name);
    const drafts = [...new Set([...this.#byName.values()].flat())].filter(
      (one) => !merged.has(one),
    );
    const all = drafts.map((draft) => draft.life());
    all.sort((a, b) => (a.firstNs < b.firstNs ? -1 : a.firstNs > b.firstNs ? 1 : 0));
    const byName = new Map<string, Life[]>();
    for (const life of all) {
      for (const name of new Set(life.names.map(key))) push(byName, name, life);
    }
    return {
      all,
      find: (who, atNs) => nearest(byName.get(key(this.#name(who))) ?? [], atNs),
      childOf: (frame, pid) => this.childOf(frame, pid),
      unnamed: this.#unnamed,
    };
  }

  #name(who: Who): Who {
    return who.space === this.#ownSpace ? { pid: who.pid, space: 0 } : who;
  }

  /** A START or a FORK knows when its process was started, if only in ticks. */
  #begun(who: Who, frame: Extract<Frame, { readonly type: 'start' | 'fork' }>): Draft {
    const draft = this.#beginning(who, frame);
    draft.ticks ||= frame.startTicks;
    if (frame.startTicks > 0) this.#byTicks.set(tickKey(who, frame.startTicks), draft);
    const inner = frame.inner && this.#name(frame.inner);
    // Without its namespace, a number inside says nothing.
    const other = inner !== undefined && inner.space !== who.space ? inner : undefined;
    if (other === undefined) this.#inner.delete(key(who));
    else {
      this.#inner.set(key(who), other);
      this.#aliases.push({ draft, name: other });
    }
    return draft;
  }

  #beginning(who: Who, frame: Extract<Frame, { readonly type: 'start' | 'fork' }>): Draft {
    const { startTicks } = frame;
    const same = startTicks > 0 ? this.#byTicks.get(tickKey(who, startTicks)) : undefined;
    if (same !== undefined) return same;
    const last = this.#byName.get(key(who))?.at(-1);
    if (last === undefined || last.exited) return this.#new(who, frame);
    if (last.reap !== undefined) {
      // It was alive when the runner looked, and gone when the frame was written.
      const looked = frame.source === 'proc' && frame.atNs - last.reap.atNs < LATE_NS;
      return looked && last.ticks === 0 ? last : this.#new(who, frame);
    }
    if (last.ticks > 0 && startTicks > 0) return this.#new(who, frame);
    // A fork is the first thing that a process says itself.
    const forked = frame.type === 'fork' && frame.source === 'shim';
    const spoke = last.said.some(({ source }) => source === 'shim');
    return forked && spoke ? this.#new(who, frame) : last;
  }

  /** The life that is going on. */
  #open(who: Who, atNs: bigint): Draft {
    const last = this.#byName.get(key(who))?.at(-1);
    return last === undefined || last.reap !== undefined ? this.#new(who, { atNs }) : last;
  }

  #spawned(child: Who, frame: ExecFrame): void {
    const last = this.#byName.get(key(child))?.at(-1);
    const known = last?.spawnedBy.length === 0 && last.said[0]?.type !== 'fork';
    const gone = last?.reap !== undefined;
    const draft = known && !gone ? last : this.#new(child, frame);
    draft.spawnedBy.push(frame);
    if (known && gone) this.#late.push({ draft, last });
  }

  /** A child may have ended before its parent was back from spawning it. */
  #takeBack(merged: Map<Draft, Draft>): void {
    for (const { draft, last } of this.#late) {
      const alone = draft.said.length === 0 && draft.reaps.length === 0;
      if (!alone || draft.firstNs - (last.reap?.atNs ?? 0n) > LATE_NS) continue;
      last.absorb(draft);
      merged.set(draft, last);
    }
  }

  /** The same status from another source is the same end; another status is another process. */
  #reaped(frame: ReapFrame): void {
    if (decodeStatus(frame.status) === undefined) return;
    const child = this.childOf(frame, frame.child);
    const last = this.#byName.get(key(child))?.at(-1);
    const its = last !== undefined && (last.reap?.status ?? frame.status) === frame.status;
    (its ? last : this.#new(child, frame)).reaps.push(frame);
  }

  #new(name: Who, { atNs }: { readonly atNs: bigint }): Draft {
    const draft = new Draft(name, atNs);
    push(this.#byName, key(name), draft);
    return draft;
  }

  /** Reports under the other name of a process are about it, too. */
  #merge(merged: Map<Draft, Draft>, draft: Draft, name: Who): void {
    let into = draft;
    for (let next = merged.get(into); next !== undefined; next = merged.get(into)) into = next;
    const known = this.#byName.get(key(name)) ?? [];
    const others = [
      this.#byTicks.get(tickKey(name, into.ticks)),
      ...around(known, into.firstNs).filter((one) => one !== undefined && isSame(into, one)),
    ];
    for (const other of others) {
      if (other === undefined || other === into || merged.has(other)) continue;
      into.absorb(other);
      merged.set(other, into);
    }
    if (!into.names.some((one) => key(one) === key(name))) into.names.push(name);
  }
}

function isSame(a: Draft, b: Draft): boolean {
  if (a.ticks > 0 && b.ticks > 0) return a.ticks === b.ticks;
  const [first, second] = a.firstNs <= b.firstNs ? [a, b] : [b, a];
  return first.reap === undefined || second.firstNs <= first.reap.atNs;
}

/** The life around a time, else the one that is least far from it. */
function nearest(lives: readonly Life[], atNs: bigint): Life | undefined {
  const [before, after] = around(lives, atNs);
  if (before === undefined || after === undefined) return before ?? after;
  if (before.goneNs === undefined || atNs <= before.goneNs) return before;
  return atNs - before.goneNs < after.firstNs - atNs ? before : after;
}

/** The last that began up to a time and the first behind it; `lives` are in order. */
function around<T extends { readonly firstNs: bigint }>(
  lives: readonly T[],
  atNs: bigint,
): readonly [T | undefined, T | undefined] {
  let [low, high] = [0, lives.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lives[middle]?.firstNs ?? 0n) <= atNs) low = middle + 1;
    else high = middle;
  }
  return [lives[low - 1], lives[low]];
}

function tickKey(who: Who, ticks: number): string {
  return `${key(who)}:${ticks}`;
}

function key({ pid, space }: Who): string {
  return `${pid}:${space}`;
}

function push<K, V>(map: Map<K, V[]>, at: K, value: V): void {
  const list = map.get(at);
  if (list === undefined) map.set(at, [value]);
  else list.push(value);
}

const RANK: Readonly<Record<Frame['type'], number>> = {
  fork: 0,
  start: 1,
  exec: 2,
  execfail: 3,
  write: 4,
  exit: 5,
  reap: 6,
  drop: 7,
};

/** By time; frames of one moment by what can only come first. A repeated frame counts once. */
function inOrder<T extends Frame>(frames: readonly T[]): T[] {
  const sorted = isSorted(frames) ? frames : [...frames].sort(compareFrames);
  return sorted.filter((frame, i) => {
    const before = sorted[i - 1];
    return before === undefined || compareFrames(before, frame) !== 0;
  });
}

function isSorted(frames: readonly Frame[]): boolean {
  return frames.every((frame, i) => {
    const before = frames[i - 1];
    return before === undefined || compareFrames(before, frame) <= 0;
  });
}

function compareFrames(a: Frame, b: Frame): number {
  if (a.atNs !== b.atNs) return a.atNs < b.atNs ? -1 : 1;
  if (a === b) return 0;
  const rank = RANK[a.type] - RANK[b.type];
  if (rank !== 0) return rank;
  const [left, right] = [text(a), text(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function text(frame: Frame): string {
  return JSON.stringify(frame, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
}
