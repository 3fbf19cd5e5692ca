// Filters: where a policy says `filters: true`, a program behind `|` that only turns its input into
// output needs no rule of its own. It names no file, has no option that reads, writes, runs or
// configures anything, and its output goes on or to `/dev/null`.

import type { Line } from './evasion.ts';
import type { Call, Part } from './profile.ts';
import { programName, showsEnvironment } from './programs.ts';
import type { Unit, UnitRedirect } from './unit.ts';

/**
 * Their input is data, and without a file they read nothing else: `eslint` would read and run the
 * settings of the project, and `ls` looks at no input at all.
 */
const FILTERS: ReadonlySet<string> = new Set(
  `cat tac head tail rev nl fold fmt pr expand unexpand column cut paste join comm tr uniq sort
  wc cmp diff grep egrep fgrep zgrep zegrep zfgrep rg sed gsed awk gawk mawk nawk jq shuf tsort
  factor numfmt od hd hexdump xxd strings base32 base64 md5 md5sum b2sum sha1sum sha224sum
  sha256sum sha384sum sha512sum shasum cksum sum iconv zcat gzcat bzcat xzcat zstdcat echo
  printf`.split(/\s+/),
);

export function isFilter(unit: Unit, lines: readonly Line[]): boolean {
  const { argv, assigned, redirects, stdin, via } = unit;
  const [first, ...rest] = argv;
  if (stdin !== 'pipe' || via.length > 0 || assigned.length > 0) return false;
  if (first?.kind !== 'literal' || !FILTERS.has(programName(first.value))) return false;
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
