// Holds what a trace says about a run against what the case knows to be true: every program with
// its words, every end, and for every byte the process that wrote it.
import { argvOf, type Case, type Expected, ran } from './case.ts';
import { type Capture, filled, type Place, type World } from './runs.ts';

type Seen = {
  readonly pid: number;
  readonly images: readonly SeenImage[];
  /** `exit N`, `signal NAME`, or nothing known. */
  readonly end: string | undefined;
};

type SeenImage = {
  readonly argv: readonly string[];
  /** How many words there were; `argv` has the first of them. */
  readonly args: number;
  readonly cut: boolean;
  /** It is the program of the parent: the process was forked and has started none. */
  readonly inherited: boolean;
};

export type Known = {
  readonly processes: readonly Seen[];
  /** The process that wrote the byte at this offset of the capture, or -1. */
  readonly writers: Int32Array;
};

export type Tally = { known: number; all: number };

export type Score = {
  readonly starts: Tally;
  readonly ends: Tally;
  readonly bytes: Tally;
  wrong: number;
  /** What is not known or wrong, in words; where a case says that it cannot be, with its reason. */
  readonly misses: string[];
  readonly excused: string[];
};

/** `process` is the one with its words, `was` the one that was another program before. */
type Row = Expected & { process: number; was: number };

export function judge(
  world: World,
  one: Case,
  place: Place,
  end: string,
  capture: Capture,
  known: Known,
): Score {
  const rows = rowsOf(world, one, place, end);
  const score: Score = {
    starts: { known: 0, all: 0 },
    ends: { known: 0, all: 0 },
    bytes: { known: 0, all: 0 },
    wrong: 0,
    misses: [],
    excused: [],
  };
  match(rows, known);
  matchBefore(rows, known);
  for (const row of rows) count(row, known, score);
  const onTerminal = capture.chunks.some(({ channel }) => channel === 'pty');
  attribute(rows, capture, known, score, onTerminal ? one.ptyLacks : undefined);
  return score;
}

/** One row for each process and image there was, the root first. */
function rowsOf(world: World, one: Case, { work }: Place, end: string): Row[] {
  const fill = (text: string): string => filled(text, world, work);
  const root = ran(argvOf(one), end.replace(/^(exit|signal) /, ''), one.wrote ?? []);
  // The text of a shell has its variables in it as they were written.
  const rootArgv = typeof one.command === 'string' ? argvOf(one) : argvOf(one).map(fill);
  return [{ ...root, argv: rootArgv }, ...one.processes].flatMap((row, index) =>
    Array.from({ length: row.times }, () => ({
      ...row,
      argv: index > 0 && Array.isArray(row.argv) ? row.argv.map(fill) : row.argv,
      wrote: row.wrote.map((line) => (typeof line === 'string' ? fill(line) : line)),
      process: -1,
      was: -1,
    })),
  );
}

function match(rows: Row[], { processes }: Known): void {
  const used = new Set<string>();
  const taken = new Set<number>();
  const take = (row: Row, strict: boolean): void => {
    for (const [index, process] of processes.entries()) {
      if (strict && row.end !== 'becomes' && !endsAs(process.end, row.end)) continue;
      const image = row.forked
        ? Number(isForked(process) && !taken.has(index)) - 1
        : process.images.findIndex((one, at) => !used.has(`${index}:${at}`) && fits(row, one));
      if (image < 0) continue;
      row.process = index;
      used.add(`${index}:${image}`);
      taken.add(index);
      return;
    }
  };
  for (const forked of [false, true]) {
    for (const strict of [true, false]) {
      for (const row of rows) if (row.forked === forked && row.process < 0) take(row, strict);
    }
  }
}

/** Its program is not known, but the process is. */
function matchBefore(rows: readonly Row[], { processes }: Known): void {
  const taken = new Set(rows.map(({ process }) => process));
  for (const row of rows) {
    const { before } = row;
    if (row.process >= 0 || before === undefined) continue;
    const fitting = ({ images, end }: Seen): boolean =>
      before.test(images.at(-1)?.argv.join(' ') ?? '') && endsAs(end, row.end);
    row.was = processes.findIndex((one, index) => !taken.has(index) && fitting(one));
    taken.add(row.was);
  }
}

function isForked({ images }: Seen): boolean {
  return images.every((image) => image.inherited);
}

