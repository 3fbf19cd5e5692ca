// A shell that gets its script as its input shares it with the commands in it: `head -c 5` takes
// five characters of the next line away, and what is left of that line is another command.

import { isListed } from '../facts.ts';
import type { Unit } from '../unit.ts';

/** Whether what the shell goes on with may be something else than what is written. */
export function readsItself(script: string, units: readonly Unit[]): boolean {
  // A line is read as a whole, and run then.
  const lines = script.trimEnd().includes('\n');
  return units.some(({ argv, stdin }) => {
    const [program] = argv;
    if (program === undefined) return false;
    const name = program.kind === 'literal' ? program.value : '';
    if (name === 'exec') return true; // `exec <file` makes a file the script
    return lines && (stdin === 'text' || stdin === 'inherited') && !isListed('quiet', name);
  });
}
