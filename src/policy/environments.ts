// Trusted directories of programs (`programs` in a policy): `.venv/bin/pytest` is what a rule means
// by `pytest` if a person, or the system, trusts `.venv/bin`, git does not track the program, and
// it does not lead to where agents write. Known activation scripts there may be sourced.

import { posix } from 'node:path';
import { literalOf } from './analyse/args.ts';
import type { Bounds, Objection } from './bounds.ts';
import { absolute, environmentOf, isInside, leadsTo } from './paths.ts';
import { isOwnPath } from './programs.ts';
import type { Arg, Unit } from './unit.ts';

export type MeantProgram =
  /** The unit as if its program were the system's. */
  | { readonly unit: Unit; readonly objection?: undefined }
  | { readonly unit?: undefined; readonly objection: Objection };

/** Undefined: its program is in no such directory. */
export function programIn(unit: Unit, bounds: Bounds): MeantProgram | undefined {
  const [first, ...rest] = unit.argv;
  if (first?.kind !== 'literal' || !isOwnPath(first.value)) return undefined;
  const { value } = first;
  if (unit.cwds === undefined && !value.startsWith('/')) return undefined;
  const cwds = unit.cwds ?? ['/'];
  if (!cwds.every((cwd) => isListed(posix.dirname(absolute(value, cwd)), bounds))) return undefined;
  for (const cwd of cwds) {
    const why = distrusted(value, cwd, bounds);
    if (why === undefined) continue;
    const message = `\`${value}\` is in a trusted directory, but ${why}`;
    return { objection: { code: 'program.path', span: first.span, message } };
  }
  const named: Arg = { ...first, value: posix.basename(value) };
  return { unit: { ...unit, argv: [named, ...rest] } };
}

/** The directory itself, and none below it. */
function isListed(directory: string, { programs }: Bounds): boolean {
  return programs.has(directory) && !programs.has(posix.dirname(directory));
}

function distrusted(value: string, cwd: string, bounds: Bounds): string | undefined {
  const { disk, real, protected: held } = bounds;
  const path = absolute(value, cwd);
  const there = leadsTo(value, cwd, real);
  if (disk?.tracked(path) === true || disk?.tracked(there) === true) return 'git tracks it';
  const own = real(environmentOf(posix.dirname(path)));
  if (isInside(there, own) || bounds.environments.has(there) || held.control(there)) {
    return undefined;
  }
  return `it leads to \`${there}\`, which is in none`;
}

/** `source .venv/bin/activate`, of a trusted directory and with a script that is known. */
export function activates({ argv, cwds }: Unit, bounds: Bounds): boolean {
  const [program, script, ...more] = argv.map(literalOf);
  if ((program !== 'source' && program !== '.') || more.length > 0) return false;
  if (script === undefined || !script.includes('/') || cwds === undefined) return false;
  return cwds.every((cwd) => isActivation(absolute(script, cwd), bounds));
}

/** What it puts first in PATH has to be trusted as a whole: other programs start those in it. */
export function isActivation(script: string, bounds: Bounds): boolean {
  const { disk, real } = bounds;
  const there = real(script);
  const directory = posix.dirname(there);
  return (
    disk?.activation(there) === directory &&
    isListed(posix.dirname(script), bounds) &&
    (isListed(directory, bounds) || bounds.protected.control(directory)) &&
    !disk.tracked(directory)
  );
}
