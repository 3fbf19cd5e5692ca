// A word as the arguments a program gets: tildes, variables and braces replaced, split at blanks
// where bash splits, names of files left as patterns. In the order of bash.

import type { Word } from '../../text/shell-tree.ts';
import type { Arg } from '../unit.ts';
import { globArg, literalArg, unknownArg, type Written } from './args.ts';
import { type Atom, atomsOf } from './atoms.ts';
import { expandAtoms } from './braces.ts';
import { type Choice, resolve, type Scene } from './resolve.ts';
import { type Place, type Run, spanIn } from './run.ts';
import type { Glob, State } from './state.ts';

type Piece =
  | {
      readonly kind: 'text';
      readonly value: string;
      readonly quoted: boolean;
      readonly made: boolean;
    }
  /** `like`: names that match this, cut where they have blanks in them. */
  | {
      readonly kind: 'unknown';
      readonly one: boolean;
      readonly glob?: Glob;
      readonly like?: string;
    };

/** `undefined`: its braces are too many. */
export function expandWord(
  atoms: readonly Atom[],
  written: Written,
  scene: Scene,
): readonly Arg[] | undefined {
  const [only] = atoms;
  if (atoms.length === 1 && only?.kind === 'text' && (only.quoted || !SPECIAL.test(only.value))) {
    return [literalArg(written, only.value)];
  }
  const words = expandAtoms(atoms, scene.run);
  if (words === undefined) return undefined;
  // `x=~` is replaced like an assignment, but not when braces made it.
  if (words[0] !== atoms && atoms.some(isAssigned) && atoms.some(hasTilde)) return undefined;
  return words.flatMap((word) =>
    fieldsOf(withTildes(word, scene.state, false), scene).map((field) => argOf(field, written)),
  );
}

function isAssigned(atom: Atom): boolean {
  return atom.kind === 'text' && !atom.quoted && atom.value.includes('=');
}

function hasTilde(atom: Atom): boolean {
  return atom.kind === 'text' && !atom.quoted && atom.value.includes('~');
}

