// The parts of a command before it runs, as far as its text tells: units, each one simple command
// that could be executed, with its words as the program would get them. Nothing here decides.

/** UTF-16 offsets into the text: `text.slice(from, to)`. */
export type Span = { readonly from: number; readonly to: number };

/** One word of a command line, as the program will get it. */
export type Arg = {
  /** As it is written. */
  readonly source: string;
  /** Undefined for what is not in the text itself: inside `bash -c '...'`, or made by a wrapper. */
  readonly span: Span | undefined;
} & (
  | { readonly kind: 'literal'; readonly value: string }
  /** Names of files that match `pattern` (as for fnmatch, quoted parts escaped), or itself. */
  | { readonly kind: 'glob'; readonly pattern: string; readonly prefix: string }
  /**
   * Not known, but that it begins with `prefix`. `one`: it is exactly one argument. `each`: however
   * many it is, all of them begin so. `found`: files that `find` finds.
   */
  | {
      readonly kind: 'unknown';
      readonly prefix: string;
      readonly one: boolean;
      readonly each?: true;
      readonly found?: FindNames;
      readonly shape?: Shape;
    }
);

/** The known text around an unknown part: `a$x.b` is `a*.b`, or `a.b` if `$x` is empty. */
export type Shape = { readonly open: string; readonly shut: string };

/** By which names `find` looks for files. */
export type FindNames = {
  readonly names: readonly string[];
  /** Each of the files has one of them. */
  readonly narrowed: boolean;
};

/** A variable that the program gets, or that the shell has from here on. */
export type Assigned = {
  readonly name: string;
  /** Undefined when it is not known. */
  readonly value: string | undefined;
  readonly span: Span | undefined;
  /** `prefix`: for this command alone. `shell`: `A=1` alone. `export`: for all that follow. */
  readonly how: 'prefix' | 'shell' | 'export';
};

export type UnitRedirect = {
  /** The effect on the file; `text` is a here-document or here-string, `dup` is `2>&1`. */
  readonly effect: 'read' | 'write' | 'append' | 'readwrite' | 'dup' | 'text';
  readonly operator: string;
  /** Undefined for `dup` and `text`. */
  readonly target: Arg | undefined;
  readonly span: Span | undefined;
};

export type Unit = {
  readonly span: Span | undefined;
  /** Empty for assignments or redirections alone. `argv[0]` may be unknown. */
  readonly argv: readonly Arg[];
  readonly assigned: readonly Assigned[];
  /** Its own, and those of the groups and loops around it. */
  readonly redirects: readonly UnitRedirect[];
  /** The directories it may run in, absolute; undefined when that is not known. */
  readonly cwds: readonly string[] | undefined;
  readonly stdin: 'inherited' | 'pipe' | 'file' | 'text' | 'closed';
  /** Wrappers that were opened to get to it, outermost first: `timeout`, `xargs`, `bash -c`. */
  readonly via: readonly string[];
  /**
   * It is behind something that needs a rule of its own (`sudo`, `ssh`, `watch`), which is a unit
   * too: here it can only be denied.
   */
  readonly behind: string | undefined;
};

/** Why the text cannot be judged by what it says. */
export type Problem = {
  readonly code: ProblemCode;
  readonly span: Span | undefined;
  /** A clause for people: "`${!x}` names a variable by another". */
  readonly message: string;
};

export type ProblemCode =
  | 'parse_error'
  | 'nul'
  | 'too_long'
  | 'too_deep'
  | 'too_many'
  | 'hidden_substitution'
  | 'transformation'
  | 'indirection'
  | 'arithmetic'
  | 'subscript'
  | 'process_substitution'
  | 'heredoc_in_substitution'
  | 'syntax_option';

export type Analysis = {
  readonly text: string;
  readonly units: readonly Unit[];
  /** Functions that the text defines; their commands are among the units. */
  readonly functions: readonly { readonly name: string; readonly span: Span | undefined }[];
  /** None: every command that bash would execute is among the units. */
  readonly problems: readonly Problem[];
  /** Scripts inside of it that are only known when it runs, as they are written: `$x/bin/rm y`. */
  readonly unread: readonly string[];
};

export type AnalyseOptions = {
  /** Absolute. */
  readonly cwd: string;
  readonly home: string;
  /** Whether a file is a script of which is known that it only puts other programs first. */
  readonly activation?: (script: string) => boolean;
};
