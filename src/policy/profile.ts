// The profile of a program: which of its words run code, write, delete, configure, reach the
// network or name a file. The notation is made for people who read a manual page beside it.
//
// `options`: words apart by white space, each `NAMES[VALUE][!EFFECT]`.
//   NAMES   `-n` or `--lines` or both with a comma: `-n,--lines`
//   VALUE   `:role` it has a value (`-n5`, `-n 5`, `--lines=5`, `--lines 5`)
//           `?role` it may have one, joined (`-i.bak`, `--color=auto`)
//   EFFECT  what the option itself does: `--textconv!exec`, `-i?word!write`
// `operands`: roles in order, the last of them may end in `*` (any number) or `?` (may be missing).
// `deeds`: calls apart by `;`, each the first operands in order, options in any: `down --volumes`,
//   `restore !--staged` (without it), `api --method=DELETE`. `*` stands for a part of a word, `**`
//   for any number of words.

import type { DeedKind } from './deed-kinds.ts';

/** An effect of an argument besides those that the program has anyway. */
export type Effect = 'exec' | 'write' | 'delete' | 'config' | 'net' | 'secret';

/** The effect of a program or subcommand with harmless arguments. */
export type Kind = 'read' | 'write' | 'delete' | 'exec' | 'net' | 'config';

/** The meaning of a word. `write`, `delete`, `exec`, `config` and `net` have that effect. */
export type Role =
  | 'word' // inert: a pattern, a message, a name
  | 'int'
  | 'rev' // of git: a branch, a tag, a range
  | 'path' // a file that is read
  | 'output' // a file or directory that the program is there to write: `mkdir`, `touch`, `cp`
  | 'url'
  | 'package' // from a registry, by its name; a path, a url or a `git+` is `exec`
  | 'script' // a name in the project's own build file: a target, an npm script
  | 'program' // the rest of the line is a command line of its own
  | 'sed'
  | 'awk'
  | 'filter' // a pattern for the names of files, of which none is meant by it alone
  | 'sql'
  | 'assignment' // NAME=value that the program obeys
  | 'write'
  | 'delete'
  | 'exec'
  | 'config'
  | 'net';

/** `fetches`: it prints or writes what a server answers; `decodes`: what no reader can read. */
export type DeedMark = `${DeedKind} ${1 | 2 | 3}` | 'fetches' | 'decodes';

/** Calls of a program that deserve a look, by what they did and how much it matters. */
export type Deeds = Readonly<Partial<Record<DeedMark, string>>>;

export type Profile = {
  readonly kind: Kind;
  readonly options?: string;
  readonly operands?: string;
  /** Other operands when one of these options is there: `{ '-e': 'path*' }` for grep. */
  readonly operandsWith?: Readonly<Record<string, string>>;
  /**
   * How options are written. `gnu` (default): clusters, long options may be shortened, also behind
   * operands. `exact`: the same, never shortened. `go`: `-name`, `--name`, `-name=v`, no clusters.
   * `first`: like exact, and the first operand ends the options. `none`: every word is an operand.
   */
  readonly style?: 'gnu' | 'exact' | 'go' | 'first' | 'none';
  /** The first operand ends the options in the other styles, too. */
  readonly ends?: true;
  /** By name; the options above are then those in front of it. */
  readonly subcommands?: Readonly<Record<string, Profile>>;
  /** As a subcommand it does what the program does without one: `vitest run`. */
  readonly alike?: true;
  /** Without a subcommand (`git`, `npm`). Undefined: it is as `kind` says. */
  readonly bare?: Kind;
  /** With no more operands than these it is `bare`, too: `git config user.name` only asks. */
  readonly asks?: number;
  /** Its words are read in a way of their own. */
  readonly own?: 'find' | 'tar' | 'sqlite';
  /** The role of the words behind `--`, which are for another program. */
  readonly behindDashes?: Role;
  /** Of a program, not of its subcommands. Nothing is decided by it. */
  readonly deeds?: Deeds;
};

