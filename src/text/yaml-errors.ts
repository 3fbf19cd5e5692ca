// Messages for a file that is no YAML: what the parser found, and what to write instead. The
// parser's own sentences speak of its grammar ("Implicit keys need to be on a single line"), and
// change with its versions; only its codes are used.

import type { ErrorCode } from 'yaml';

/** The file, and where in it the parser stopped. */
type Spot = { readonly text: string; readonly offset: number };

const COLUMN = 'start all keys and all - of one list in the same column';
const QUOTE_IT = 'write the value in quotes';

const MESSAGES: Readonly<Record<ErrorCode, string | ((spot: Spot) => string)>> = {
  ALIAS_PROPS: 'an alias (*name) with a tag or an anchor; remove what stands in front of it',
  BAD_ALIAS: 'an anchor (&) or alias (*) without a plain name; name it, or quote the text',
  BAD_COLLECTION_TYPE: 'a tag that does not fit its value; remove the tag',
  BAD_DIRECTIVE: 'a line that begins with % is a directive, and this one is unknown; remove it',
  BAD_DQ_ESCAPE: 'an unknown escape in double quotes; write \\\\ for a backslash, or single quotes',
  BAD_INDENT: badIndent,
  BAD_PROP_ORDER: 'a tag or an anchor in front of its - or ?; put it behind',
  BAD_SCALAR_START: ({ text, offset }) =>
    `a value cannot begin with ${text[offset] ?? 'this'} outside quotes; ${QUOTE_IT}`,
  BLOCK_AS_IMPLICIT_KEY: `a key or list where a value is expected; ${COLUMN}, or quote the value`,
  BLOCK_IN_FLOW: 'a line of its own inside of braces or brackets; put commas between the items',
  DUPLICATE_KEY: 'a key that is there already; remove one of them',
  IMPOSSIBLE: 'this is not YAML; compare it with the example in the documentation',
  KEY_OVER_1024_CHARS: 'a key of more than 1024 characters; shorten it',
  MISSING_CHAR: missing,
  MULTILINE_IMPLICIT_KEY: noKey,
  MULTIPLE_ANCHORS: 'a value with two anchors (&name); keep one of them',
  MULTIPLE_DOCS: 'a second document starts here; this file is one document',
  MULTIPLE_TAGS: 'a value with two tags (!name); remove them',
  NON_STRING_KEY: 'a key that is not text; write it in quotes',
  RESOURCE_EXHAUSTION: 'more than can be read; make the file simpler',
  TAB_AS_INDENT: 'a tab at the beginning of a line; indent with spaces',
  TAG_RESOLVE_FAILED: 'tags like !name are not supported here',
  UNEXPECTED_TOKEN: unexpected,
};

export function syntaxMessage(code: ErrorCode, text: string, offset: number): string {
  const message = MESSAGES[code];
  return typeof message === 'string' ? message : message({ text, offset });
}

function atEnd({ text, offset }: Spot): boolean {
  return text.slice(offset).trim() === '';
}

function lineAt({ text, offset }: Spot): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return text.slice(start).split('\n', 1)[0] ?? '';
}

function badIndent(spot: Spot): string {
  if (atEnd(spot)) return 'the file ends inside of braces or brackets; close them with } or ]';
  return `this line is indented unlike its neighbours, or braces above are not closed; ${COLUMN}`;
}

function missing(spot: Spot): string {
  if (atEnd(spot)) return 'the file ends inside of quotes; close them';
  if (spot.text[spot.offset] === '#') return 'a comment right behind a value; put a space before #';
  return noKey(spot);
}

function noKey(spot: Spot): string {
  const line = lineAt(spot);
  if (line.trimStart().startsWith('-')) return `a list item where a key is expected; ${COLUMN}`;
  if (!line.includes(':')) return 'a line without a colon; write `key: value`';
  return 'something is missing, such as a comma, a quote or a space behind a colon; add it';
}

function unexpected({ text, offset }: Spot): string {
  const found = text[offset] ?? '';
  if (found === ',') return 'a comma with nothing in front of it; remove it';
  if (found === ']' || found === '}') return `a ${found} that closes nothing; remove it`;
  return 'text that belongs to nothing before it; put a comma or a new line between, or quote all';
}
