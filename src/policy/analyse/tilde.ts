// `~` at the start of a word, and behind `=` and `:` where bash takes the word for an assignment,
// which it does for `make A=~/x`, too.

import type { Atom } from './atoms.ts';
import type { State } from './state.ts';

/** `assignment`: the atoms are a value, so that every part between colons may begin with one. */
export function withTildes(
  atoms: readonly Atom[],
  state: State,
  assignment: boolean,
): readonly Atom[] {
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