function fits({ argv }: Row, image: SeenImage): boolean {
  if (image.inherited) return false;
  if (argv instanceof RegExp) return argv.test(image.argv.join(' '));
  if (image.args !== argv.length) return false;
  if (!image.cut && image.argv.length !== argv.length) return false;
  return image.argv.every((word, at) =>
    image.cut ? (argv[at] ?? '').startsWith(word) : argv[at] === word,
  );
}

function endsAs(seen: string | undefined, end: number | string): boolean {
  return seen === `exit ${end}` || seen === `signal ${end}`;
}

function count(row: Row, { processes }: Known, score: Score): void {
  const name = row.forked ? 'a fork' : String(row.argv).slice(0, 100);
  const seen = processes[row.process];
  const miss = (what: string, reason: string | undefined): void => {
    if (reason === undefined) score.misses.push(`${what}: ${name}`);
    else score.excused.push(`${what}: ${name} (${reason})`);
  };
  score.starts.all += 1;
  if (seen !== undefined) score.starts.known += 1;
  else miss('start', row.never.start);
  if (row.end === 'becomes') return;
  score.ends.all += 1;
  if (endsAs((seen ?? processes[row.was])?.end, row.end)) score.ends.known += 1;
  else miss(`end ${row.end}, seen ${seen?.end}`, row.never.end ?? row.never.start);
}

/** Line by line: every line has its writers in the table, and every byte of it one in the trace. */
function attribute(
  rows: readonly Row[],
  capture: Capture,
  known: Known,
  score: Score,
  lacks: string | undefined,
): void {
  const lost: string[] = [];
  for (const channel of ['stdout', 'stderr', 'pty']) {
    const parts = capture.chunks.filter((chunk) => chunk.channel === channel);
    const bytes = Buffer.concat(
      parts.map(({ offset, length }) => capture.output.subarray(offset, offset + length)),
    );
    const writers = parts.flatMap(({ offset, length }) => [
      ...known.writers.subarray(offset, offset + length),
    ]);
    for (let from = 0; from < bytes.length; ) {
      const newline = bytes.indexOf(10, from);
      const to = newline < 0 ? bytes.length : newline + 1;
      const line = bytes.toString('latin1', from, newline < 0 ? to : newline).replace(/\r$/, '');
      const own = writers.slice(from, to);
      const before = score.bytes.known;
      attributeLine(rows, line, own, known, score);
      if (before + own.length > score.bytes.known) lost.push(line.slice(0, 60));
      from = to;
    }
  }
  if (lost.length === 0) return;
  const what = `${lost.length} lines by nobody, such as: ${lost[0]}`;
  if (lacks === undefined) score.misses.push(what);
  else score.excused.push(`${what} (${lacks})`);
}

function attributeLine(
  rows: readonly Row[],
  line: string,
  writers: readonly number[],
  { processes }: Known,
  score: Score,
): void {
  const owners = rows.filter(({ wrote }) =>
    wrote.some((text) => (typeof text === 'string' ? text === line : text.test(line))),
  );
  if (owners.length === 0) throw new Error(`the table has no writer of: ${JSON.stringify(line)}`);
  // Two forks of the same parent that end alike cannot be told apart by what the table says.
  const twins = rows.filter(
    (row) => row.forked && owners.some((own) => own.forked && own.end === row.end),
  );
  const right = new Set([...owners, ...twins].flatMap(({ process, was }) => [process, was]));
  if (owners.every(({ process, was }) => process >= 0 || was >= 0)) right.delete(-1);
  const others = new Set(rows.filter((row) => !right.has(row.process)).map((row) => row.process));
  const pid = /\bpid=(\d+)/.exec(line)?.[1];
  let wrong = 0;
  for (const writer of writers) {
    score.bytes.all += 1;
    // A pid without anything else is no more than a pid, where the process itself is known.
    const stranger = processes[writer]?.images.length === 0 && !right.has(-1);
    if (writer < 0 || (stranger && !right.has(writer))) continue;
    score.bytes.known += 1;
    // Of a process whose start is unknown it can only be said that it is none of the others.
    const fine = right.has(writer) || (right.has(-1) && !others.has(writer));
    const same = pid === undefined || processes[writer]?.pid === Number(pid);
    if (!fine || !same) wrong += 1;
  }
  if (wrong === 0) return;
  score.wrong += wrong;
  const by = processes[writers.find((writer) => writer >= 0) ?? -1];
  const words = by?.images.at(-1)?.argv.join(' ').slice(0, 100);
  score.misses.push(`${wrong} wrong bytes: ${line}, said to be by ${words}`);
}
