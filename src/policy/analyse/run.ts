// What one analysis carries along: the units and problems it found, and where the text stands that
// it is looking at. Nothing that depends on the order of execution is here; that is the state.

import type { SyntaxNode } from '../../text/shell-tree.ts';
import type { Assigned, Problem, ProblemCode, Span, Unit, UnitRedirect } from '../unit.ts';
import { ALL_STEADY, type Steady } from './facts.ts';

/** Hostile texts repeat themselves; people and models do not write that many commands. */
const UNITS_MAX = 1_024;
const PROBLEMS_MAX = 64;
/** Texts of `bash -c`, `eval` and `trap`, each of which is read on its own. */
const OPENED_MAX = 256;

/** One text that is read: the command itself, or what stands in `bash -c '...'`. */
export type Frame = {
  /** What the offsets of its tree are offsets into. */
  readonly source: string;
  /** Whether those are offsets into the command itself. */
  readonly inPlace: boolean;
  /** How many wrappers were opened to get here. */
  readonly depth: number;
  readonly via: readonly string[];
  readonly behind: string | undefined;
};

export type Stdin = Unit['stdin'];

/** Where a command stands: what the groups, loops and pipelines around it give it. */
export type Place = {
  readonly frame: Frame;
  readonly redirects: readonly UnitRedirect[];
  /** Those of `A=1 bash -c '...'`, for everything in it. */
  readonly assigned: readonly Assigned[];
  readonly stdin: Stdin;
  /** Of compound commands and substitutions. */
  readonly nesting: number;
  /** In a substitution; `text`: in one that only says what its here-document says. */
  readonly substituted: 'no' | 'text' | 'code';
};

/** Nothing more is looked at: what there is to say is among the problems. */
export class Stop extends Error {}

export class Run {
  readonly home: string;
  readonly units: Unit[] = [];
  readonly problems: Problem[] = [];
  readonly functions = new Map<string, Span | undefined>();
  /** Every name that is assigned anywhere, and those that were taken for numbers of the shell. */
  readonly assigned = new Set<string>();
  readonly countedOn = new Set<string>();
  /** Substitutions that the scanner found and the walk has not visited yet. */
  readonly unseen = new Set<SyntaxNode>();
  /** What no text that was read so far changes. */
  steady: Steady = ALL_STEADY;
  /** `IFS` may not be what it is at the start. */
  splitsUnknown = false;
  /** `cd x` may go to another `x`. */
  cdPath = false;
  /** A trap or an unseen command may change variables and directory at any time. */
  volatile = false;
  /** Of names that may be read-only: an assignment to them may fail. */
  readonly untrusted = new Set<string>();
  /** An error may skip the rest of a line, and the next one is executed all the same. */
  discards = false;
  manyLines = false;
  /** Quoted text that would be code if it were evaluated, and places that evaluate variables. */
  latentCode = false;
  evaluates: { readonly span: Span | undefined } | undefined;
  /** Words that braces made. */
  braced = 0;
  #opened = 0;

  constructor(home: string) {
    this.home = home;
  }

  problem(code: ProblemCode, span: Span | undefined, message: string): void {
    if (this.problems.length >= PROBLEMS_MAX) return;
    const same = this.problems.some(
      (known) =>
        known.code === code && known.span?.from === span?.from && known.message === message,
    );
    if (!same) this.problems.push({ code, span, message });
  }

  unit(unit: Unit): void {
    if (this.units.length < UNITS_MAX) this.units.push(unit);
    else {
      this.problem('too_many', undefined, 'it has too many commands to look at');
      throw new Stop();
    }
  }

  /** Whether another text may be opened. */
  open(): boolean {
    this.#opened += 1;
    return this.#opened <= OPENED_MAX;
  }
}

export function spanIn(
  frame: Frame,
  node: { readonly pos: number; readonly end: number },
): Span | undefined {
  return frame.inPlace ? { from: node.pos, to: node.end } : undefined;
}