/**
 * `steers`: it does nothing but steer the script it is in, and needs no rule. `declares`: nor does
 * this one, if it only names variables. `opaque`: it runs a command as another user, on another
 * machine or unseen, so it needs its own rule. `finds-programs`: it prints where a program is, for
 * another command to use. `shows-environment`: it prints variables. `manager`: it runs scripts of
 * node packages. `gnu`: as `gsed`, the tool of GNU has a name of its own. `versioned`: as
 * `python3.12`, a version may be in the name. `filter`: without a file it reads nothing but its
 * input, which is data. `makes-files`: it is used to make files. `program`: nothing but that there
 * is one.
 */
export const TRAITS = [
  ...(['steers', 'declares', 'opaque', 'finds-programs', 'shows-environment'] as const),
  ...(['manager', 'gnu', 'versioned', 'filter', 'makes-files', 'program'] as const),
] as const;
export type Trait = (typeof TRAITS)[number];

/** Which input is data, whatever its words are; of everything else it may run it. */
type InputUses = {
  /** With these subcommands. */
  readonly data?: string;
  /** With one of these options it has a text of its own, and starts no editor. */
  readonly given?: string;
  /** With one of these it asks, and one of the answers may start an editor. */
  readonly asks?: string;
};

/** What else is known of a program; in the same record. */
export type Facts = {
  /** The group in which `generate` puts its rules. */
  readonly family?: string;
  readonly traits?: readonly Trait[];
  /** `code`: it runs what it reads. */
  readonly input?: 'data' | 'code' | InputUses;
  /**
   * It runs scripts. Its options with a value, and by their effect those whose value is the `code`
   * or the `module` that it runs, and those with which it `reads` code from its input all the same.
   */
  readonly interpreter?: string;
  /** A rule about that program is about this one, too. */
  readonly of?: string;
  /** It is that program under another name. */
  readonly readsAs?: string;
  /** Names of subcommands that stand for others: `i` for `install`. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Subcommands of which the beginning is enough. */
  readonly shortened?: string;
  /** Subcommands in other words: `ps` is `container ls`. */
  readonly sameAs?: Readonly<Record<string, string>>;
  /** The files by which it knows what to run; `of:npm` stands for those of npm. */
  readonly manifests?: string;
  /** `yes`: it writes, and makes no links of what it is given; or the subcommands that do not. */
  readonly makesNoLinks?: string;
  /** When it takes lines that were typed for the shell: always, or when it is given no file. */
  readonly takesLines?: 'always' | 'without-a-word' | 'without-two-words';
  /** Of a program without a profile: to a policy its words may mean anything. */
  readonly deeds?: Deeds;
};

export type Part = {
  /** Which word of argv it is in; several parts may be in one. */
  readonly index: number;
  readonly role: Role | 'option';
  /** The option it is, or belongs to, by its longest name. */
  readonly option: string | undefined;
  /** The text to judge: the word, or its part behind `=`. Undefined when it is not known. */
  readonly value: string | undefined;
  /** Its known beginning, when `value` is not known; a glob's directory, too. */
  readonly prefix: string;
  readonly effect: Effect | 'unknown' | undefined;
  /** A clause: "`-o` writes a file". */
  readonly why: string | undefined;
};

/** A command line read with its profile. */
export type Call = {
  readonly kind: Kind;
  /** Where in argv the subcommands are. */
  readonly subcommands: readonly number[];
  /** Those of them that change nothing about what is done. */
  readonly alike: readonly number[];
  /** In the order of argv. The program itself is none. */
  readonly parts: readonly Part[];
  /** Where a command line of its own begins: `npx tsc`, `uv run pytest`. */
  readonly inner: number | undefined;
  /** Whether no option of it has an effect: an unknown word can do no harm but by its path. */
  readonly harmless: boolean;
};
