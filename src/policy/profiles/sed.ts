// Reads a sed script, as GNU sed would, for what it does besides editing text: `w` writes files,
// `e` runs commands, `r` reads files. What is not understood is unknown, not inert.

import type { Found, ScriptRead } from './judged.ts';

type Cursor = { readonly text: string; at: number };

class NotUnderstood extends Error {}

export function sedParts(script: string): ScriptRead {
  const found: Found[] = [];
  const files: string[] = [];
  const cursor: Cursor = { text: script, at: 0 };
  try {
    while (cursor.at < script.length) {
      // `#n` and comments go to the end of the line.
      if (peek(cursor) === '#') restOfLine(cursor);
      else if (/[\s;}]/.test(peek(cursor))) cursor.at++;
      else readCommand(cursor, found, files);
    }
  } catch (error) {
    if (!(error instanceof NotUnderstood)) throw error;
    found.push({ effect: 'unknown', why: `the sed script is not understood: ${error.message}` });
  }
  return { found, files };
}

function readCommand(cursor: Cursor, found: Found[], files: string[]): void {
  readAddress(cursor);
  skip(cursor, /\s/);
  if (peek(cursor) === ',') {
    cursor.at++;
    skip(cursor, /\s/);
    if (!readAddress(cursor)) throw new NotUnderstood('an address is missing');
  }
  skip(cursor, /[\s!]/);
  const command = next(cursor);
  switch (command) {
    case '{':
      return;
    case 's':
      readSubstitution(cursor, found);
      return;
    case 'y':
      readTransliteration(cursor);
      return;
    case 'w':
    case 'W':
      found.push({ effect: 'write', why: `\`${command}\` in a sed script writes a file` });
      restOfLine(cursor);
      return;
    case 'e':
      found.push({ effect: 'exec', why: '`e` in a sed script runs a command' });
      restOfLine(cursor);
      return;
    case 'r':
    case 'R':
      files.push(restOfLine(cursor).trim());
      return;
    case 'a':
    case 'i':
    case 'c':
      readText(cursor);
      return;
    case ':':
      // The label of `:a;N` ends at the `;` for GNU sed, at the line's end for others.
      labelOf(cursor);
      return;
    case 'b':
    case 't':
    case 'T':
      labelOf(cursor);
      return;
    default:
      readPlain(cursor, command);
  }
}

/** Commands without an argument, or with a number. */
function readPlain(cursor: Cursor, command: string): void {
  if (!/^[=dDgGhHnNpPxzFlLqQ]$/.test(command)) throw new NotUnderstood(`\`${command}\``);
  skip(cursor, /[ \t]/);
  if (/^[lLqQ]$/.test(command)) skip(cursor, /\d/);
  skip(cursor, /[ \t]/);
  const end = peek(cursor);
  if (end !== '' && !/[;\n}#]/.test(end))
    throw new NotUnderstood(`\`${end}\` behind \`${command}\``);
}

/** A line number, `$`, `/regex/`, `\cregexc`, `first~step`, `+n`, `~n`. */
function readAddress(cursor: Cursor): boolean {
  const sign = peek(cursor);
  if (sign === '$') {
    cursor.at++;
    return true;
  }
  if (/[\d+~]/.test(sign)) {
    cursor.at++;
    skip(cursor, /[\d~]/);
    return true;
  }
  if (sign === '/' || sign === '\\') {
    cursor.at += sign === '/' ? 1 : 2;
    readRegex(cursor, sign === '/' ? '/' : (cursor.text[cursor.at - 1] ?? ''));
    skip(cursor, /[IM]/);
    return true;
  }
  return false;
}

/**
 * To the delimiter that ends it. A bracket may hide a delimiter from some seds (`[/]`) and not from
 * others; with one in a bracket the end of the script is ambiguous.
 */
function readRegex(cursor: Cursor, delimiter: string): void {
  const text = readTo(cursor, delimiter).replace(/\\[\s\S]|\[:\w+:\]/g, '');
  if (text.lastIndexOf('[') > text.lastIndexOf(']') || /\[\^?\]$/.test(text)) {
    throw new NotUnderstood('a delimiter inside of brackets');
  }
}

function readTo(cursor: Cursor, delimiter: string): string {
  if (delimiter === '' || delimiter === '\n' || delimiter === '\\') {
    throw new NotUnderstood('a delimiter');
  }
  const from = cursor.at;
  while (cursor.at < cursor.text.length) {
    const sign = cursor.text[cursor.at];
    if (sign === '\\') cursor.at += 2;
    else if (sign === delimiter) {
      cursor.at++;
      return cursor.text.slice(from, cursor.at - 1);
    } else cursor.at++;
  }
  throw new NotUnderstood('the end is missing');
}

function readSubstitution(cursor: Cursor, found: Found[]): void {
  const delimiter = next(cursor);
  readRegex(cursor, delimiter);
  readTo(cursor, delimiter);
  for (;;) {
    const flag = peek(cursor);
    if (flag === 'w') {
      found.push({ effect: 'write', why: '`s///w` in a sed script writes a file' });
      restOfLine(cursor);
      return;
    }
    if (flag === 'e') found.push({ effect: 'exec', why: '`s///e` in a sed script runs a command' });
    if (!/[gpiImMe\d]/.test(flag)) break;
    cursor.at++;
  }
  endOfCommand(cursor);
}

function readTransliteration(cursor: Cursor): void {
  const delimiter = next(cursor);
  readTo(cursor, delimiter);
  readTo(cursor, delimiter);
  endOfCommand(cursor);
}

function endOfCommand(cursor: Cursor): void {
  skip(cursor, /[ \t]/);
  const end = peek(cursor);
  if (end !== '' && !/[;\n}#]/.test(end)) throw new NotUnderstood(`\`${end}\``);
}

/** `a text` and `a\` with lines that each end in a backslash but the last. */
function readText(cursor: Cursor): void {
  while (cursor.at < cursor.text.length) {
    const sign = next(cursor);
    if (sign === '\\') cursor.at++;
    else if (sign === '\n') return;
  }
}

function labelOf(cursor: Cursor): void {
  skip(cursor, /[ \t]/);
  skip(cursor, /[\w.-]/);
  endOfCommand(cursor);
}

function restOfLine(cursor: Cursor): string {
  const end = cursor.text.indexOf('\n', cursor.at);
  const from = cursor.at;
  cursor.at = end === -1 ? cursor.text.length : end + 1;
  return cursor.text.slice(from, end === -1 ? undefined : end);
}

function peek(cursor: Cursor): string {
  return cursor.text[cursor.at] ?? '';
}

function next(cursor: Cursor): string {
  const sign = peek(cursor);
  if (sign === '') throw new NotUnderstood('a command is missing');
  cursor.at++;
  return sign;
}

function skip(cursor: Cursor, signs: RegExp): void {
  while (cursor.at < cursor.text.length && signs.test(peek(cursor))) cursor.at++;
}
