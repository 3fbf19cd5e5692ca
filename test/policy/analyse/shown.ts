// Units as short texts, so that tables of them can be read.
import { analyse } from '../../../src/policy/analyse/index.ts';
import type { Analysis, Arg } from '../../../src/policy/unit.ts';

const OPTIONS = { cwd: '/p', home: '/h' };

export function read(text: string): Analysis {
  return analyse(text, OPTIONS);
}

/** `<x...>` begins with x, and is one argument; `<x...>*` is any number of them. */
export function shownArg(arg: Arg): string {
  if (arg.kind === 'literal')
    return /^[\w./=:@%+,-]+$/.test(arg.value) ? arg.value : `'${arg.value}'`;
  if (arg.kind === 'glob') return `glob(${arg.pattern})`;
  return `<${arg.prefix}...>${arg.one ? '' : '*'}`;
}

/** The units that run a program, one string each. */
export function commands(text: string): readonly string[] {
  return read(text)
    .units.filter(({ argv }) => argv.length > 0)
    .map(
      ({ argv, behind }) => argv.map(shownArg).join(' ') + (behind ? ` (behind ${behind})` : ''),
    );
}

export function codes(text: string): readonly string[] {
  return [...new Set(read(text).problems.map(({ code }) => code))];
}
