// What is known at one point of the execution: variables that can only have certain values, and the
// directories a command may run in. What is not here is unknown, so that losing something is
// always safe.

import type { Arg } from '../unit.ts';

/** Any integer, or one of these strings. */
export type Value = 'number' | readonly string[];

/** Names of files that match, as a loop over a pattern gets them, and where they are looked for. */
export type Glob = { readonly pattern: string; readonly prefix: string; readonly cwds: Cwds };

/** Less than a value: a number or nothing at all, or one of these, of which some are patterns. */
export type Hint = 'count' | readonly (string | Glob)[];

const VALUES_MAX = 8;
const VALUE_LENGTH_MAX = 4_096; // `x=$x$x` doubles
const VARIABLES_MAX = 256; // states are copied at every branch
const CWDS_MAX = 8;

/** What the shell itself makes of them is not what was assigned. */
const COUNTED = /^(?:S?RANDOM|SECONDS|LINENO|E?UID|PPID|GROUPS|EPOCH\w*|COLUMNS|LINES)$/;
const KEPT = /^(?:_|BASH\w*|DIRSTACK|FUNCNAME|HIST\w*|COMP_\w*|SHELLOPTS|PIPESTATUS|REPLY|COPROC)$/;
const USED = /^(?:OPT(?:IND|ARG|ERR)|(?:OLD)?PWD|MAPFILE|IFS|CDPATH)$/;

function isOwnName(name: string): boolean {
  return COUNTED.test(name) || KEPT.test(name) || USED.test(name);
}

export type Cwds = readonly string[] | undefined;

export class State {
  readonly #values: Map<string, Value>;
  readonly #hints = new Map<string, Hint>();
  readonly exported: Set<string>;
  cwds: Cwds;
  /** `$0`, `$1` ... of `bash -c`; undefined when they are not known. */
  positional: readonly Arg[] | undefined;
  /** `local` fails elsewhere. */
  inFunction = false;
  /** `set -a`: whatever is assigned is exported. */
  allExported = false;
  /** What `exec <file` made of the input. */
  stdin: 'file' | 'text' | 'closed' | undefined;

  constructor(
    cwds: Cwds,
    values?: Iterable<readonly [string, Value]>,
    exported?: ReadonlySet<string>,
  ) {
    this.#values = new Map(values);
    this.exported = new Set(exported);
    this.cwds = cwds;
  }

  copy(): State {
    const copy = new State(this.cwds, this.#values, this.exported);
    for (const [name, hint] of this.#hints) copy.#hints.set(name, hint);
    copy.positional = this.positional;
    copy.inFunction = this.inFunction;
    copy.allExported = this.allExported;
    copy.stdin = this.stdin;
    return copy;
  }

  become(other: State): void {
    this.#values.clear();
    for (const [name, value] of other.#values) this.#values.set(name, value);
    this.#hints.clear();
    for (const [name, hint] of other.#hints) this.#hints.set(name, hint);
    this.exported.clear();
    for (const name of other.exported) this.exported.add(name);
    this.cwds = other.cwds;
    this.positional = other.positional;
    this.allExported = other.allExported;
    this.stdin = other.stdin;
  }

  /** Undefined: it can be anything. */
  value(name: string): Value | undefined {
    return this.#values.get(name);
  }

  /** Of names that have no value. */
  hint(name: string): Hint | undefined {
    return this.#hints.get(name);
  }

  setHint(name: string, hint: Hint): void {
    const few = hint === 'count' || hint.length <= VALUES_MAX;
    if (few && !isOwnName(name) && this.#hints.size < VARIABLES_MAX) this.#hints.set(name, hint);
  }

  set(name: string, value: Value | undefined): void {
    this.#hints.delete(name);
    const kept = value === undefined || isOwnName(name) ? undefined : bounded(value);
    if (kept === undefined) this.#values.delete(name);
    else if (this.#values.has(name) || this.#values.size < VARIABLES_MAX) {
      this.#values.set(name, kept);
    }
  }

  names(): readonly string[] {
    return [...this.#values.keys()];
  }

  /** Any of them may have been assigned. */
  forgetVariables(): void {
    this.#values.clear();
    this.#hints.clear();
  }

  /** Something ran that may have changed anything. */
  forget(): void {
    this.forgetVariables();
    this.cwds = undefined;
    this.positional = undefined;
  }

  /** The variables that another process gets. */
  inherited(): [string, Value][] {
    const kept: [string, Value][] = [];
    for (const [name, value] of this.#values) {
      if (this.exported.has(name)) kept.push([name, value]);
    }
    return kept;
  }

  /** It may be as it is, or as the other is. */
  join(other: State): void {
    if (other === this) return;
    for (const [name, value] of this.#values) {
      const joined = joinValues(value, other.#values.get(name));
      if (joined === undefined) this.#values.delete(name);
      else this.#values.set(name, joined);
    }
    for (const [name, hint] of this.#hints) {
      if (other.#hints.get(name) !== hint) this.#hints.delete(name);
    }
    for (const name of this.exported) if (!other.exported.has(name)) this.exported.delete(name);
    this.cwds = joinCwds(this.cwds, other.cwds);
    if (this.positional !== other.positional) this.positional = undefined;
    this.allExported ||= other.allExported;
    this.stdin ??= other.stdin;
  }
}

export function isInteger(text: string): boolean {
  return /^[+-]?(?:0|[1-9]\d{0,17})$/.test(text); // `08` is an error
}

function bounded(value: Value): Value | undefined {
  if (value === 'number') return value;
  if (value.length > VALUES_MAX) return value.every(isInteger) ? 'number' : undefined;
  return value.some(({ length }) => length > VALUE_LENGTH_MAX) ? undefined : value;
}

function joinValues(a: Value, b: Value | undefined): Value | undefined {
  if (a === b || b === undefined) return b;
  if (a === 'number' || b === 'number') {
    const other = a === 'number' ? b : a;
    return other !== 'number' && other.every(isInteger) ? 'number' : undefined;
  }
  return bounded([...new Set([...a, ...b])]);
}

function joinCwds(a: Cwds, b: Cwds): Cwds {
  if (a === b) return a;
  if (a === undefined || b === undefined) return undefined;
  const joined = [...new Set([...a, ...b])];
  return joined.length > CWDS_MAX ? undefined : joined;
}
