// What builtins change in the shell that goes on behind them: variables, the directory, options.
// Those that change how text is read are problems: the rest of the text would mean something else.

import { posix } from 'node:path';
import { optionTable, readOptions } from '../../text/options.ts';
import type { Arg } from '../unit.ts';
import { literalOf, textOf } from './args.ts';
import { arithmetic } from './arithmetic.ts';
import { byOption, type Doing, declare, getopts, mapfile, read, test, unset } from './declares.ts';
import { assignTo, type Ends, either } from './ends.ts';
import { optionsOf, optionValue } from './options.ts';
import { HARMLESS_SHOPTS } from './shells.ts';
import type { Cwds } from './state.ts';

type Builtin = (doing: Doing) => Ends | undefined;

const simple =
  (act: (doing: Doing) => void): Builtin =>
  (doing) => {
    act(doing);
    return undefined;
  };

const BUILTINS: ReadonlyMap<string, Builtin> = new Map<string, Builtin>([
  ['cd', changeDirectory],
  ['pushd', simple(loseDirectory)],
  ['popd', simple(loseDirectory)],
  ['exit', exit],
  ['declare', simple(declare)],
  ['typeset', simple(declare)],
  ['local', simple(declare)],
  ['export', simple(declare)],
  ['readonly', simple(declare)],
  ['read', simple(read)],
  ['mapfile', simple(mapfile)],
  ['readarray', simple(mapfile)],
  ['unset', simple(unset)],
  ['printf', simple((doing) => byOption('-v', doing))],
  ['wait', simple((doing) => byOption('-p', doing))],
  ['getopts', simple(getopts)],
  ['let', simple(evaluate)],
  ['test', simple(test)],
  ['[', simple(test)],
  ['set', simple(setOptions)],
  ['shopt', simple(shopt)],
  ['shift', simple(({ state }) => losePositional(state))],
  ['alias', simple(aliases)],
  ['unalias', simple(aliases)],
  ['source', simple(source)],
  ['.', simple(source)],
  ['eval', simple(({ state }) => state.forget())],
  ['command', simple(unseen)],
  ['builtin', simple(unseen)],
]);

/** `undefined`: it is no builtin that changes anything. */
export function builtin(doing: Doing): Ends | undefined {
  const [first] = doing.argv;
  const name = first?.kind === 'literal' ? first.value : '';
  const act = BUILTINS.get(name);
  return act === undefined ? undefined : (act(doing) ?? either(doing.state));
}

/** It may be `eval` that stands behind it. */
function unseen({ argv, state }: Doing): void {
  if (argv.some(({ kind }) => kind !== 'literal')) state.forget();
}

/** A script may do anything, but for one that activates an environment. */
function source({ run, state, argv: [, script, ...more] }: Doing): void {
  const value = script?.kind === 'literal' && script.value.includes('/') ? script.value : undefined;
  const known =
    value !== undefined &&
    more.length === 0 &&
    state.cwds?.every((cwd) => run.activation(posix.resolve(cwd, value))) === true;
  if (!known) {
    state.forget();
    return;
  }
  for (const name of ACTIVATED) state.set(name, undefined);
}

const ACTIVATED = [
  ...['PATH', 'PS1', 'PYTHONHOME', 'TCL_LIBRARY', 'TK_LIBRARY', 'PKG_CONFIG_PATH', 'SCRIPT_PATH'],
  ...['VIRTUAL_ENV', 'VIRTUAL_ENV_PROMPT', 'CURRENT_PATH', 'CURRENT_DIR'],
];

function losePositional(state: Doing['state']): void {
  state.positional = undefined;
}

function loseDirectory({ state }: Doing): void {
  state.cwds = undefined;
}

function changeDirectory(doing: Doing): Ends {
  const { run, argv, state } = doing;
  run.assigned.add('OLDPWD');
  if (run.steady.directory && run.functions.size > 0) {
    run.problem('indirection', doing.span, 'the directory is changed out of sight');
  }
  const options = optionsOf(argv, '-L -P -e -@');
  const target = options === undefined ? undefined : argv.slice(options.at);
  const there = state.copy();
  there.cwds = options && optionValue(options, '-P') ? undefined : directories(target, doing);
  return { ok: there, fail: state };
}

