// The processes of a trace as a tree for a terminal, children below their parents: command line,
// time, end and size of the output. Failed ones stand out, equal siblings are one row.

import { argvText, commandText, programName } from './shown.ts';
import type { Trace, TracedProcess } from './trace.ts';
import { type Drawing, type ProcessRow, processTable } from './views/process-table.ts';
import { type Row, type RowChoice, rowsOf } from './views/rows.ts';
import { commonText } from './views/shape.ts';

export type TreeChoice = RowChoice & {
  /** Those that were asked for; others are there to show where they belong. */
  readonly matches?: ReadonlySet<number> | undefined;
};

// Further in, the level is told as a number: a chain of thousands would be wider than any terminal.
const DEPTH_MAX = 40;
const NOTHING = { rails: '', cwd: '' };

/** Lines, each with its `\n`; the head first. */
export function renderTree(
  trace: Pick<Trace, 'processes'>,
  drawing: Drawing = {},
  choice: TreeChoice = {},
): string {
  return processTable(linesOf(rowsOf(trace.processes, choice), choice), drawing);
}

function linesOf(rows: readonly Row[], { matches }: TreeChoice): ProcessRow[] {
  const lines: ProcessRow[] = [];
  /** The lines in front of the children of each row, and its directory. */
  const below: { readonly rails: string; readonly cwd: string }[] = [];
  for (const row of rows) {
    const { members, parent, depth, isLast, hasChildren } = row;
    const { rails, cwd } = (parent === undefined ? undefined : below[parent]) ?? NOTHING;
    const deep = depth > DEPTH_MAX;
    const branch = parent === undefined ? '' : isLast ? '└─ ' : '├─ ';
    const [first = { text: '', cwd: '' }, ...others] = programsOf(members);
    const level = deep ? `(${depth}) ` : '';
    const hidden = row.below > 0 ? `  (+ ${row.below} below)` : '';
    const command = withCwd(first.text, first.cwd, cwd) + hidden;
    const isContext = matches !== undefined && !members.some(({ id }) => matches.has(id));
    lines.push({ members, text: rails + branch + level + command, isContext });
    const own = deep || parent === undefined ? rails : rails + (isLast ? '   ' : '│  ');
    let here = first.cwd || cwd;
    for (const program of others) {
      const rail = hasChildren ? '│  ' : '   ';
      const words = withCwd(program.text, program.cwd, here);
      lines.push({ members: [], text: `${own}${rail}→ ${words}`, isContext });
      here = program.cwd || here;
    }
    below.push({ rails: own, cwd: here });
  }
  return lines;
}

type Program = { readonly text: string; readonly cwd: string };

/** What a row was, one after the other; equal processes were equally many programs. */
function programsOf(members: readonly TracedProcess[]): readonly Program[] {
  const [first] = members;
  if (first === undefined) return [];
  if (members.length > 1) return commonPrograms(members, first);
  const [image, ...others] = first.images;
  return [
    { text: commandText(first, image), cwd: image?.cwd ?? '' },
    ...others.map((other) => ({ text: argvText(other), cwd: other.cwd })),
  ];
}

function commonPrograms(members: readonly TracedProcess[], first: TracedProcess): Program[] {
  const own = first.images.map((image, i) => {
    const all = members.map(({ images }) => images[i] ?? image);
    const cwd = all.every((one) => one.cwd === image.cwd) ? image.cwd : '';
    return { text: commonText(all.map(({ argv }) => argv)) || argvText(image), cwd };
  });
  const isOwn = first.images[0]?.inherited === false;
  const [program = { text: '', cwd: '' }, ...others] = own;
  const name = isOwn ? program.text : programName(first);
  return [{ ...program, text: `x ${members.length} ${name}` }, ...others];
}

/** Where it works, if that is somewhere else. */
function withCwd(words: string, cwd: string, before: string): string {
  return cwd === '' || cwd === before ? words : `${words}  [${cwd}]`;
}
