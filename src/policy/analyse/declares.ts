// Builtins that assign by name: `export`, `declare`, `read`, `unset` and their like. A name with a
// subscript is evaluated by them, so names must be known.

import { optionTable, readOptions } from '../../text/options.ts';
import type { Arg, Assigned, Span } from '../unit.ts';
import { literalOf, textOf } from './args.ts';
import { assignTo } from './ends.ts';
import { optionsOf, optionValue } from './options.ts';
import type { Run } from './run.ts';
import type { State, Value } from './state.ts';

export type Doing = {
  readonly run: Run;
  readonly state: State;
  readonly argv: readonly Arg[];
  readonly span: Span | undefined;
  /** What the command assigns, for the unit. */
  readonly assigned: Assigned[];
};

const NAME = /^[A-Za-z_]\w*$/;
const SUBSCRIPTED = /^([A-Za-z_]\w*)\[(?:\d+|[@*])\]$/;

/** The name that an argument is, or a problem. */
function nameIn(text: string | undefined, { run, span }: Doing): string | undefined {
  if (text !== undefined) {
    const name = NAME.test(text) ? text : SUBSCRIPTED.exec(text)?.[1];
    if (name !== undefined) return name;
    // Whatever is no name at all is an error for the builtin.
    if (!text.includes('[')) return undefined;
  }
  run.problem('subscript', span, 'a builtin would evaluate the name of a variable');
  return undefined;
}

/** The shell assigns it an unknown value. */
function assignUnknown(arg: Arg | string | undefined, doing: Doing): void {
  const text = typeof arg === 'string' ? arg : arg?.kind === 'literal' ? arg.value : undefined;
  const name = nameIn(text, doing);
  if (name !== undefined) assign(name, undefined, undefined, 'shell', doing);
}

function assign(
  name: string,
  value: string | undefined,
  span: Span | undefined,
  how: Assigned['how'],
  { run, state, assigned }: Doing,
  known: Value | undefined = value === undefined ? undefined : [value],
): void {
  assignTo(run, state, name, known);
  const exports = how === 'export' || state.allExported || state.exported.has(name);
  if (exports) state.exported.add(name);
  assigned.push({ name, value, span, how: exports ? 'export' : how });
}

/** With another one they fail, and assign nothing. */
const OPTIONS: Readonly<Record<string, string>> & { readonly declare: string } = {
  declare: '-a -A -c -f -F -g -I -i -l -n -p -r -t -u -x',
  export: '-f -n -p',
  readonly: '-a -A -f -p',
};

/** `export`, `declare`, `typeset`, `local`, `readonly`. */
export function declare(doing: Doing): void {
  const { run, argv, span } = doing;
  const command = literalOf(argv[0]);
  const table = optionTable(OPTIONS[command] ?? OPTIONS.declare, 'shell');
  const { uses, at } = readOptions(argv, table, textOf, { from: 1 });
  const turnsOff = !/^(?:export|readonly)$/.test(command);
  if (uses.some(({ option, off }) => option === undefined || (off && !turnsOff))) {
    run.problem('subscript', span, `an option of \`${command}\` is not known`);
  }
  const flags = new Set(
    uses.map(({ option, off }) => `${off ? '+' : ''}${option?.name.slice(1) ?? ''}`),
  );
  if (flags.has('i')) run.problem('arithmetic', span, 'an integer variable evaluates its value');
  if (flags.has('n') && command !== 'export') {
    run.problem('indirection', span, 'a name reference names a variable by another one');
  }
  if (flags.has('l') || flags.has('u') || flags.has('c')) {
    run.problem('transformation', span, 'the variable changes what is assigned to it');
  }
  if (flags.has('f') || flags.has('F')) return;
  const how = command === 'export' || flags.has('x') ? 'export' : 'shell';
  for (const arg of argv.slice(at)) declareOne(arg, command, flags, how, doing);
}

