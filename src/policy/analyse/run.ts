// What one analysis carries along: the units and problems it found, and where the text stands that
// it is looking at. Nothing that depends on the order of execution is here; that is the state.

import { forEachChild, type ParsedScript, type SyntaxNode } from '../../text/shell-tree.ts';
import type {
  AnalyseOptions,
  Assigned,
  Problem,
  ProblemCode,
  Span,
  Unit,
  UnitRedirect,
} from '../unit.ts';
import type { State } from './state.ts';

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
  readonly activation: (script: string) => boolean;
  readonly units: Unit[] = [];
  readonly problems: Problem[] = [];
  readonly unread: string[] = [];
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
  /** Where the units of functions and traps are, which get the input of their caller. */
  readonly bodies: { readonly from: number; readonly to: number }[] = [];
  /** A caller has an input that may be code, or the shell itself got one. */
  fed = false;
  /** Words that braces made. */
  braced = 0;
  #opened = 0;

  constructor({ home, activation = () => false }: Omit<AnalyseOptions, 'cwd'>) {
    this.home = home;
    this.activation = activation;
  }

  /** What runs later, with the input of then: `visit` walks through it. */
  body(visit: () => void): void {
    const from = this.units.length;
    visit();
    this.bodies.push({ from, to: this.units.length });
  }

  /** All units; those of a body with the input that a caller may give them. */
  get found(): readonly Unit[] {
    if (!this.fed) return this.units;
    return this.units.map((unit, at) => {
      const inside = this.bodies.some(({ from, to }) => at >= from && at < to);
      return inside && unit.stdin === 'inherited' ? { ...unit, stdin: 'pipe' } : unit;
    });
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

/** The parts of the analysis that walk through scripts and read texts, for one another. */
export type Walker = {
  readonly run: Run;
  /** In this state, which is changed as the script changes it. */
  script(script: ParsedScript, place: Place, state: State): void;
  /** Text that is executed: checked like the command itself, then walked. */
  text(text: string, place: Place, state: State): void;
};

/** What never changes, whatever runs when. */
export type Steady = {
  readonly home: boolean;
  readonly directory: boolean;
  readonly splits: boolean;
  readonly cdPath: boolean;
};

const ALL_STEADY: Steady = { home: true, directory: true, splits: true, cdPath: true };

/** Quotes inside of names do not hide them. */
export function steadyIn(text: string, before: Steady): Steady {
  const bare = text.replace(/\\\n|['"\\]/g, '');
  return {
    home: before.home && !/(?<!\$|\$\{)\bHOME\b/.test(bare),
    directory:
      before.directory && !/\b(?:cd|pushd|popd|eval|source|trap)\b|(?:^|[\s;&|({])\.\s/.test(bare),
    splits: before.splits && !/\bIFS\b/.test(bare),
    cdPath: before.cdPath && !/\bCDPATH\b/.test(bare),
  };
}

export function sameSteady(a: Steady, b: Steady): boolean {
  return (
    a.home === b.home &&
    a.directory === b.directory &&
    a.splits === b.splits &&
    a.cdPath === b.cdPath
  );
}

/** Wherever they are defined: a loop may call what stands behind the call. */
export function functionsIn(text: string, script: ParsedScript): readonly string[] {
  if (!/\(|function/.test(text.replaceAll('\\\n', ''))) return [];
  const names: string[] = [];
  const stack: SyntaxNode[] = [script];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node.type === 'Function') names.push(node.name.value);
    forEachChild(node, (child) => stack.push(child));
  }
  return names.reverse(); // the stack has them backwards
}
