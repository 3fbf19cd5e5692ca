// The redirections of a command: what happens to which file, and where its input comes from.

import { posix } from 'node:path';
import type { Redirection } from '../../text/shell-tree.ts';
import type { Arg, UnitRedirect } from '../unit.ts';
import { unknownArg, unquoted } from './args.ts';
import { type Atom, atomsOf, atomsOfBody } from './atoms.ts';
import { expandAtoms } from './braces.ts';
import { type Ends, either, joinEnds } from './ends.ts';
import { expandOne, knownText } from './expand.ts';
import type { Scene } from './resolve.ts';
import { type Place, type Run, type Stdin, spanIn } from './run.ts';
import type { Cwds, State } from './state.ts';

export type Redirected = {
  readonly redirects: readonly UnitRedirect[];
  /** Undefined: it is as it was. */
  readonly stdin: Exclude<Stdin, 'inherited' | 'pipe'> | undefined;
  /** What the input says, if it is text that is known; and as it is written. */
  readonly input: string | undefined;
  readonly written: string | undefined;
};

const NONE: Redirected = {
  ...{ redirects: [], stdin: undefined, input: undefined, written: undefined },
};

/** Names of variables that get a descriptor: `{fd}>file`. */
export function descriptorNames(nodes: readonly Redirection[]): readonly string[] {
  return nodes.flatMap(({ descriptor }) =>
    descriptor?.type === 'FileDescriptorVariable' ? [descriptor.name] : [],
  );
}

/** A file that cannot be opened keeps the command from running. */
export function orSkipped(ends: Ends, skipped: State, nodes: readonly Redirection[]): Ends {
  if (!nodes.some(({ type }) => type === 'Redirect')) return ends;
  return {
    ok: ends.ok?.copy(),
    fail: joinEnds([{ ok: ends.fail, fail: ends.fail }, either(skipped)]).ok,
  };
}

export function redirectsOf(nodes: readonly Redirection[], place: Place, scene: Scene): Redirected {
  if (nodes.length === 0) return NONE;
  const redirects: UnitRedirect[] = [];
  let { stdin, input, written } = NONE;
  for (const node of nodes) {
    const made = redirectOf(node, place, scene);
    redirects.push(made);
    if (!feedsInput(node)) continue;
    stdin = made.effect === 'text' ? 'text' : closes(node) ? 'closed' : 'file';
    input = made.effect === 'text' ? inputOf(node, place, scene) : undefined;
    if (made.effect === 'text') written = writtenOf(node);
  }
  return { redirects, stdin, input, written };
}

/** The same files as absolute paths, for commands that run in another directory. */
export function anchored(redirects: readonly UnitRedirect[], cwds: Cwds): readonly UnitRedirect[] {
  const [cwd, ...more] = cwds ?? [];
  return redirects.map((redirect): UnitRedirect => {
    const { target } = redirect;
    if (target === undefined || isAbsolute(target)) return redirect;
    const { source, span } = target;
    if (target.kind !== 'literal' || cwd === undefined || more.length > 0) {
      return { ...redirect, target: unknownArg({ source, span }, '', false) };
    }
    return { ...redirect, target: { ...target, value: posix.resolve(cwd, target.value) } };
  });
}

function isAbsolute(target: Arg): boolean {
  return (target.kind === 'literal' ? target.value : target.prefix).startsWith('/');
}

function feedsInput({ operator, descriptor }: Redirection): boolean {
  if (descriptor !== undefined)
    return descriptor.type === 'FileDescriptor' && descriptor.value === 0;
  return operator.startsWith('<');
}

function closes(node: Redirection): boolean {
  return node.type === 'Redirect' && node.target?.text === '-';
}

function redirectOf(node: Redirection, place: Place, scene: Scene): UnitRedirect {
  const { frame } = place;
  const { operator } = node;
  const span = spanIn(frame, node);
  if (node.type !== 'Redirect') return { effect: 'text', operator, target: undefined, span };
  const { target: word } = node;
  const written = {
    source: word?.text ?? '',
    span: word === undefined ? undefined : spanIn(frame, word),
  };
  if (/^[<>]&$/.test(operator) && /^-./s.test(written.source)) {
    scene.run.problem('parse_error', span, 'something stands right behind a closed descriptor');
  }
  const atoms = word === undefined ? undefined : atomsIn(place, scene.run, word);
  if (atoms !== undefined && expandAtoms(atoms, scene.run) === undefined) {
    scene.run.problem('too_many', span, 'what its braces make cannot be told');
  }
  const target: Arg =
    atoms === undefined ? unknownArg(written, '', false) : expandOne(atoms, written, scene, true);
  if (operator === '>&' && isOutput(node) && !isPlain(target)) {
    scene.run.problem('hidden_substitution', span, 'the word behind `>&` is expanded twice');
  }
  const effect = effectOf(operator, target);
  return { effect, operator, target: effect === 'dup' ? undefined : target, span };
}

/** Only without another descriptor in front of it. */
function isOutput({ descriptor }: Redirection): boolean {
  return (
    descriptor === undefined || (descriptor.type === 'FileDescriptor' && descriptor.value === 1)
  );
}

/** Nothing in it would become something else when it is expanded once more. */
function isPlain(target: Arg): boolean {
  return target.kind === 'literal' && /^[\w./:@%+,=-]*$/.test(target.value);
}

function effectOf(operator: string, target: Arg): UnitRedirect['effect'] {
  switch (operator) {
    case '<':
      return 'read';
    case '<>':
      return 'readwrite';
    case '>>':
    case '&>>':
      return 'append';
    case '<&':
      return 'dup'; // anything but a number is an error
    case '>&':
      return target.kind === 'literal' && /^(?:\d+-?|-)$/.test(target.value) ? 'dup' : 'write';
    default:
      return 'write';
  }
}

function atomsIn(
  place: Place,
  run: Run,
  word: Parameters<typeof atomsOf>[1],
): readonly Atom[] | undefined {
  const atoms = atomsOf(place.frame.source, word);
  if (atoms === undefined) {
    const span = spanIn(place.frame, word);
    run.problem('hidden_substitution', span, 'a word is not understood');
  }
  return atoms;
}

function writtenOf(node: Redirection): string {
  return node.type === 'HereDoc' ? node.body.text : unquoted(node.target?.text ?? '');
}

function inputOf(node: Redirection, place: Place, scene: Scene): string | undefined {
  if (node.type === 'HereString') {
    const atoms = node.target === undefined ? undefined : atomsIn(place, scene.run, node.target);
    const value = atoms === undefined ? undefined : knownText(atoms, scene);
    return value === undefined ? undefined : `${value}\n`;
  }
  if (node.type !== 'HereDoc') return undefined;
  const { body } = node;
  const dedented = (text: string) => (node.operator === '<<-' ? text.replace(/^\t+/gm, '') : text);
  if (node.delimiter?.quoted === true) return dedented(body.text);
  const atoms = atomsOfBody(place.frame.source, body, body.parts ?? []);
  if (atoms === undefined) {
    const span = spanIn(place.frame, body);
    scene.run.problem('hidden_substitution', span, 'a here-document is not understood');
    return undefined;
  }
  // Tabs that a variable brings in stay, and those are rare enough to give up.
  const known = knownText(atoms, scene);
  return known !== undefined && node.operator === '<<-' && atoms.some(({ kind }) => kind === 'node')
    ? undefined
    : known === undefined
      ? undefined
      : dedented(known);
}
