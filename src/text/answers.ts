// Programs that say "no" with exit code 1: that is an answer, not a failure.

const MEANINGS = {
  'no match': ['grep', 'egrep', 'fgrep', 'zgrep', 'rg', 'pgrep'],
  'they differ': ['diff', 'cmp'],
  false: ['test', '[', '[['],
  'not found': ['which'],
};

/** What exit code 1 of a program means, by its name without its directory. */
export const ANSWERS: Readonly<Partial<Record<string, string>>> = Object.fromEntries(
  Object.entries(MEANINGS).flatMap(([meaning, names]) => names.map((name) => [name, meaning])),
);