function directories(target: readonly Arg[] | undefined, { run, state }: Doing): Cwds {
  const [arg, ...more] = target ?? [];
  if (target === undefined || more.length > 0) return undefined;
  if (arg === undefined) {
    const home = state.value('HOME');
    return home === undefined || home === 'number' ? undefined : home.filter(posix.isAbsolute);
  }
  if (arg.kind !== 'literal' || arg.value === '-') return undefined;
  const { value } = arg;
  if (posix.isAbsolute(value)) return [posix.resolve(value)];
  if (run.cdPath && !/^\.\.?(?:\/|$)/.test(value)) return undefined;
  return state.cwds?.map((cwd) => posix.resolve(cwd, value));
}

/** It does not come back, unless it is called wrongly. */
function exit({ argv, state }: Doing): Ends {
  const [, code, ...more] = argv;
  const fine = code === undefined || (code.kind === 'literal' && /^\d+$/.test(code.value));
  return fine && more.length === 0 ? { ok: undefined, fail: undefined } : either(state);
}

function evaluate(doing: Doing): void {
  const { run, argv, state, span } = doing;
  for (const arg of argv.slice(1)) {
    const found = arg.kind === 'literal' ? arithmetic(arg.value, state, run) : undefined;
    if (found?.plain === true) {
      for (const name of found.names) {
        assignTo(run, state, name, 'number');
        doing.assigned.push({ name, value: undefined, span: arg.span, how: 'shell' });
      }
    } else run.problem('arithmetic', span, '`let` evaluates what is not known to be a number');
  }
}

const HARMLESS_FLAGS = '-a -b -e -f -h -m -n -u -v -x -C -E -T -o>';
const HARMLESS_OPTIONS = new Set([
  ...['allexport', 'errexit', 'errtrace', 'functrace', 'hashall', 'monitor', 'noclobber'],
  ...['noexec', 'noglob', 'notify', 'nounset', 'pipefail', 'verbose', 'xtrace'],
]);

function setOptions({ run, argv, state, span }: Doing): void {
  const table = optionTable(HARMLESS_FLAGS, 'shell');
  const { uses, at } = readOptions(argv, table, textOf, { from: 1 });
  const harmless = uses.every(({ option, next }) => {
    if (option?.name !== '-o' || next === undefined) return option !== undefined;
    // Alone it lists them.
    return argv[next] === undefined || HARMLESS_OPTIONS.has(literalOf(argv[next]));
  });
  const dashes = at > 1 && literalOf(argv[at - 1]) === '--';
  const read = argv.slice(1, dashes ? at : at + 1);
  const unsure = read.some(({ kind }) => kind !== 'literal');
  if (!harmless || unsure) {
    run.problem('syntax_option', span, '`set` changes how text is read');
  }
  for (const { option, next, off } of uses) {
    const name = next === undefined ? option?.name : literalOf(argv[next]);
    if (name === '-a' || name === 'allexport') state.allExported = !off;
  }
  if (at < argv.length || dashes) state.positional = undefined;
}

function shopt({ run, argv, span }: Doing): void {
  const { uses } = readOptions(argv, optionTable('-s -u -o -p -q'), textOf, {
    from: 1,
    anywhere: true,
  });
  const has = (flag: string): boolean => uses.some(({ option }) => option?.name === flag);
  const names = argv.slice(1).filter((_, at) => !uses.some((use) => use.at === at + 1));
  const sure = argv.every(({ kind }) => kind === 'literal');
  if (sure && !has('-s') && !has('-u')) return; // it shows them
  const fine = names.every((arg) => HARMLESS_SHOPTS.test(literalOf(arg)));
  if (!sure || !fine || has('-o')) {
    run.problem('syntax_option', span, '`shopt` changes how text is read or run');
  }
}

function aliases({ run, span }: Doing): void {
  run.problem('syntax_option', span, 'an alias changes what names mean');
}
