// YAML to print. A file of its own: only who asks for YAML loads what makes it.

import { Document, visit } from 'yaml';

// What a terminal would obey, or what turns the direction of the text beside it.
const UNSAFE = /[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/u;

/** The same value to a reader of YAML, and safe for a terminal to show. */
export function yaml(value: unknown): string {
  const document = new Document(value);
  visit(document, {
    Scalar(_, node) {
      // Only there can a character be written as its number.
      if (typeof node.value === 'string' && UNSAFE.test(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  return document.toString({ lineWidth: 0 }).replace(new RegExp(UNSAFE, 'gu'), escaped);
}

function escaped(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  return hex.length > 4 ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
}
