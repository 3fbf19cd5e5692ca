// Builtins that assign by name: `export`, `declare`, `read`, `unset` and their like. A name with a
// subscript is evaluated by them, so names must be known.

import type { Arg, Assigned, Span } from '../unit.ts';
import { assignTo } from './ends.ts';
import { readOptions } from './options.ts';
import type { Run } from './run.ts';
import type { State } from './state.ts';

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
): void {
  assignTo(run, state, name, value === undefined ? undefined : [value]);
  const exports = how === 'export' || state.allExported || state.exported.has(name);
  if (exports) state.exported.add(name);
  assigned.push({ name, value, span, how: exports ? 'export' : how });
}

/** With another one they fail, and assign nothing. */
const OPTIONS: Readonly<Record<string, RegExp>> & { readonly declare: RegExp } = {
  declare: /^[-+][aAcfFgiIlnprtux]+$/,
  export: /^-[fnp]+$/,
  readonly: /^-[aAfp]+$/,
};

/** `export`, `declare`, `typeset`, `local`, `readonly`. */
export function declare(doing: Doing): void {
  const { run, argv, span } = doing;
  const command = argv[0]?.kind === 'literal' ? argv[0].value : '';
  const flags = new Set<string>();
  let at = 1;
  for (; at < argv.length; at += 1) {
    const arg = argv[at];
    if (arg?.kind !== 'literal' || !/^[-+]./s.test(arg.value)) break;
    if (arg.value === '--') {
      at += 1;
      break;
    }
    if (!(OPTIONS[command] ?? OPTIONS.declare).test(arg.value)) {
      run.problem('subscript', span, `an option of \`${command}\` is not known`);
    }
    for (const letter of arg.value.slice(1))
      flags.add(arg.value.startsWith('-') ? letter : `+${letter}`);
  }
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
    if (command === 'export' && flags.has('n')) state.exported.delete(name);
    else if (how === 'export') {
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

const READ = { flags: 'ers', values: 'adinNptu' };
const MAPFILE = { flags: 't', values: 'dnOsucC' };

export function read(doing: Doing): void {
  const { argv } = doing;
  const options = readOptions(argv, READ);
  if (options === undefined) {
    nameIn(undefined, doing);
    return;
  }
  const array = options.found.get('a');
  if (array !== undefined) assignUnknown(array, doing);
  const names = argv.slice(options.at);
  if (names.length === 0 && array === undefined) assignUnknown('REPLY', doing);
  for (const name of names) assignUnknown(name, doing);
}

export function mapfile(doing: Doing): void {
  const options = readOptions(doing.argv, MAPFILE);
  if (options === undefined) nameIn(undefined, doing);
  else if (options.found.has('C')) {
    doing.run.problem('hidden_substitution', doing.span, 'its callback is a command');
  } else assignUnknown(doing.argv[options.at] ?? 'MAPFILE', doing);
}

export function unset(doing: Doing): void {
  const { argv, run, state } = doing;
  const options = readOptions(argv, { flags: 'fvn' });
  if (options === undefined) {
    nameIn(undefined, doing);
    return;
  }
  if (options.found.has('f')) return;
  for (const arg of argv.slice(options.at)) {
    const name = nameIn(arg.kind === 'literal' ? arg.value : undefined, doing);
    if (name === undefined) continue;
    assignTo(run, state, name, undefined);
    doing.assigned.push({ name, value: undefined, span: arg.span, how: 'shell' });
  }
}

/** `printf -v name`, `wait -p name`. */
export function byOption(letter: 'v' | 'p', doing: Doing): void {
  const { argv } = doing;
  for (let at = 1; at < argv.length; at += 1) {
    const arg = argv[at];
    if (arg?.kind !== 'literal') {
      // An option that is not known could be this one.
      if (arg?.kind === 'unknown' && /^(?:$|-)/.test(arg.prefix)) {
        doing.run.evaluates ??= { span: doing.span };
        doing.state.forgetVariables();
      }
      return;
    }
    if (!arg.value.startsWith('-') || arg.value === '--') return;
    const option = arg.value.indexOf(letter);
    if (option === -1) continue;
    const joined = arg.value.slice(option + 1);
    assignUnknown(joined === '' ? argv[at + 1] : joined, doing);
    at += 1;
  }
}

export function getopts(doing: Doing): void {
  assignUnknown(doing.argv[2], doing);
  for (const name of ['OPTARG', 'OPTIND']) assignUnknown(name, doing);
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
