// The processes of a trace as a tree for a terminal, children below their parents: command line,
// time, end and size of the output. Failed ones stand out.

import { formatSize } from '../text/size.ts';
import { table } from '../text/table.ts';
import { argvText, commandText, durationText, exitText, hasFailed } from './shown.ts';
import type { Trace, TracedProcess } from './trace.ts';

export type Drawing = {
  /** Of the terminal; without it nothing is cut. */
  readonly width?: number | undefined;
  /** Of a run that goes on: a timeline reaches to here. */
  readonly nowNs?: bigint | undefined;
  readonly paint?: ((format: 'red' | 'dim' | 'bold', text: string) => string) | undefined;
};

// Further in, the level is told as a number: a chain of thousands would be wider than any terminal.
const DEPTH_MAX = 40;
const NOTHING = { rails: '', cwd: '' };

const STREAMS = { stdout: 'out', stderr: 'err', pty: 'pty' } as const;

/** Lines, each with its `\n`; the head first. */
export function renderTree(
  trace: Trace,
  { width, paint = (_, text) => text }: Drawing = {},
): string {
  const lines = linesOf(trace.processes);
  const failed = lines.map(({ process }) => process !== undefined && hasFailed(process.exit));
  const colour = (text: string, row: number): string =>
    failed[row] === true ? paint('red', text) : text;
  return table(
    [
      { title: 'PID', align: 'right' },
      { title: 'TIME', align: 'right' },
      { title: 'END', style: colour },
      { title: 'OUTPUT' },
      { title: 'COMMAND', style: colour },
    ],
    lines.map(({ process, text }) =>
      process === undefined
        ? ['', '', '', '', text]
        : [String(process.pid), durationText(process), endText(process), bytesText(process), text],
    ),
    { ...(width !== undefined && { width }), styleHead: (text) => paint('dim', text) },
  );
}

type Line = {
  /** Undefined for a further program of the same process. */
  readonly process: TracedProcess | undefined;
  readonly text: string;
};

/** `processes` are in the order of the tree. */
function linesOf(processes: readonly TracedProcess[]): Line[] {
  const last = new Map<number | undefined, number>();
  for (const { parent, id } of processes) last.set(parent, id);
  const lines: Line[] = [];
  /** The lines in front of the children of each process, and its directory. */
  const below: { readonly rails: string; readonly cwd: string }[] = [];
  for (const process of processes) {
    const { id, parent, depth } = process;
    const { rails, cwd } = (parent === undefined ? undefined : below[parent]) ?? NOTHING;
    const isLast = last.get(parent) === id;
    const deep = depth > DEPTH_MAX;
    const branch = parent === undefined ? '' : isLast ? '└─ ' : '├─ ';
    const [first, ...others] = process.images;
    const level = deep ? `(${depth}) ` : '';
    const command = withCwd(commandText(process, first), first?.cwd ?? '', cwd);
    lines.push({ process, text: rails + branch + level + command });
    const own = deep || parent === undefined ? rails : rails + (isLast ? '   ' : '│  ');
    let here = first?.cwd || cwd;
    for (const image of others) {
      const rail = last.has(id) ? '│  ' : '   ';
      const words = withCwd(argvText(image), image.cwd, here);
      lines.push({ process: undefined, text: `${own}${rail}→ ${words}` });
      here = image.cwd || here;
    }
    below[id] = { rails: own, cwd: here };
  }
  return lines;
}

/** Where it works, if that is somewhere else. */
function withCwd(words: string, cwd: string, before: string): string {
  return cwd === '' || cwd === before ? words : `${words}  [${cwd}]`;
}

function endText({ exit, endNs }: TracedProcess): string {
  return exit.kind === 'unknown' && endNs === undefined ? '' : exitText(exit);
}

function bytesText({ bytes }: TracedProcess): string {
  return (Object.keys(STREAMS) as (keyof typeof STREAMS)[])
    .filter((stream) => bytes[stream] > 0)
    .map((stream) => `${STREAMS[stream]} ${formatSize(bytes[stream])}`)
    .join(', ');
}
