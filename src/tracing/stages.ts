// Which processes are the stages of the command's pipelines. The text gives the stages; the
// processes, in order of start, either fit or not. If that is uncertain, there is no answer.

import { baseName } from '../text/base-name.ts';
import { mayChangeDirectory } from '../text/shell-facts.ts';
import { type Pipeline, parseShell, type SimpleCommand, type Stage } from '../text/shell-parse.ts';
import { noticesTrap } from '../text/shell-traps.ts';
import type { Image, Process } from '../trace/processes/process.ts';

export type Place = {
  /** From 1. */
  readonly stage: number;
  readonly of: number;
  /** Belongs to the pipeline that the command ends with. */
  readonly ending: boolean;
  /** As written; undefined for groups and the like. */
  readonly text: string | undefined;
  /** Its first word; undefined if it is known only at run time. */
  readonly program: string | undefined;
};

const PIDS_APART_MAX = 16_384; // further apart, the pids have wrapped around in between

export function pipelinePlaces(
  processes: readonly Process[],
  command: string,
): ReadonlyMap<Process, Place> {
  const places = new Map<Process, Place>();
  const [root] = processes;
  const { ok, pipelines } = command.includes('|') ? parseShell(command) : NOTHING;
  // After an exec the root's children are those of another program.
  if (root === undefined || !ok || root.images.length !== 1) return places;
  const children = inOrder(processes.filter(({ parent }) => parent === root.id));
  const last = pipelines.at(-1);
  if (last !== undefined && !last.background && last.stages.length > 1) {
    const tail = children.slice(-last.stages.length);
    if (isPipeline(last, tail, command)) put(places, last, tail, command, true);
  }
  for (const pipeline of pipelines) {
    if (pipeline.stages.length < 2 || (pipeline === last && places.size > 0)) continue;
    const rest = children.filter((child) => !places.has(child));
    const found = pipeline.stages.map((stage) => rest.find((child) => isExactly(stage, child)));
    put(places, pipeline, found, command, false);
  }
  return places;
}

const NOTHING: Pick<ReturnType<typeof parseShell>, 'ok' | 'pipelines'> = {
  ok: false,
  pipelines: [],
};

/** In the order of forking: their frames come in any order. */
function inOrder(children: readonly Process[]): Process[] {
  const pids = children.map(({ pid }) => pid);
  const apart = Math.max(...pids) - Math.min(...pids);
  return apart > PIDS_APART_MAX ? [...children] : [...children].sort((a, b) => a.pid - b.pid);
}

function put(
  places: Map<Process, Place>,
  { stages }: Pipeline,
  found: readonly (Process | undefined)[],
  command: string,
  ending: boolean,
): void {
  for (const [index, stage] of stages.entries()) {
    const process = found[index];
    if (process === undefined) continue;
    const { span, words = [] } = stage.kind === 'simple' ? stage.command : {};
    const text = span && command.slice(span.from, span.to);
    const program = words[0]?.literal;
    places.set(process, { stage: index + 1, of: stages.length, ending, text, program });
  }
}

// With these, another pipeline may have run last.
const UNSURE = /&&|\|\||\b(set|exit)\b/;

/** For such a command there may be no answer about its stages. */
export function stagesUnsure(command: string): boolean {
  return UNSURE.test(command);
}

function isPipeline({ stages }: Pipeline, tail: readonly Process[], command: string): boolean {
  if (tail.length !== stages.length) return false;
  const fits = stages.map((stage, i) => likeness(stage, tail[i]));
  // A trap, too, may run last: one of the command, or the one a dialect sets to learn the
  // directory.
  const trapped = noticesTrap(command) || mayChangeDirectory(command);
  const proven = !stagesUnsure(command) && !trapped;
  return !fits.includes('no') && (proven || fits.includes('yes'));
}

/** `maybe`: a builtin, a function or a group runs in a copy of the shell, under any name. */
function likeness(stage: Stage, process: Process | undefined): 'yes' | 'maybe' | 'no' {
  const name = stage.kind === 'simple' ? stage.command.words[0]?.literal : undefined;
  const image = process && ownImage(process);
  if (name === undefined || image === undefined || PREFIXES.has(name)) return 'maybe';
  // The interpreter of a script precedes it in argv.
  const named = image.argv.slice(0, 3).some((word) => baseName(word) === baseName(name));
  return named ? 'yes' : 'no';
}

const PREFIXES = new Set(['builtin', 'command', 'exec', 'time', '.', 'source', 'eval']);

function isExactly(stage: Stage, process: Process): boolean {
  const image = ownImage(process);
  if (stage.kind !== 'simple' || image === undefined) return false;
  return sameWords(stage.command, image);
}

function sameWords({ words }: SimpleCommand, { argv }: Image): boolean {
  if (words.length !== argv.length) return false;
  return words.every(({ literal }, i) =>
    i === 0
      ? literal !== undefined && baseName(literal) === baseName(argv[0] ?? '')
      : literal === undefined || literal === argv[i],
  );
}

/** The first program it became by exec. */
function ownImage({ images, forkedFrom }: Process): Image | undefined {
  return forkedFrom === undefined ? images.find(({ inherited }) => !inherited) : undefined;
}
