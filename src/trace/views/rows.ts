// The processes of a trace as rows of a tree: some of them or all, down to a depth, and equal
// siblings as one row. Equal are processes of the same shape that ended alike and started, in the
// same order, processes that are equal themselves. There is no recursion: chains may be thousands
// long.

import { exitText } from '../shown.ts';
import type { TracedProcess } from '../trace.ts';
import { byKey, grouped } from './groups.ts';
import { shapeOf } from './shape.ts';

export type Row = {
  /** One process, or equal ones, in the order of their start. */
  readonly members: readonly TracedProcess[];
  /** The place of the parent's row in the list. */
  readonly parent: number | undefined;
  readonly depth: number;
  readonly isLast: boolean;
  /** There are rows below it in the list. */
  readonly hasChildren: boolean;
  /** Processes below it that are left out because they are too deep. */
  readonly below: number;
};

export type RowChoice = {
  /** The ids of those to show; undefined for all. */
  readonly shown?: ReadonlySet<number> | undefined;
  /** The deepest level; the first process is on level 0. */
  readonly depth?: number | undefined;
  readonly fold?: boolean | undefined;
};

type Sibling = { readonly members: readonly TracedProcess[]; readonly row: Omit<Row, 'members'> };

export function rowsOf(processes: readonly TracedProcess[], choice: RowChoice = {}): Row[] {
  const chosen = processes.filter(({ id }) => choice.shown?.has(id) !== false);
  const children = childrenOf(chosen);
  const keys = choice.fold === true ? keysOf(chosen, children) : undefined;
  const sizes = sizesOf(chosen);
  const rows: Row[] = [];
  const waiting: Sibling[] = [];
  const push = (siblings: readonly TracedProcess[], parent: number | undefined, depth: number) => {
    const groups =
      keys === undefined
        ? siblings.map((one) => [one])
        : grouped(siblings, ({ id }) => keys.get(id));
    const last = groups.length - 1;
    for (const [i, members] of [...groups.entries()].reverse()) {
      const row = { parent, depth, isLast: i === last, hasChildren: false, below: 0 };
      waiting.push({ members, row });
    }
  };
  push(children.get(undefined) ?? [], undefined, 0);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { members, row } = next;
    const own = members.flatMap(({ id }) => children.get(id) ?? []);
    const tooDeep = row.depth >= (choice.depth ?? Number.POSITIVE_INFINITY);
    const below = tooDeep ? own.reduce((sum, { id }) => sum + (sizes.get(id) ?? 1), 0) : 0;
    rows.push({ ...row, members, hasChildren: !tooDeep && own.length > 0, below });
    if (!tooDeep) push(own, rows.length - 1, row.depth + 1);
  }
  return rows;
}

/** By the id of the parent; those whose parent is not among them are roots. */
function childrenOf(processes: readonly TracedProcess[]): Map<number | undefined, TracedProcess[]> {
  const ids = new Set(processes.map(({ id }) => id));
  return byKey(processes, ({ parent }) => (ids.has(parent ?? -1) ? parent : undefined));
}

/** How many processes each has at and below it; children come behind their parents. */
function sizesOf(processes: readonly TracedProcess[]): Map<number, number> {
  const sizes = new Map(processes.map(({ id }) => [id, 1]));
  for (const { id, parent } of [...processes].reverse()) {
    const above = parent === undefined ? undefined : sizes.get(parent);
    if (parent !== undefined && above !== undefined)
      sizes.set(parent, above + (sizes.get(id) ?? 1));
  }
  return sizes;
}

/** The same number for equal processes. */
function keysOf(
  processes: readonly TracedProcess[],
  children: ReadonlyMap<number | undefined, readonly TracedProcess[]>,
): Map<number, number> {
  const numbers = new Map<string, number>();
  const keys = new Map<number, number>();
  for (const process of [...processes].reverse()) {
    const below = (children.get(process.id) ?? []).map(({ id }) => keys.get(id));
    const text = JSON.stringify([shapeOf(process), exitText(process.exit), below]);
    const number = numbers.get(text) ?? numbers.size;
    numbers.set(text, number);
    keys.set(process.id, number);
  }
  return keys;
}
