// Rules with typed holes, for what a `*` does not cover because it writes. Where the words in front
// of the files and their number varied, the rule is for any of that kind.

import type { General } from './propose.ts';
import type { Shape } from './shape.ts';
import { type Count, unseenMass } from './tally.ts';
import { PATH } from './typed-words.ts';

/** A rule with holes and the shapes that it is for. */
export type TypedRule = General & { readonly shapes: readonly (readonly [Shape, Count])[] };

/** One for each way in which the words in front of the files were seen to vary. */
export function typedRules(shapes: Iterable<readonly [Shape, Count]>): readonly TypedRule[] {
  const groups = new Map<string, (readonly [Shape, Count])[]>();
  for (const one of shapes) {
    const start = one[0].typed?.start;
    if (start === undefined) continue;
    const known = groups.get(start);
    if (known === undefined) groups.set(start, [one]);
    else known.push(one);
  }
  return [...groups].flatMap(([start, own]) => (varies(own) ? [ruleOf(start, own)] : []));
}

const DISTINCT_ENOUGH = 4;
const UNSEEN_MIN = 0.2;

function varies(shapes: readonly (readonly [Shape, Count])[]): boolean {
  if (shapes.length < 2) return false;
  return (
    shapes.length >= DISTINCT_ENOUGH || unseenMass(shapes.map(([, count]) => count)) >= UNSEEN_MIN
  );
}

const MORE_FILES_MAX = 4; // each doubles the variants of the rule

function ruleOf(start: string, shapes: readonly (readonly [Shape, Count])[]): TypedRule {
  const counts = shapes.map(([{ typed }]) => typed?.files ?? 0);
  const least = Math.min(...counts);
  // Where the number of files varies, one more of them is nothing new.
  const more = Math.max(...counts) === least ? 0 : MORE_FILES_MAX;
  const files = [...Array(least).fill(PATH), ...Array(more).fill(`[${PATH}]`)];
  const head = start.split(' ')[0] ?? '';
  const pattern = [start, ...files].join(' ');
  return { head, fixed: [], open: false, pattern, program: head, closed: false, shapes };
}
