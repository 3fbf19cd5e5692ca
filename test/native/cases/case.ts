// What a hard case says about itself: a command, and every process that takes part in it with its
// words, its end and the lines that it wrote. `$B` is the directory of the programs and `$W` a new
// working directory; both are variables of the command and are filled in everywhere else.

export type Words = readonly string[];

export type Expected = {
  readonly argv: Words | RegExp;
  /** Its exit code or signal. `becomes`: it goes on as another program, which has its own row. */
  readonly end: number | string;
  /** Whole lines, of both streams. A line with `pid=N` must also come from process N. */
  readonly wrote: readonly (string | RegExp)[];
  readonly times: number;
  /** It has the words of the process that forked it, because it never started a program. */
  readonly forked: boolean;
  /** Words of another program that it was before: its end may be known by those. */
  readonly before?: RegExp;
  /** What cannot be known here, and why. It counts as unknown all the same. */
  readonly never: { readonly start?: string; readonly end?: string };
};

export type Case = {
  readonly name: string;
  /** Text for `bash -c`, or the words themselves. */
  readonly command: string | Words;
  readonly processes: readonly Expected[];
  /** Lines that bash itself writes, where it is the root. */
  readonly wrote?: readonly (string | RegExp)[];
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** What goes on below its static programs is known only where the runner may follow them. */
  readonly followed?: boolean;
  /** Programs on the PATH, `root`, or `follows`. Programs of ours are seen by `$B/`. */
  readonly needs?: readonly string[];
  /** Several processes write at once: only the set of lines is the same in two runs. */
  readonly unordered?: boolean;
  /** What differs between two bare runs as well. */
  readonly masks?: readonly RegExp[];
  /** Its writers are dynamic programs: run on a terminal as well. */
  readonly pty?: boolean;
  /** Bytes that stay unattributed on a terminal, and why. */
  readonly ptyLacks?: string;
};

type More = Partial<Pick<Expected, 'times' | 'forked' | 'never' | 'before'>>;

/** A process: words as text (split at spaces) or as a list, its end, its lines. */
export function ran(
  words: string | Words | RegExp,
  end: number | string,
  wrote: readonly (string | RegExp)[] = [],
  more: More = {},
): Expected {
  const argv = typeof words === 'string' ? words.split(' ') : words;
  return { argv, end, wrote, times: 1, forked: false, never: {}, ...more };
}

/** A child without a program of its own. */
export function forked(
  end: number | string,
  wrote: readonly (string | RegExp)[] = [],
  more: More = {},
): Expected {
  return ran([], end, wrote, { forked: true, ...more });
}

export function argvOf({ command }: Case): Words {
  return typeof command === 'string' ? ['bash', '-c', command] : command;
}
