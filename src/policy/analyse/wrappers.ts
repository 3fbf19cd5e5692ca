// Programs that do nothing but run the program behind them. `peel` takes one off; what remains is a
// command line of its own. A wrapper whose options are not understood is left as it is.

import type { Arg } from '../unit.ts';
import { peelEnv } from './env.ts';
import { readOptions, type Spec } from './options.ts';
import { peelXargs } from './xargs.ts';

export type Peeled = {
  /** What `via` says. */
  readonly name: string;
  readonly argv: readonly Arg[];
  /** It is still the shell that runs it: a builtin can be behind it. */
  readonly inShell: boolean;
  /** Variables that it gets besides; undefined values are not known. */
  readonly variables?: readonly { readonly name: string; readonly value: string | undefined }[];
  /** It gets nothing of the shell's variables. */
  readonly cleared?: boolean;
  readonly unset?: readonly string[];
  /** Where it runs, when that is somewhere else. */
  readonly directory?: Arg;
  /** A file that the wrapper reads. */
  readonly reads?: Arg;
};

/** Where programs of that name are what they are everywhere. */
const PLACES = /^(?:\/usr)?\/bin\//;

/** The program by its name, when that can be relied on: `./env` is not `env`. */
export function programOf(arg: Arg | undefined): string | undefined {
  return arg?.kind === 'literal' ? arg.value.replace(PLACES, '') : undefined;
}

const PROGRAMS: Readonly<Record<string, Spec>> = {
  timeout: {
    flags: 'fpv',
    values: 'ks',
    long: 'kill-after= signal= preserve-status foreground verbose',
    operands: 1,
  },
  nice: { values: 'n', long: 'adjustment=', digits: true },
  nohup: {},
  ionice: { flags: 't', values: 'cn', long: 'class= classdata= ignore' },
  stdbuf: { values: 'ioe', long: 'input= output= error=' },
  setsid: { flags: 'cfw', long: 'ctty fork wait' },
  chrt: {
    flags: 'abfimordRv',
    values: 'TPD',
    long: 'all-tasks batch fifo idle other rr deadline reset-on-fork verbose',
    operands: 1,
  },
  taskset: { flags: 'ac', long: 'all-tasks cpu-list', operands: 1 },
  chronic: { flags: 'ev' },
  time: { flags: 'apqv', values: 'f', long: 'append portability quiet verbose format=' },
};

const BUILTINS: Readonly<Record<string, Spec>> = {
  command: { flags: 'p' },
  builtin: {},
  exec: { flags: 'cl', values: 'a' },
};

const OTHERS = ['env', 'xargs', 'busybox', 'toybox'];

let wrappers: ReadonlySet<string> | undefined;

/** Whether `peel` could take this program off, with the words that it wants behind it. */
export function mayWrap(name: string): boolean {
  wrappers ??= new Set([...Object.keys(PROGRAMS), ...Object.keys(BUILTINS), ...OTHERS]);
  return wrappers.has(name.startsWith('/') ? name.replace(PLACES, '') : name);
}

export function peel(argv: readonly Arg[], inShell: boolean): Peeled | undefined {
  const [first] = argv;
  const program = programOf(first);
  if (first?.kind !== 'literal' || program === undefined) return undefined;
  if (program === 'env') return peelEnv(argv);
  if (program === 'xargs') return peelXargs(argv);
  if (program === 'busybox' || program === 'toybox') return peelBox(argv, program);
  const builtin = inShell && Object.hasOwn(BUILTINS, first.value) ? BUILTINS[program] : undefined;
  const spec = builtin ?? (Object.hasOwn(PROGRAMS, program) ? PROGRAMS[program] : undefined);
  if (spec === undefined) return undefined;
  const options = readOptions(argv, spec);
  if (options === undefined) return undefined;
  const from = options.at + (spec.operands ?? 0);
  const between = argv.slice(options.at, from);
  if (between.some(({ kind }) => kind !== 'literal') || from >= argv.length) return undefined;
  return {
    name: program,
    argv: argv.slice(from),
    inShell: builtin !== undefined && program !== 'exec',
    cleared: program === 'exec' && options.found.has('c'),
  };
}

function peelBox(argv: readonly Arg[], name: string): Peeled | undefined {
  const applet = argv[1];
  if (applet?.kind !== 'literal' || applet.value.startsWith('-')) return undefined;
  return { name, argv: argv.slice(1), inShell: false };
}
