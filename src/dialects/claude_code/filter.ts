// The filter of `BashOutput`: an expression that new lines of a shell must match to be shown.

import { type Matcher, matcherOf, PatternError } from '../../agent/search-match.ts';
import type { NewOutput, NextPart } from '../../shell/output/new-output.ts';
import type { Capture } from '../../shell/shell.ts';
import { ArgumentError } from '../arguments.ts';

const FILTERED_BYTES_MAX = 16 * 1024 * 1024; // looked through by one call

type Matches = Pick<NextPart, 'text' | 'more'> & {
  readonly gaveUp: boolean;
};

export const NOTHING: Matches = { text: '', more: false, gaveUp: false };

/** Only the lines that match, as many as fit; all that were looked at are gone. */
export function matching(
  reader: NewOutput,
  capture: Capture,
  filter: Matcher,
  bytesMax: number,
): Matches {
  const found: string[] = [];
  let room = bytesMax;
  let more = true;
  for (let looked = 0; more && room > 0 && looked < FILTERED_BYTES_MAX; ) {
    const piece = reader.next(capture, room, 'whole');
    const kept = matchingLines(piece.text, filter);
    found.push(kept ?? piece.text);
    // What was read is gone, so it is shown as it is.
    if (kept === undefined) return { text: found.join(''), more: piece.more, gaveUp: true };
    room -= Buffer.byteLength(kept);
    looked += piece.looked;
    ({ more } = piece);
    if (piece.text === '' && piece.looked === 0) break; // no room for even one character
  }
  return { text: found.join(''), more, gaveUp: false };
}

/** Undefined when the filter takes too long. */
function matchingLines(text: string, filter: Matcher): string | undefined {
  const lines = text.split(/(?<=\n)/).filter((line) => line !== '');
  try {
    const matches = new Set(filter.find(lines.map((line) => line.replace(/\n$/, ''))));
    return lines.filter((_, i) => matches.has(i)).join('');
  } catch (error) {
    if (error instanceof PatternError) return undefined;
    throw error;
  }
}

export function filterOf(text: string | undefined): Matcher | undefined {
  if (text === undefined) return undefined;
  try {
    return matcherOf({ text, regex: true, ignoreCase: false });
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw new ArgumentError(`filter cannot be used: ${error.message}`);
  }
}
