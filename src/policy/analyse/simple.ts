// One simple command: its words as the program gets them, its assignments and redirections, once
// for each combination of values that its variables may have. What it runs, and what it changes in
// the shell, is for others.

import type { Assignment, Command, Word } from '../../text/shell-tree.ts';
import type { Arg, Assigned } from '../unit.ts';
import { literalArg, unknownArg } from './args.ts';
import { counts } from './arithmetic.ts';
import { type Atom, atomsBetween, atomsOf } from './atoms.ts';
import { hasBraces } from './braces.ts';
import { assignTo, type Ends, hintAt, joinEnds } from './ends.ts';
import { type Draft, execute } from './execute.ts';
import { expandWord, knownText } from './expand.ts';
import { descriptorNames, orSkipped, redirectsOf } from './redirects.ts';
import { type Choice, choicesIn, type Scene, type World } from './resolve.ts';
import { type Place, type Run, spanIn, type Walker } from './run.ts';
import type { State } from './state.ts';
import { Visitor } from './visit.ts';

const WORLDS_MAX = 32;
const ARGS_MAX = 4_096;
const DECLARES = /^(?:declare|typeset|local|export|readonly)$/;

type Taken = { readonly node: Word | Assignment; readonly atoms: readonly Atom[] | undefined };

export function simpleCommand(walker: Walker, node: Command, place: Place, state: State): Ends {
  const { run } = walker;
  const visitor = new Visitor(walker, place, state);
  const nodes = [...(node.name === undefined ? [] : [node.name]), ...node.args];
  for (const word of nodes) visitor.visit(word);
  checkHereDocuments(node, place, run);
  checkDescriptors(node, nodes, place, run);
  // What stands behind an assignment may see it: `x=rm y=$($x)`, `HOME= <<<$(~)`.
  const behind = node.prefix.length === 0 ? state : state.copy();
  const late = node.prefix.length === 0 ? visitor : new Visitor(walker, place, behind);
  for (const part of node.prefix) {
    if (part.type !== 'Assignment') continue;
    late.visit(part);
    checkSubscripts(part, late);
    behind.set(part.name, undefined);
  }
  for (const redirect of node.redirects) late.visit(redirect);
  const declares = node.name !== undefined && DECLARES.test(node.name.text);
  const words = nodes.map((word) => taken(word, place, run));
  for (const word of node.args) if (word.type === 'Assignment') checkSubscripts(word, visitor);
  const assigning = late === visitor ? visitor.assigned : [...visitor.assigned, ...late.assigned];
  const made = assigning.map(
    ({ name }): Assigned => ({ name, value: undefined, span: undefined, how: howOf(name, state) }),
  );
  if (assigning.length > 0) {
    // `ls $x $((x=1))` has the old value in front of the new one.
    const text = place.frame.source.slice(node.pos, node.end).replaceAll('\\\n', '');
    const used = new Set([...text.matchAll(/\$\{?#?(\w+)/g)].map(([, name]) => name));
    for (const { name } of visitor.assigned) if (used.has(name)) state.set(name, undefined);
    if (late !== visitor) for (const { name } of late.assigned) state.set(name, undefined);
  }
  const skipped = node.redirects.length === 0 ? state : state.copy();
  const ends = worldsOf(words, node, place, state).map((world, _, all) => {
    const own = all.length === 1 ? state : state.copy();
    return once({ walker, node, place, words, declares, made }, own, world);
  });
  return orSkipped(joinEnds(ends), skipped, node.redirects);
}

type Once = {
  readonly walker: Walker;
  readonly node: Command;
  readonly place: Place;
  readonly words: readonly Taken[];
  readonly declares: boolean;
  readonly made: readonly Assigned[];
};

function once(command: Once, state: State, world: World): Ends {
  const { walker, node, place, words, declares, made } = command;
  const { run } = walker;
  const scene: Scene = { run, state, world };
  const argv: Arg[] = [];
  const listed: Assigned[] = [];
  for (const word of words) {
    const args =
      declares && word.node.type === 'Assignment'
        ? declared(word.node, place, scene, listed)
        : argsOf(word, place, scene);
    argv.push(...args);
    if (argv.length > ARGS_MAX) {
      run.problem('too_many', spanIn(place.frame, node), 'it has too many words');
      break;
    }
  }
  const around = argv[0]?.kind === 'literal' ? scene : without(node, scene);
  const { redirects, stdin, input, written } = redirectsOf(node.redirects, place, around);
  const named = descriptorNames(node.redirects).map((name): Assigned => {
    assignTo(run, state, name, undefined);
    return { name, value: undefined, span: undefined, how: howOf(name, state) };
  });
  const alone = argv.length === 0;
  const before = alone ? state : state.copy();
  const prefix = node.prefix.flatMap((part): Assigned[] => {
    if (part.type !== 'Assignment') return [];
    return [assigned(part, place, { run, state: before, world }, alone)];
  });
  const draft: Draft = {
    argv,
    assigned: [...prefix, ...named, ...made, ...listed],
    redirects: [...redirects, ...place.redirects],
    cwds: state.cwds,
    stdin: stdin ?? (place.stdin === 'inherited' ? (state.stdin ?? 'inherited') : place.stdin),
    ownStdin: stdin,
    input,
    written,
    span: spanIn(place.frame, node),
  };
  const ends = execute(walker, draft, place, state, prefix);
  // When the program turns out to be nothing, what looked like its variables are the shell's.
  const [first] = argv;
  if (first !== undefined && first.kind !== 'literal') {
    for (const { name } of prefix) assignTo(run, state, name, undefined);
  }
  return ends;
}

/** Where no program is run, what is assigned counts for the redirections beside it: `x= >"$x"`. */
function without(node: Command, scene: Scene): Scene {
  const names = node.prefix.flatMap((part) => (part.type === 'Assignment' ? [part.name] : []));
  if (names.length === 0 || node.redirects.length === 0) return scene;
  const state = scene.state.copy();
  for (const name of names) state.set(name, undefined);
  const world = new Map([...scene.world].filter(([name]) => !names.includes(name)));
  return { ...scene, state, world };
}

function howOf(name: string, state: State): Assigned['how'] {
  return state.allExported || state.exported.has(name) ? 'export' : 'shell';
}

function taken(node: Word | Assignment, place: Place, run: Run): Taken {
  const { source } = place.frame;
  const atoms =
    node.type === 'Word' ? atomsOf(source, node) : atomsBetween(source, node, partsOf(node));
  if (atoms === undefined && !(node.type === 'Assignment' && node.value.type === 'ArrayValue')) {
    run.problem('hidden_substitution', spanIn(place.frame, node), 'a word is not understood');
  }
  for (const atom of atoms ?? []) {
    if (atom.kind === 'node' && atom.node.type === 'ProcessSubstitution' && atoms?.length !== 1) {
      const message = 'a process substitution is glued to a word';
      run.problem('process_substitution', spanIn(place.frame, node), message);
    }
  }
  return { node, atoms };
}

function partsOf(node: Assignment) {
  return [...(node.index === undefined ? [] : [node.index]), node.value];
}

function worldsOf(
  words: readonly Taken[],
  node: Command,
  place: Place,
  state: State,
): readonly World[] {
  const choices = new Map<string, readonly Choice[]>();
  const look = (atoms: readonly Atom[] | undefined) => choicesIn(atoms ?? [], state, choices);
  for (const word of words) look(word.atoms);
  for (const redirect of node.redirects) {
    if (redirect.type === 'HereDoc' || redirect.target === undefined) continue;
    look(atomsOf(place.frame.source, redirect.target));
  }
  let worlds: World[] = [new Map()];
  const count = [...choices.values()].reduce((product, { length }) => product * length, 1);
  if (count > WORLDS_MAX) return worlds;
  for (const [name, values] of choices) {
    worlds = worlds.flatMap((world) =>
      values.map((value) => new Map<string, Choice>([...world, [name, value]])),
    );
  }
  return worlds;
}

function argsOf(word: Taken, place: Place, scene: Scene): readonly Arg[] {
  const written = { source: word.node.text, span: spanIn(place.frame, word.node) };
  if (word.atoms === undefined) return [unknownArg(written, '', false)];
  const args = expandWord(word.atoms, written, scene);
  if (args !== undefined) return args;
  scene.run.problem('too_many', written.span, 'what its braces make cannot be told');
  return [unknownArg(written, '', false)];
}

/** `export A=$x` is one argument, whatever `x` says, and an assignment. */
function declared(
  node: Assignment,
  place: Place,
  scene: Scene,
  listed: Assigned[],
): readonly Arg[] {
  const written = { source: node.text, span: spanIn(place.frame, node) };
  const value = assignedValue(node, place, scene);
  const atoms = node.value.type === 'Word' ? atomsOf(place.frame.source, node.value) : undefined;
  if (atoms !== undefined && hasBraces(atoms)) {
    // Here braces make several assignments of it, elsewhere they do not.
    scene.run.problem('too_many', written.span, 'what its braces make cannot be told');
  }
  const name = `${node.name}${node.append === true ? '+=' : '='}`;
  listed.push({ name: node.name, value, span: written.span, how: 'shell' });
  if (node.index !== undefined || value === undefined) {
    return [unknownArg(written, node.index === undefined ? name : '', true)];
  }
  return [literalArg(written, name + value)];
}

function assignedValue(node: Assignment, place: Place, scene: Scene): string | undefined {
  const { value } = node;
  if (value.type === 'ArrayValue' || node.index !== undefined) return undefined;
  const atoms = atomsOf(place.frame.source, value);
  if (atoms === undefined) {
    const span = spanIn(place.frame, value);
    scene.run.problem('hidden_substitution', span, 'a value is not understood');
    return undefined;
  }
  return knownText(atoms, scene);
}

/** Of a prefix, or of the shell when it stands `alone`. The state has it from here on. */
function assigned(node: Assignment, place: Place, scene: Scene, alone: boolean): Assigned {
  const { run, state } = scene;
  const written = assignedValue(node, place, scene);
  const before = state.value(node.name);
  let value = written;
  if (node.append === true) {
    const [only, ...more] = before === undefined || before === 'number' ? [] : before;
    value =
      only === undefined || more.length > 0 || written === undefined ? undefined : only + written;
  }
  if (value !== undefined) assignTo(run, state, node.name, [value]);
  else if (node.append !== true && isOneArithmetic(node)) {
    assignTo(run, state, node.name, 'number');
  } else {
    assignTo(run, state, node.name, undefined);
    if (node.append !== true && isCount(node, run)) hintAt(run, state, node.name, 'count');
  }
  const how = alone ? howOf(node.name, state) : 'prefix';
  if (how === 'export') state.exported.add(node.name);
  return { name: node.name, value, span: spanIn(place.frame, node), how };
}

function isOneArithmetic(node: Assignment): boolean {
  const { value } = node;
  if (value.type !== 'Word' || value.parts?.length !== 1) return false;
  return value.parts[0]?.type === 'ArithmeticExpansion';
}

function isCount(node: Assignment, run: Run): boolean {
  const { value } = node;
  if (value.type !== 'Word' || value.parts?.length !== 1 || node.index !== undefined) return false;
  const [part] = value.parts;
  return part?.type === 'CommandExpansion' && part.text === value.text && counts(part.text, run);
}

function checkSubscripts(node: Assignment, visitor: Visitor): void {
  if (node.index !== undefined) visitor.subscript(node.index);
  if (node.value.type !== 'ArrayValue') return;
  for (const element of node.value.elements) {
    visitor.braces(element);
    const key = /^\[(.*?)\]\+?=/s.exec(element.text)?.[1];
    if (key !== undefined && !/^\d+$/.test(key)) {
      visitor.arithmetic(element.pos + 1, element.pos + 1 + key.length, element);
    }
  }
}

/** `{a[1]}>file` is one redirection for bash, a word and a redirection for the parser. */
function checkDescriptors(
  node: Command,
  words: readonly (Word | Assignment)[],
  place: Place,
  run: Run,
): void {
  for (const { pos } of node.redirects) {
    const glued = words.find(({ end }) => end === pos);
    if (/^(?:\\\n)*\{[\s\S]*(?:\[|\\\n)/.test(glued?.text ?? '')) {
      run.problem('subscript', spanIn(place.frame, node), 'a descriptor may have a subscript');
    }
    if (/^(?:\\\n|\d)+$/.test(glued?.text ?? '')) {
      run.problem('hidden_substitution', spanIn(place.frame, node), 'a descriptor is on two lines');
    }
  }
}

function checkHereDocuments(node: Command, place: Place, run: Run): void {
  for (const redirect of node.redirects) {
    if (redirect.type !== 'HereDoc') continue;
    const span = spanIn(place.frame, redirect);
    if (place.substituted === 'code') {
      run.problem('heredoc_in_substitution', span, 'a here-document is inside of a substitution');
    }
    if (redirect.closing === undefined) {
      run.problem('parse_error', span, 'a here-document does not end');
    }
  }
}