const SPECIAL = /[{~*?[]/;

/** The target of a redirection, or a word that bash does not split: one argument. */
export function expandOne(
  atoms: readonly Atom[],
  written: Written,
  scene: Scene,
  splits: boolean,
): Arg {
  const args = splits ? expandWord(atoms, written, scene) : [whole(atoms, written, scene)];
  const [only, ...more] = args ?? [];
  if (only !== undefined && more.length === 0) return only;
  return unknownArg(written, '', false);
}

function whole(atoms: readonly Atom[], written: Written, scene: Scene): Arg {
  const value = knownText(atoms, scene);
  if (value !== undefined) return literalArg(written, value);
  return unknownArg(written, '', true);
}

/** The value of an assignment, or the text of a here-document; undefined when it is not known. */
export function knownText(atoms: readonly Atom[], scene: Scene): string | undefined {
  let value = '';
  for (const atom of withTildes(atoms, scene.state, true)) {
    if (atom.kind === 'lost') return undefined;
    if (atom.kind === 'text') value += atom.value;
    else {
      const resolved = resolve(atom.node, scene);
      if (resolved.kind !== 'known') return undefined;
      value += resolved.value;
    }
  }
  return value;
}

function fieldsOf(atoms: readonly Atom[], scene: Scene): readonly (readonly Piece[])[] {
  const fields: Piece[][] = [];
  let field: Piece[] = [];
  const end = (): void => {
    if (field.length > 0) fields.push(field);
    field = [];
  };
  for (const atom of atoms) {
    if (atom.kind === 'lost') field.push({ kind: 'unknown', one: atom.one });
    else if (atom.kind === 'text') {
      field.push({ kind: 'text', value: atom.value, quoted: atom.quoted, made: false });
    } else {
      const resolved = resolve(atom.node, scene);
      const { splitsUnknown } = scene.run;
      if (resolved.kind === 'unknown') {
        const one = resolved.one && (atom.quoted || (resolved.number && !splitsUnknown));
        field.push({ kind: 'unknown', one });
      } else if (resolved.kind === 'file') {
        const { glob } = resolved;
        field.push(
          atom.quoted
            ? { kind: 'unknown', one: true, glob }
            : { kind: 'unknown', one: false, like: glob.pattern },
        );
      } else if (atom.quoted) {
        field.push({ kind: 'text', value: resolved.value, quoted: true, made: true });
      } else if (splitsUnknown) field.push({ kind: 'unknown', one: false });
      else {
        for (const part of resolved.value.split(/([ \t\n]+)/)) {
          if (/^[ \t\n]/.test(part)) end();
          else if (part !== '') {
            field.push({ kind: 'text', value: part, quoted: false, made: true });
          }
        }
      }
    }
  }
  end();
  return fields;
}

function argOf(field: readonly Piece[], written: Written): Arg {
  const text = field.map((piece) => (piece.kind === 'text' ? piece.value : '')).join('');
  const globs = hasGlob(field);
  const lost = field.some((piece) => piece.kind === 'unknown');
  if (!lost && !globs) return literalArg(written, text);
  const [first, ...more] = field.filter((piece) => piece.kind !== 'text' || piece.value !== '');
  if (more.length === 0 && first?.kind === 'unknown' && first.glob !== undefined) {
    return globArg(written, first.glob.pattern, first.glob.prefix);
  }
  const file = ofOneFile(field, written);
  if (file !== undefined) return file;
  const prefix = prefixOf(field);
  // A backslash that a variable brought in is one more thing that a pattern can mean.
  const odd = field.some(
    (piece) => piece.kind === 'text' && piece.made && !piece.quoted && piece.value.includes('\\'),
  );
  if (!lost && !odd) return globArg(written, patternOf(field, ''), prefix);
  const one = !globs && field.every((piece) => piece.kind === 'text' || piece.one);
  const bare = text === '' && !field.some((piece) => piece.kind === 'unknown' && piece.like);
  const shape = bare ? undefined : { open: patternOf(field, '*'), shut: patternOf(field, '') };
  return unknownArg(written, prefix, one, shape);
}

/** `"$dir"main.ts`, where `$dir` is one of the names that match: what it makes matches, too. */
function ofOneFile(field: readonly Piece[], written: Written): Arg | undefined {
  const plain = field.every((piece) =>
    piece.kind === 'text' ? piece.quoted || !/[*?[\\]/.test(piece.value) : piece.glob,
  );
  const files = field.filter((piece) => piece.kind === 'unknown').length;
  if (!plain || files !== 1) return undefined;
  const pattern = field.map((piece) =>
    piece.kind === 'unknown' ? (piece.glob?.pattern ?? '') : patternOf([piece], ''),
  );
  return globArg(written, pattern.join(''), prefixOf(field));
}

function hasGlob(field: readonly Piece[]): boolean {
  const open = field
    .map((piece) => (piece.kind === 'unknown' || piece.quoted ? ' ' : piece.value))
    .join('');
  const bracket = open.indexOf('[');
  return /[*?]/.test(open) || (bracket !== -1 && open.lastIndexOf(']') > bracket);
}

/** What is there for sure in front of the first thing that is not. */
function prefixOf(field: readonly Piece[]): string {
  let prefix = '';
  for (const piece of field) {
    if (piece.kind === 'unknown') return prefix + (piece.glob?.prefix ?? '');
    const at = piece.quoted ? -1 : piece.value.search(/[*?[\\]/);
    if (at !== -1) return prefix + piece.value.slice(0, at);
    prefix += piece.value;
  }
  return prefix;
}

function patternOf(field: readonly Piece[], lost: '*' | ''): string {
  return field
    .map((piece) => {
      if (piece.kind === 'unknown') return piece.like ?? lost;
      return piece.quoted ? piece.value.replace(/[*?[\]\\!^-]/g, '\\$&') : piece.value;
    })
    .join('');
}

/** The words that a loop goes through, when all of them are known: texts, and patterns of files. */
export function listed(
  words: readonly Word[] | undefined,
  place: Place,
  run: Run,
  state: State,
): readonly Choice[] | undefined {
  if (words === undefined) return undefined;
  const args = words.flatMap((word): readonly Arg[] => {
    const atoms = atomsOf(place.frame.source, word);
    const written = { source: word.text, span: undefined };
    const lostOne = unknownArg(written, '', false);
    if (atoms === undefined) {
      run.problem('hidden_substitution', spanIn(place.frame, word), 'a word is not understood');
      return [lostOne];
    }
    const expanded = expandWord(atoms, written, { run, state, world: new Map() });
    if (expanded === undefined) {
      const message = 'what its braces make cannot be told';
      run.problem('too_many', spanIn(place.frame, word), message);
    }
    return expanded ?? [lostOne];
  });
  const values = args.flatMap((arg): Choice[] =>
    arg.kind === 'literal' ? [arg.value] : arg.kind === 'glob' ? [globOf(arg, state)] : [],
  );
  return values.length === args.length && values.length > 0 ? [...new Set(values)] : undefined;
}

function globOf({ pattern, prefix }: Extract<Arg, { kind: 'glob' }>, { cwds }: State): Glob {
  return { pattern, prefix, cwds };
}

/**
 * `~` at the start of a word, and behind `=` and `:` where bash takes the word for an assignment,
 * which it does for `make A=~/x`, too. `assignment`: the atoms are a
 * value, so that every part between colons may begin with one.
 */
function withTildes(atoms: readonly Atom[], state: State, assignment: boolean): readonly Atom[] {
  if (!atoms.some((atom) => atom.kind === 'text' && !atom.quoted && atom.value.includes('~'))) {
    return atoms;
  }
  if (assignment) return expanded(atoms, state, 0, true);
  const [first] = atoms;
  const name =
    first?.kind === 'text' && !first.quoted ? /^[A-Za-z_]\w*\+?=/.exec(first.value) : null;
  if (name !== null) return expanded(atoms, state, name[0].length, true);
  return expanded(atoms, state, 0, false);
}

function expanded(
  atoms: readonly Atom[],
  state: State,
  start: number,
  colons: boolean,
): readonly Atom[] {
  const result: Atom[] = [];
  atoms.forEach((atom, index) => {
    if (atom.kind !== 'text' || atom.quoted) {
      result.push(atom);
      return;
    }
    const begins = index === 0 ? start : undefined;
    pieces(atom.value, begins, colons, atoms[index + 1] !== undefined, state, result);
  });
  return result;
}

function pieces(
  text: string,
  start: number | undefined,
  colons: boolean,
  followed: boolean,
  state: State,
  result: Atom[],
): void {
  let done = 0;
  for (let at = text.indexOf('~'); at !== -1; at = text.indexOf('~', at + 1)) {
    if (at < done || (at !== start && !(colons && text[at - 1] === ':'))) continue;
    const name = (colons ? /[^/:]*/y : /[^/]*/y).exec(text.slice(at))?.[0] ?? '';
    const end = at + name.length;
    // What follows is quoted or replaced, so bash does not read it as a user name.
    if (end === text.length && followed) continue;
    if (at > done) result.push({ kind: 'text', value: text.slice(done, at), quoted: false });
    result.push(directoryOf(name, state));
    done = end;
  }
  if (done < text.length) result.push({ kind: 'text', value: text.slice(done), quoted: false });
}

function directoryOf(name: string, state: State): Atom {
  const known = name === '~' ? state.value('HOME') : name === '~+' ? state.cwds : undefined;
  const [one, ...more] = known === undefined || known === 'number' ? [] : known;
  if (one === undefined || more.length > 0) return { kind: 'lost', one: true };
  return { kind: 'text', value: one, quoted: true };
}
