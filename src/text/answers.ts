// Programs that say "no" with exit code 1: that is an answer, not a failure.

const NO_MATCH = 'no match';
const DIFFERENT = 'they differ';
const FALSE = 'false';

/** What exit code 1 of a program means, by its name without its directory. */
export const ANSWERS: Readonly<Partial<Record<string, string>>> = {
  grep: NO_MATCH,
  egrep: NO_MATCH,
  fgrep: NO_MATCH,
  zgrep: NO_MATCH,
  rg: NO_MATCH,
  pgrep: NO_MATCH,
  diff: DIFFERENT,
  cmp: DIFFERENT,
  test: FALSE,
  '[': FALSE,
  '[[': FALSE,
  which: 'not found',
};
