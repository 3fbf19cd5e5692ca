// Messages that quote the arguments of this process, safe for a terminal: an argument may come from
// a file name or from an agent, and must not set a title, move the cursor or begin a new line.

import { printable } from '../text/printable.ts';

/** The message with every argument in it escaped, and no control character left but line ends. */
export function safeWords(words: string): string {
  const pieces = process.argv
    .slice(2)
    .flatMap((arg) => [arg, arg.slice(arg.indexOf('=') + 1)])
    .filter((piece) => piece.trim() !== '' && printable(piece) !== piece)
    .sort((a, b) => b.length - a.length);
  const named = pieces.reduce((text, piece) => text.replaceAll(piece, printable(piece)), words);
  return named.split('\n').map(printable).join('\n');
}
