// What a program does with its input. `curl ... | sh` runs it, and so do `npx`, `vim`, `gdb` and
// many others that look harmless; no list of those is ever whole. So the list is of the programs
// whose input is data, and a rule covers the input of no other.

import { baseName } from '../text/base-name.ts';
import { type OptionsRead, optionTable, readOptions } from '../text/options.ts';
import { shellKind } from '../text/shells.ts';
import { literalOf, textOf } from './analyse/args.ts';
import { shellWords } from './analyse/shells.ts';
import { factsOf } from './facts.ts';
import type { Call } from './profile.ts';
import { moduleProfile } from './profiles/index.ts';
import { isShell, plainName } from './programs.ts';
import type { Arg, Unit } from './unit.ts';

/** `code`: known to run it. `unknown`: it may. */
export type InputUse = 'none' | 'data' | 'code' | 'unknown';

/** Words of a script that turn it into an interpreter: `manage.py shell`, `artisan tinker`. */
const REPL = /^(?:shell(?:_plus)?|dbshell|console|tinker|repl|inspect|debug|dbconsole|psysh)$/;

const STDIN_PATH = /(?:^|=)(?:\/dev\/(?:stdin|fd\/0)|\/proc\/[^/]+\/(?:task\/\d+\/)?fd\/0)$/;

type Line = { readonly argv: readonly Arg[]; readonly call: Call | undefined };

/** `lines`: the command line, and those inside of it, which get the same input. */
export function inputUse({ stdin }: Pick<Unit, 'stdin'>, lines: readonly Line[]): InputUse {
  if (stdin === 'inherited' || stdin === 'closed') return 'none';
  const { argv, call } = lines.at(-1) ?? { argv: [], call: undefined };
  const inner = lines.length > 1;
  const [first, ...rest] = argv;
  if (first?.kind !== 'literal') return 'unknown';
  const name = plainName(first.value);
  const values = rest.map(literalOf);
  if (isShell(name)) return shellUse(name, argv);
  const { interpreter, input: plain } = factsOf(name) ?? {};
  if (interpreter !== undefined) return interpreterUse(interpreter, argv);
  if (plain === 'code') return 'code';
  if (REPL.test(values.find((value) => !value.startsWith('-')) ?? '')) return 'code';
  const base = baseName(first.value);
  const input = factsOf(base)?.input;
  if (typeof input === 'object') {
    const { data, given = '', asks = '' } = input;
    if (values.some((value) => isOneOf(value, asks))) return 'unknown';
    if (values.some((value) => isOneOf(value, given))) return 'data';
    const subcommand = literalOf(argv[call?.subcommands[0] ?? 1]);
    if (data !== undefined) return data.split(' ').includes(subcommand) ? 'data' : 'unknown';
  }
  if (input === 'data' || plain === 'data') return 'data';
  return inner && moduleProfile(base) !== undefined ? 'data' : 'unknown';
}

/** `-am` has `-m` at its end. */
function isOneOf(value: string, options: string): boolean {
  const name = /^--[^=]+|^-/.exec(value)?.[0];
  if (name === undefined) return false;
  const own = name === '-' && /^-[a-zA-Z]+$/.test(value) ? `-${value.slice(-1)}` : name;
  return options.split(' ').includes(own);
}

/** `bash -e` has no code in its words, `bash -ec` has. */
function shellUse(name: string, argv: readonly Arg[]): InputUse {
  if (argv.some((arg) => isInput(literalOf(arg)))) return 'code';
  if (shellKind(name) === 'other') return operandsOf(argv.slice(1)).length > 0 ? 'data' : 'code';
  const { runs, open } = shellWords(argv);
  if (open) return 'unknown';
  return runs === 'input' ? 'code' : 'data';
}

function interpreterUse(options: string, argv: readonly Arg[]): InputUse {
  const { uses } = readInterpreter(options, argv);
  const values = new Set(uses.map(({ next }) => next));
  const operands = operandsOf(argv.slice(1).filter((_, at) => !values.has(at + 1)));
  const has = (effect: string): boolean => uses.some(({ option }) => option?.effect === effect);
  if (argv.some((arg) => isInput(literalOf(arg)))) return 'code';
  if (has('module')) return 'unknown';
  // When the script is over, it reads on from its input.
  if (has('reads') || operands.some((arg) => REPL.test(literalOf(arg)))) return 'code';
  return has('code') || operands.length > 0 ? 'data' : 'code';
}

function readInterpreter(options: string, argv: readonly Arg[]): OptionsRead {
  return readOptions(argv, optionTable(options, 'shell'), textOf, { from: 1, anywhere: true });
}

/**
 * The word that is run, or names a file that is: `sh -c X`, `python3 X`. Undefined: it is no
 * interpreter, or runs its input.
 */
export function codeWord(argv: readonly Arg[]): Arg | undefined {
  const name = plainName(literalOf(argv[0]));
  if (isShell(name)) return shellWords(argv).words[0];
  const { interpreter } = factsOf(name) ?? {};
  if (interpreter === undefined) return undefined;
  const { uses, at } = readInterpreter(interpreter, argv);
  const given = uses.find(({ option }) => option?.effect === 'code');
  return argv[given?.next ?? at];
}

function operandsOf(rest: readonly Arg[]): readonly Arg[] {
  return rest.filter((arg) => arg.kind !== 'literal' || !/^-./.test(arg.value));
}

function isInput(value: string): boolean {
  return value === '-' || STDIN_PATH.test(value);
}
