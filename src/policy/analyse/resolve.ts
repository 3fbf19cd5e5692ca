// What a `$x` or `$(...)` will be, when only one thing is possible. Everything else is unknown.

import type { CommandExpansionPart, ParameterExpansionPart } from '../../text/shell-tree.ts';
import type { Atom, Expansion } from './atoms.ts';
import type { Run } from './run.ts';
import type { Glob, State } from './state.ts';

/** One value for each variable that may have several. */
export type World = ReadonlyMap<string, Choice>;

export type Choice = string | Glob;

export type Scene = { readonly run: Run; readonly state: State; readonly world: World };

export type Resolved =
  | { readonly kind: 'known'; readonly value: string }
  /** `one`: in quotes it is one word. `number`: without quotes, too. */
  | { readonly kind: 'unknown'; readonly one: boolean; readonly number: boolean }
  /** The name of one file that matches, or the pattern. */
  | { readonly kind: 'file'; readonly glob: Glob };

const UNKNOWN: Resolved = { kind: 'unknown', one: true, number: false };
const NUMBER: Resolved = { kind: 'unknown', one: true, number: true };
const MANY: Resolved = { kind: 'unknown', one: false, number: false };

export function resolve(node: Expansion, scene: Scene): Resolved {
  switch (node.type) {
    case 'SimpleExpansion':
      return parameter(node.text.slice(1).replaceAll('\\\n', ''), scene);
    case 'ParameterExpansion':
      return expansion(node, scene);
    case 'ArithmeticExpansion':
      return NUMBER;
    case 'CommandExpansion':
      return command(node, scene);
    case 'ProcessSubstitution':
      // `/dev/fd/63`: a file that only this command sees.
      return NUMBER;
  }
}

/** The variables in a word that may have several values. */
export function choicesIn(
  atoms: readonly Atom[],
  state: State,
  into: Map<string, readonly Choice[]>,
) {
  for (const atom of atoms) {
    if (atom.kind !== 'node') continue;
    const { node } = atom;
    const name =
      node.type === 'SimpleExpansion'
        ? node.text.slice(1).replaceAll('\\\n', '')
        : node.type === 'ParameterExpansion'
          ? node.parameter
          : undefined;
    if (name === undefined) continue;
    const value = state.value(name);
    if (value !== undefined && value !== 'number' && value.length > 1) into.set(name, value);
    const hint = state.hint(name);
    if (hint !== undefined && hint !== 'count') into.set(name, hint);
  }
}

function parameter(name: string, { run, state, world }: Scene): Resolved {
  if (/^[#?$]$/.test(name)) return NUMBER;
  if (name === '@' || name === '*') return MANY;
  if (/^\d+$/.test(name)) {
    const arg = state.positional?.[Number(name)];
    return arg?.kind === 'literal' ? { kind: 'known', value: arg.value } : UNKNOWN;
  }
  if (name === 'PWD') {
    const [only, ...more] = run.assigned.has('PWD') ? [] : (state.cwds ?? []);
    return only === undefined || more.length > 0 ? UNKNOWN : { kind: 'known', value: only };
  }
  const value = run.volatile ? undefined : state.value(name);
  if (value === 'number') return NUMBER;
  const chosen = run.volatile ? undefined : world.get(name);
  const known = value?.length === 1 ? value[0] : chosen;
  if (known === undefined) return UNKNOWN;
  if (typeof known === 'string') return { kind: 'known', value: known };
  // Elsewhere the same pattern would mean other files.
  const same = state.cwds !== undefined && state.cwds === known.cwds;
  return same ? { kind: 'file', glob: known } : UNKNOWN;
}

function expansion(node: ParameterExpansionPart, scene: Scene): Resolved {
  const { parameter: name, operation } = node;
  if (node.prefix === '#') return NUMBER;
  if (node.prefix !== undefined) return MANY;
  if (node.index !== undefined) return /^[\s\\]*[@*]/.test(node.index.text) ? MANY : UNKNOWN;
  if (operation === undefined) return parameter(name, scene);
  if (name === '@' || name === '*') return MANY;
  if (operation.type === 'Default' && /^:?[-=?]$/.test(operation.operator)) {
    const value = parameter(name, scene);
    if (value.kind === 'known' && value.value !== '') return value;
  }
  // `${x:-"$@"}` is as many words as there are.
  return operation.type === 'Default' && /[@*]/.test(node.text) ? MANY : UNKNOWN;
}

function command(node: CommandExpansionPart, { run, state }: Scene): Resolved {
  const text = quotedText(node);
  const isCat = !run.functions.has('cat') && !run.assigned.has('PATH');
  if (text !== undefined && isCat) return { kind: 'known', value: text };
  const [statement, ...more] = node.script?.commands ?? [];
  const only = more.length === 0 ? statement?.command : undefined;
  if (only?.type !== 'Command' || only.prefix.length + only.suffix.length > 0) return UNKNOWN;
  const [cwd, ...others] = state.cwds ?? [];
  if (only.name?.text !== 'pwd' || cwd === undefined || others.length > 0) return UNKNOWN;
  return run.functions.has('pwd') ? UNKNOWN : { kind: 'known', value: cwd };
}

/** `$(cat <<'EOF' ... EOF)` is the text, without the line ends behind it. */
export function quotedText(node: CommandExpansionPart): string | undefined {
  const { script } = node;
  if (script === undefined || script.commands.length !== 1) return undefined;
  const [statement] = script.commands;
  const only = statement?.command;
  if (only?.type !== 'Command' || statement?.background === true) return undefined;
  if (only.name?.text !== 'cat' || only.prefix.length > 0) return undefined;
  const [part, ...more] = only.suffix;
  if (part?.type !== 'HereDoc' || more.length > 0 || part.descriptor !== undefined)
    return undefined;
  if (part.delimiter?.quoted !== true || part.closing === undefined) return undefined;
  const body = part.body.text;
  const text = part.operator === '<<-' ? body.replace(/^\t+/gm, '') : body;
  let end = text.length;
  while (text[end - 1] === '\n') end -= 1;
  return text.slice(0, end);
}
