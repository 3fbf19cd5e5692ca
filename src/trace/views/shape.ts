// The shape of a process: its programs without the words that differ from one file to the next, so
// that thirty compilations are one thing, and a process of one run is found again in another.

import { normalForm } from '../../text/command-shape.ts';
import { quoteWords } from '../../text/printable.ts';
import { type Image, lastImage } from '../processes/process.ts';
import { commandText } from '../shown.ts';
import type { TracedProcess } from '../trace.ts';

const NUMBER = /^[-+]?\d+(?:[.:]\d+)*$/;

export function shapeOf({ images, forkedFrom }: TracedProcess): string {
  const copy = forkedFrom === undefined ? '' : '(copy) ';
  return copy + images.map(imageShape).join(' → ');
}

function imageShape({ argv, exe }: Image): string {
  const [program = '', ...words] = normalForm(quoteWords(argv.length === 0 ? [exe] : argv)).split(
    ' ',
  );
  return [program, ...words.map((word) => (NUMBER.test(word) ? '<n>' : word))].join(' ');
}

const DIFFERENT = '…';

/** The command line that all have in common, with a mark for what differs. */
export function commonText(all: readonly (readonly string[])[]): string {
  const [first = [], ...others] = all;
  const same = (word: string, i: number): boolean => others.every((argv) => argv[i] === word);
  const words = first.map((word, i) => (same(word, i) ? quoteWords([word]) : DIFFERENT));
  if (others.some((argv) => argv.length !== first.length)) words.push(DIFFERENT);
  return words.filter((word, i) => word !== DIFFERENT || words[i - 1] !== DIFFERENT).join(' ');
}

/** Several processes of one shape as the command line that their last programs have in common. */
export function commonCommand(members: readonly TracedProcess[]): string {
  const [first] = members;
  if (first === undefined) return '';
  const image = lastImage(first);
  if (members.length === 1) return commandText(first, image);
  const own = image !== undefined && !image.inherited;
  const words = own ? commonText(members.map((one) => lastImage(one)?.argv ?? [])) : '';
  return `x ${members.length} ${words || commandText(first, image)}`;
}
