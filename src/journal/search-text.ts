// Which text is searched and what it means to be found in it. The same for the scan and for the
// catalog, so that both find the same.
//
// Searched are four fields of an entry: command, description, stdout, stderr. Of a field longer
// than 4,096 characters the first and the last 2,048 are searched: errors stand at one of the ends,
// and the bytes are in the capture. What ran inside is searched in the same way, each process by
// itself, where that is asked for. Escape sequences and control characters (but tab and the two
// line ends) are taken out first. Letters match in either case, as Unicode folds them one by one:
// what `rg -i` finds. A regular expression is JavaScript's, `^` and `$` are the ends of a line.
import { AppError } from '../errors.ts';

const EXCERPT_LENGTH_MAX = 4_096;
const END_LENGTH = EXCERPT_LENGTH_MAX / 2;
/** Stands where the middle was left out. No excerpt has it otherwise. */
const GAP = '\x1f';
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

/** What is searched of one field. */
export function excerptOf(field: string): string {
  return storable(
    piecesOf(field)
      .map((piece) => textOf(field, piece))
      .join(''),
  );
}

/** Where in the field a place in its excerpt is. */
export function placeInField(field: string, index: number): number {
  let before = 0;
  let last = 0;
  for (const { from, length } of piecesOf(field)) {
    if (index < before + length) return from < 0 ? last : from + index - before;
    before += length;
    if (from >= 0) last = from + length;
  }
  return last;
}

function textOf(field: string, { from, length }: Piece): string {
  return from < 0 ? GAP : field.slice(from, from + length);
}

function piecesOf(field: string): Piece[] {
  if (field.length <= EXCERPT_LENGTH_MAX) return cleaned(field, 0, field.length);
  const headEnd = END_LENGTH - Number(isHigh(field, END_LENGTH - 1));
  const tailStart = field.length - END_LENGTH;
  const tail = tailStart + Number(isHigh(field, tailStart - 1));
  const gap = { from: -1, length: GAP.length };
  return [...cleaned(field, 0, headEnd), gap, ...cleaned(field, tail, field.length)];
}

/** What lies between the control sequences of `field[from, to)`. */
function cleaned(field: string, from: number, to: number): Piece[] {
  const pieces: Piece[] = [];
  const part = from === 0 && to === field.length ? field : field.slice(from, to);
  let at = 0;
  for (const { index, 0: sequence } of part.matchAll(CONTROL)) {
    if (index > at) pieces.push({ from: from + at, length: index - at });
    at = index + sequence.length;
  }
  if (part.length > at) pieces.push({ from: from + at, length: part.length - at });
  return pieces;
}

function isHigh(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xd800;
}

/** As it comes back from a database: no halves of characters, and no NUL, which ends a text. */
export function storable(text: string): string {
  return text.replace(/[\p{Cs}\0]/gu, '\ufffd');
}

export type Match = { readonly index: number; readonly length: number };

export type Matcher = {
  readonly find: (excerpt: string) => Match | undefined;
  /** What every excerpt in which something is found has in it; undefined when that is not known. */
  readonly literal: string | undefined;
};

/** Throws `usage` for a regular expression that is none. */
export function matcherOf(text: string, regex: boolean): Matcher {
  const literal = regex ? undefined : storable(text);
  const pattern = literal === undefined ? expression(text) : new RegExp(escaped(literal), 'iu');
  const find = (excerpt: string): Match | undefined => {
    const found = pattern.exec(excerpt);
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
    const why = error instanceof Error ? error.message : String(error);
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
