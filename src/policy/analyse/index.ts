// Takes a command apart before it runs: every simple command that bash could execute, with its
// words as the program would get them, or a problem that says why that cannot be told. Pure,
// bounded, and it never throws.

import { cheapToParse, type ParsedScript, parse } from '../../text/shell-tree.ts';
import type { AnalyseOptions, Analysis, Arg } from '../unit.ts';
import { after } from './ends.ts';
import { functionsIn, type Place, Run, Stop, sameSteady, steadyIn, type Walker } from './run.ts';
import { checkOpeners } from './scanner.ts';
import { State } from './state.ts';
import { Walk } from './walk.ts';
import { peel } from './wrappers.ts';

const BYTES_MAX = 65_536;
const BROKEN_LENGTH_MAX = 4_096;
const WRAPPERS_MAX = 8;

export function analyse(text: string, options: AnalyseOptions): Analysis {
  const run = new Run(options);
  const state = new State([options.cwd], [['HOME', [options.home]]], new Set(['HOME']));
  try {
    new Analyser(run).text(text, topOf(text), state);
    finish(run);
  } catch (error) {
    // The parser and the walk recurse: a text that is nested too deeply ends in a RangeError.
    if (!(error instanceof Stop)) run.problem('too_deep', undefined, 'it is nested too deeply');
  }
  return {
    text,
    units: run.found,
    functions: [...run.functions].map(([name, span]) => ({ name, span })),
    problems: run.problems,
    unread: run.unread,
  };
}

/** Wrappers taken off a command line, as far as they are understood. */
export function openWrappers(argv: readonly Arg[]): {
  via: readonly string[];
  argv: readonly Arg[];
} {
  const via: string[] = [];
  let inner = argv;
  let inShell = true;
  while (via.length < WRAPPERS_MAX) {
    const peeled = peel(inner, inShell);
    if (peeled === undefined) break;
    via.push(peeled.name);
    inner = peeled.argv;
    inShell &&= peeled.inShell;
  }
  return { via, argv: inner };
}

function topOf(text: string): Place {
  return {
    frame: { source: text, inPlace: true, depth: 0, via: [], behind: undefined },
    redirects: [],
    assigned: [],
    stdin: 'inherited',
    nesting: 0,
    substituted: 'no',
  };
}

class Analyser implements Walker {
  readonly run: Run;
  readonly #walk: Walk;

  constructor(run: Run) {
    this.run = run;
    this.#walk = new Walk(this);
  }

  text(text: string, place: Place, state: State): void {
    const { run } = this;
    if (!readable(text, run)) return;
    const script = parse(text);
    // Units are still of use in what cannot be read, but not at any price.
    const broken = (script.errors?.length ?? 0) > 0 && text.length > BROKEN_LENGTH_MAX;
    this.#walk.errors(script, place); // first of all that may be said about it
    if (!checkOpeners(text, script, place, run, broken) || broken) {
      if (broken) run.problem('parse_error', undefined, 'it cannot be read');
      if (text.length > BROKEN_LENGTH_MAX) return;
    }
    if (/(?<!\\)(?:\\\\)*\\$/.test(text)) {
      run.problem('parse_error', undefined, 'it ends with a backslash');
    }
    run.manyLines ||= text.trimEnd().includes('\n');
    const before = run.steady;
    run.steady = steadyIn(text, before);
    if (place.frame.depth > 0 && !sameSteady(before, run.steady)) {
      run.problem('indirection', undefined, 'what it changes is hidden by how it is written');
    }
    if (run.steady.splits === false) run.splitsUnknown = true;
    if (!run.steady.cdPath) run.cdPath = true;
    for (const name of functionsIn(text, script)) {
      if (!run.functions.has(name)) run.functions.set(name, undefined);
    }
    this.script(script, place, state);
  }

  script(script: ParsedScript, place: Place, state: State): void {
    const end = after(this.#walk.script(script, place, state));
    if (end === undefined) state.forget();
    else if (end !== state) state.become(end);
  }
}

function readable(text: string, run: Run): boolean {
  const before = run.problems.length;
  if (text.includes('\0')) run.problem('nul', undefined, 'it has a NUL byte in it');
  if (/\p{Surrogate}/u.test(text)) {
    run.problem('parse_error', undefined, 'it has half a character in it');
  }
  // Bash marks with these what is quoted, and takes those in the text for its own now and then.
  if (/[\u0001\u007f]/.test(text)) {
    run.problem('parse_error', undefined, 'it has a control character in it');
  }
  if (text.length > BYTES_MAX || Buffer.byteLength(text) > BYTES_MAX) {
    run.problem('too_long', undefined, 'it is longer than 64 KiB');
  } else if (!cheapToParse(text)) {
    run.problem('too_deep', undefined, 'it has too many braces to be read');
  }
  return run.problems.length === before;
}

/** What can only be said when all of it was seen. */
function finish(run: Run): void {
  if (run.unseen.size > 0) {
    const message = 'a substitution stands where none is looked for';
    run.problem('hidden_substitution', undefined, message);
  }
  for (const name of run.countedOn) {
    if (run.assigned.has(name)) {
      run.problem('arithmetic', undefined, `\`${name}\` is not counted by the shell any more`);
    }
  }
  const matters = run.assigned.size > 0 || !run.steady.directory;
  if (run.discards && run.manyLines && matters) {
    run.problem('arithmetic', undefined, 'an error in it could skip a part of it');
  }
  if (run.latentCode && run.evaluates !== undefined) {
    const { span } = run.evaluates;
    run.problem('arithmetic', span, 'a variable is evaluated, and quoted text could be code');
  }
}
