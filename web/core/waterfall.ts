// The processes of a run as a waterfall: the tree on the left, when each lived on the right, what
// made it take so long.
import type { TraceProcess } from '../../src/web/api.ts';

export type FallRow = {
  readonly process: TraceProcess;
  /** Its place in the answer: a pid alone may come twice. */
  readonly index: number;
  readonly depth: number;
  readonly start: number;
  readonly end: number;
  /** It had no end when the trace was read. */
  readonly open: boolean;
  readonly failed: boolean;
  /** The command took as long as it did because of this one. */
  readonly critical: boolean;
  readonly children: number;
};

export type Waterfall = { readonly rows: readonly FallRow[]; readonly span: number };

type Node = {
  readonly process: TraceProcess;
  readonly index: number;
  readonly end: number;
  readonly children: Node[];
};

export function waterfall(processes: readonly TraceProcess[]): Waterfall {
  const span = Math.max(1, ...processes.map(({ start_ns, end_ns }) => end_ns ?? start_ns));
  const roots = treeOf(processes, span);
  const critical = new Set<Node>();
  const last = latest(roots);
  if (last !== undefined) criticalPath(last, critical);
  const rows: FallRow[] = [];
  const visit = (node: Node, depth: number): void => {
    const { process, index, end, children } = node;
    rows.push({
      process,
      index,
      depth,
      start: process.start_ns,
      end,
      open: process.end_ns === null,
      failed: hasFailed(process),
      critical: critical.has(node),
      children: children.length,
    });
    for (const child of children) visit(child, depth + 1);
  };
  for (const root of roots) visit(root, 0);
  return { rows, span };
}

/** A parent is the youngest process of that pid that was there when the child began. */
function treeOf(processes: readonly TraceProcess[], span: number): Node[] {
  const nodes = processes.map((process, index): Node => {
    return { process, index, end: process.end_ns ?? span, children: [] };
  });
  nodes.sort((a, b) => a.process.start_ns - b.process.start_ns || a.index - b.index);
  const roots: Node[] = [];
  const byPid = new Map<number, Node>();
  for (const node of nodes) {
    const parent = byPid.get(node.process.ppid);
    if (parent === undefined || parent === node) roots.push(node);
    else parent.children.push(node);
    byPid.set(node.process.pid, node);
  }
  return roots;
}

function latest(nodes: readonly Node[]): Node | undefined {
  return nodes.reduce<Node | undefined>(
    (best, one) => (best === undefined || one.end > best.end ? one : best),
    undefined,
  );
}

/** Back from the end: of the children that were waited for, the one that ended last, and so on. */
function criticalPath(node: Node, found: Set<Node>): void {
  found.add(node);
  let until = node.end;
  for (;;) {
    const before = node.children.filter(({ end }) => end <= until);
    const last = latest(before.filter((one) => !found.has(one)));
    if (last === undefined) return;
    criticalPath(last, found);
    until = last.process.start_ns;
  }
}

function hasFailed({ exit_code, signal }: TraceProcess): boolean {
  return (exit_code !== null && exit_code !== 0) || signal !== null;
}

/** The words that it was started with; after an exec, the last ones. */
export function nameOf({ images, pid }: TraceProcess): string {
  const image = images.at(-1);
  if (image === undefined) return `process ${pid}`;
  return image.argv.length > 0 ? image.argv.join(' ') : image.exe;
}

export function bytesOf({ bytes }: TraceProcess): number {
  return Object.values(bytes).reduce((sum, count) => sum + count, 0);
}

/** Left and width in percent of the track. */
export function barOf({ start, end }: FallRow, span: number): { left: number; width: number } {
  const left = (100 * Math.min(start, span)) / span;
  return { left, width: Math.max(0, (100 * (Math.min(end, span) - start)) / span) };
}
