// Which text is searched and what it means to be found in it. The same for the scan and for the
// catalog, so that both find the same.
//
// Searched are four fields of an entry, all that is stored of them: command, description, stdout,
// stderr. What ran inside is searched in the same way, each process by itself, where that is asked
// for. Escape sequences and control characters (but tab and the two line ends) are taken out first.
// Letters match in either case, as Unicode folds them one by one: what `rg -i` finds. A regular
// expression is JavaScript's, `^` and `$` are the ends of a line.
import { AppError, messageOf } from '../errors.ts';

const CONTROL = new RegExp(
  [
    '\\x1b\\[[0-?]*[ -/]*[@-~]', // CSI
    '\\x1b\\](?:[^\\x07\\x1b]*(?:\\x07|\\x1b\\\\))?', // OSC
    '\\x1b[PX^_](?:[^\\x1b]*\\x1b\\\\)?', // the strings of DCS, SOS, PM and APC
    '\\x1b[ -/]*[0-~]?', // other escapes
    '\\x9b[0-?]*[ -/]*[@-~]', // CSI in one byte
    '[\\0-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f]', // single controls
  ].join('|'),
  'g',
);

/** A part of a field that is searched: `length` characters, from `from` in the field itself. */
type Piece = { readonly from: number; readonly length: number };

/** What is searched of one field: all of it but its control sequences. */
export function searchedText(field: string): string {
  return storable(field.replace(CONTROL, ''));
}

export function searchedOrNull(field: string | null): string | null {
  return field === null ? null : searchedText(field);
}

/** Where in the field a place in its searched text is. */
export function placeInField(field: string, index: number): number {
  let before = 0;
  let last = 0;
  for (const { from, length } of piecesOf(field)) {
    if (index < before + length) return from + index - before;
    before += length;
    last = from + length;
  }
  return last;
}

/** What lies between the control sequences of a field. */
function* piecesOf(field: string): Generator<Piece, void, undefined> {
  let at = 0;
  for (const { index, 0: sequence } of field.matchAll(CONTROL)) {
    if (index > at) yield { from: at, length: index - at };
    at = index + sequence.length;
  }
  if (field.length > at) yield { from: at, length: field.length - at };
}

/** As it comes back from a database: no halves of characters, and no NUL, which ends a text. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

export type Match = { readonly index: number; readonly length: number };

export type Matcher = {
  readonly find: (text: string) => Match | undefined;
  /** What every text in which something is found has in it; undefined when that is not known. */
  readonly literal: string | undefined;
};

/** Throws `usage` for a regular expression that is none. */
export function matcherOf(text: string, regex: boolean): Matcher {
  const literal = regex ? undefined : storable(text);
  const pattern = literal === undefined ? expression(text) : new RegExp(escaped(literal), 'iu');
  const find = (searched: string): Match | undefined => {
    const found = pattern.exec(searched);
    return found === null ? undefined : { index: found.index, length: found[0].length };
  };
  return { find, literal };
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

function expression(text: string): RegExp {
  try {
    return new RegExp(text, 'imu');
  } catch {
    // `\-` and the like are no mistake anywhere else.
  }
  try {
    return new RegExp(text, 'im');
  } catch (error) {
    const why = messageOf(error);
    throw new AppError('usage', why, {
      hint: 'Escape ( ) [ ] { } * + ? . ^ $ | with a backslash, or search without --regex.',
    });
  }
}

/** A text in which two letters that match are the same; not always the lower case one. */
export function folded(text: string): string {
  // The database folds A to Z itself.
  return text.replace(/[^\0-\x7f]/gu, foldedLetter);
}

function foldedLetter(letter: string): string {
  const upper = letter.toUpperCase();
  const lower = (isOne(upper) ? upper : letter).toLowerCase();
  return isOne(lower) ? lower : letter;
}

function isOne(text: string): boolean {
  return text.length === 1 || (text.length === 2 && (text.codePointAt(0) ?? 0) > 0xffff);
}
