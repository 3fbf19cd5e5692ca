// Filters: where a policy says `filters: true`, a program behind `|` that only turns its input into
// output needs no rule of its own. It names no file, has no option that reads, writes, runs or
// configures anything, and its output goes on or to `/dev/null`.

import type { Line } from './evasion.ts';
import { hasTrait } from './facts.ts';
import type { Call, Part } from './profile.ts';
import { programName, showsEnvironment } from './programs.ts';
import type { Unit, UnitRedirect } from './unit.ts';

export function isFilter(unit: Unit, lines: readonly Line[]): boolean {
  const { argv, assigned, redirects, stdin, via } = unit;
  const [first, ...rest] = argv;
  if (stdin !== 'pipe' || via.length > 0 || assigned.length > 0) return false;
  if (first?.kind !== 'literal' || !hasTrait(programName(first.value), 'filter')) return false;
  if (!rest.every(({ kind }) => kind === 'literal') || !redirects.every(isQuiet)) return false;
  const call = lines[0]?.call;
  return call !== undefined && onlyFilters(call, argv.length) && !showsEnvironment(unit);
}

function isQuiet({ effect, target }: UnitRedirect): boolean {
  if (effect === 'dup') return true;
  return target?.kind === 'literal' && target.value === '/dev/null';
}

function onlyFilters({ kind, inner, subcommands, parts }: Call, length: number): boolean {
  if (kind !== 'read' || inner !== undefined || subcommands.length > 0) return false;
  const known = new Set(parts.map(({ index }) => index));
  for (let index = 1; index < length; index += 1) if (!known.has(index)) return false;
  return parts.every(isInert);
}

/**
 * These look for files themselves: `grep -r x` reads the whole directory, and `sha256sum -c` the
 * files that its input names.
 */
const LOOKING = new Set([
  '--recursive',
  '--dereference-recursive',
  '--directories',
  '--files',
  '--check',
]);

const HARMLESS = new Set<Part['role']>(['option', 'word', 'int', 'sed', 'awk']);

function isInert({ role, option, effect, value }: Part): boolean {
  if (effect !== undefined || LOOKING.has(option ?? '')) return false;
  // `-` is the input itself.
  return HARMLESS.has(role) || (role === 'path' && option === undefined && value === '-');
}