function declareOne(
  arg: Arg,
  command: string,
  flags: ReadonlySet<string>,
  how: 'export' | 'shell',
  doing: Doing,
): void {
  const { run, state, span } = doing;
  const array = /^\w+(?:\[[^\]]*\])?\+?=\(/.test(arg.source);
  const known =
    arg.kind === 'literal' ? arg.value : arg.kind === 'unknown' && arg.one ? arg.prefix : '';
  const [, left, operator, right = ''] = /^([^=]*?)(\+?=)(.*)$/s.exec(known) ?? [];
  if (operator === undefined && arg.kind !== 'literal') {
    // `export a[1]=$x`: its subscript was looked at with the assignment.
    const subscripted = /^\w+\[[^$`\\'"]*\]\+?=/.test(arg.source);
    if (!subscripted) nameIn(undefined, doing);
    else assignUnknown(/^\w+/.exec(arg.source)?.[0], doing);
    return;
  }
  const name = nameIn(left ?? known, doing);
  if (name === undefined) return;
  // `declare -a 'x=($(rm y))'` expands it.
  const expands = command === 'export' ? flags.size > 0 : true;
  const unsure = arg.kind !== 'literal' && (flags.has('a') || flags.has('A'));
  if (!array && operator !== undefined && (/^\s*\(/.test(right) || (expands && unsure))) {
    run.problem('subscript', span, 'a builtin would expand the value of an array');
  }
  if (operator === undefined) {
    if (command === 'export' && flags.has('n')) {
      // Programs lose what they had of it, such as what keeps git out of other repositories.
      state.exported.delete(name);
      doing.assigned.push({ name, value: undefined, span: arg.span, how: 'export' });
    } else if (how === 'export') {
      state.exported.add(name);
      const value = state.value(name);
      const only =
        value !== undefined && value !== 'number' && value.length === 1 ? value[0] : undefined;
      doing.assigned.push({ name, value: only, span: arg.span, how });
    } else if (command !== 'readonly') assign(name, undefined, arg.span, how, doing);
  } else {
    const works = command !== 'local' || state.inFunction;
    const sure = works && arg.kind === 'literal' && operator === '=' && left === name;
    assign(name, sure ? right : undefined, arg.span, how, doing);
  }
  if (command === 'readonly' || flags.has('r')) run.untrusted.add(name);
}

export function read(doing: Doing): void {
  const { argv } = doing;
  const options = optionsOf(argv, '-e -r -s -a: -d: -i: -n: -N: -p: -t: -u:');
  if (options === undefined) {
    nameIn(undefined, doing);
    return;
  }
  const array = optionValue(options, '-a');
  if (array !== undefined) assignUnknown(array, doing);
  const names = argv.slice(options.at);
  if (names.length === 0 && array === undefined) assignUnknown('REPLY', doing);
  for (const name of names) assignUnknown(name, doing);
}

export function mapfile(doing: Doing): void {
  const options = optionsOf(doing.argv, '-t -d: -n: -O: -s: -u: -c: -C:');
  if (options === undefined) nameIn(undefined, doing);
  else if (optionValue(options, '-C') !== undefined) {
    doing.run.problem('hidden_substitution', doing.span, 'its callback is a command');
  } else assignUnknown(doing.argv[options.at] ?? 'MAPFILE', doing);
}

export function unset(doing: Doing): void {
  const { argv, run, state } = doing;
  const options = optionsOf(argv, '-f -v -n');
  if (options === undefined) {
    nameIn(undefined, doing);
    return;
  }
  if (optionValue(options, '-f') !== undefined) return;
  for (const arg of argv.slice(options.at)) {
    const name = nameIn(arg.kind === 'literal' ? arg.value : undefined, doing);
    if (name === undefined) continue;
    assignTo(run, state, name, undefined);
    doing.assigned.push({ name, value: undefined, span: arg.span, how: 'shell' });
  }
}

/** `printf -v name`, `wait -p name`. */
export function byOption(name: '-v' | '-p', doing: Doing): void {
  const { argv } = doing;
  const list = name === '-v' ? '-v:' : '-p: -f -n';
  const { uses, at } = readOptions(argv, optionTable(list), textOf, { from: 1 });
  for (const { option, joined, next } of uses) {
    if (option?.name === name) assignUnknown(joined?.value ?? argv[next ?? at], doing);
  }
  const behind = argv[at];
  const open = behind?.kind === 'unknown' && behind.prefix === '';
  // A word that is not known could be this option.
  if (!open && uses.every((use) => argv[use.at]?.kind === 'literal')) return;
  doing.run.evaluates ??= { span: doing.span };
  doing.state.forgetVariables();
}

export function getopts(doing: Doing): void {
  assignUnknown(doing.argv[2], doing);
  assignUnknown('OPTARG', doing);
  assign('OPTIND', undefined, undefined, 'shell', doing, 'number');
}

/** `[ -v name ]` looks at a subscript. */
export function test({ run, argv, span }: Doing): void {
  argv.forEach((arg, at) => {
    if (arg.kind !== 'literal') run.evaluates ??= { span };
    if (arg.kind !== 'literal' || !/^-[vR]$/.test(arg.value)) return;
    const name = argv[at + 1];
    const plain =
      name?.kind === 'literal' && (!name.value.includes('[') || SUBSCRIPTED.test(name.value));
    if (name !== undefined && !plain) {
      run.problem('subscript', span, '`-v` would evaluate a subscript');
    }
  });
}
