// The surroundings of a unit's words: the directory it runs in, the variables it sets, the files it
// is redirected to. A rule is about words; these are allowed by the policy as a whole.

import { posix } from 'node:path';
import { literalOf } from './analyse/args.ts';
import {
  type Bounds,
  mayRedirect,
  type Objection,
  pathObjection,
  protectionObjection,
  unknownDirectory,
} from './bounds.ts';
import type { Verdict } from './decision.ts';
import { hasTrait, isListed } from './facts.ts';
import { absolute, type PathSet } from './paths.ts';
import { readCall } from './profiles/index.ts';
import { programName } from './programs.ts';
import { isSink } from './protected.ts';
import type { Assigned, Unit, UnitRedirect } from './unit.ts';
import { showsSecret, variableClass } from './variables.ts';

type Around = {
  readonly fallback: Verdict;
  /** The whole command. */
  readonly text: string;
  /** Whether a part of the command may put a link in the way of this one. */
  readonly moves: (unit: Unit) => boolean;
};

/** The first thing around it that is not allowed. Where all is allowed, only what is dangerous. */
export function surroundings(
  unit: Unit,
  bounds: Bounds,
  { fallback, text, moves }: Around,
): Objection | undefined {
  const open = fallback === 'allow';
  for (const assigned of unit.assigned) {
    if (splitsLines(assigned, unit)) continue;
    const objection = variableObjection(assigned, bounds, open);
    if (objection !== undefined) return objection;
  }
  for (const redirect of unit.redirects) {
    const objection = redirectObjection(redirect, unit, bounds, open ? 'any' : moves);
    if (objection !== undefined) return objection;
  }
  // The content of a here-document is only known as text.
  if (unit.redirects.some(({ effect }) => effect === 'text') && showsSecret(text)) {
    const message = 'what it is given could show a secret of the environment';
    return { code: 'env', detail: 'secret', message };
  }
  for (const arg of unit.argv) {
    if (arg.kind !== 'literal' && showsSecret(arg.source)) {
      return {
        code: 'env',
        detail: 'secret',
        span: arg.span,
        message: `\`${arg.source}\` would show a secret of the environment`,
      };
    }
  }
  return bareObjection(unit, bounds) ?? (open ? undefined : directoryObjection(unit, bounds));
}

/**
 * A repository that an agent made of plain files: its settings name programs, which `git status`
 * in it would run.
 */
function bareObjection(unit: Unit, { bare, roots }: Bounds): Objection | undefined {
  const found = directoriesOf(unit)
    .flatMap((directory) => [...above(directory, roots.project)])
    .find(bare);
  if (found === undefined) return undefined;
  return {
    code: 'cwd',
    detail: found,
    span: unit.span,
    message: `\`${found}\` is a repository of its own, whose settings could make git run programs`,
    hint: 'Run it in another directory.',
  };
}

/** Where it runs, and where `git -C` goes. */
function directoriesOf({ cwds = [], argv }: Unit): readonly string[] {
  const words = argv.map(literalOf);
  if (programName(words[0] ?? '') !== 'git') return cwds;
  const found = [...cwds];
  let at: readonly string[] = cwds;
  for (const [index, word] of words.entries()) {
    if (words[index - 1] !== '-C') continue;
    at = at.map((cwd) => absolute(word, cwd));
    found.push(...at);
  }
  return found;
}

/** The directory and those above it, below the project. */
function* above(directory: string, project: string): Generator<string> {
  let at = directory;
  while (at.startsWith(project === '/' ? '/' : `${project}/`) && at !== '/') {
    if (posix.basename(at) !== '.git') yield at;
    at = posix.dirname(at);
  }
}

/** `while IFS= read -r line`: only where `read` divides its line, which names no file. */
function splitsLines({ name, how }: Assigned, { argv }: Unit): boolean {
  return name === 'IFS' && how === 'prefix' && literalOf(argv[0]) === 'read';
}

function variableObjection(
  { name, value, how, span }: Assigned,
  { variables }: Bounds,
  open: boolean,
): Objection | undefined {
  const kind = variableClass(name, value, variables);
  if (kind === 'harmless' || (kind === 'other' && (open || how === 'shell'))) return undefined;
  return {
    code: 'env',
    detail: name,
    span,
    message:
      kind === 'dangerous'
        ? `\`${name}\` can change what programs do`
        : `what \`${name}\` does to the program is not known`,
    hint: 'Variables that may be set are listed under `env`.',
  };
}

function redirectObjection(
  { effect, target, span }: UnitRedirect,
  unit: Unit,
  bounds: Bounds,
  moves: Around['moves'] | 'any',
): Objection | undefined {
  const { cwds } = unit;
  if (effect === 'dup' || effect === 'text' || target === undefined) return undefined;
  const value = target.kind === 'literal' ? target.value : undefined;
  if (value !== undefined && isSink(value)) return undefined;
  const word = { value, prefix: target.kind === 'literal' ? '' : target.prefix, arg: target };
  const access = effect === 'read' ? 'read' : 'write';
  const held = protectionObjection(word, access, { cwds, bounds });
  if (held !== undefined) return held;
  if (moves === 'any') return undefined;
  if (effect === 'read') return pathObjection(word, 'read', { cwds, bounds, scope: bounds.read });
  if (value !== undefined && mayRedirect(value, { cwds, bounds }, moves(unit))) return undefined;
  const hint = 'Files that `>` may write are listed under `redirects`.';
  return {
    code: 'redirect',
    detail: effect,
    span: span ?? target.span,
    message: `no policy lists \`${target.source}\` as a file to write to`,
    hint: bounds.scope === undefined ? hint : `${hint.slice(0, -1)} and scopes.write.`,
  };
}

function directoryObjection(unit: Unit, bounds: Bounds): Objection | undefined {
  const { cwds, span } = unit;
  const { cwd, roots } = bounds;
  if (cwds === undefined) return unknownDirectory(span);
  const fits = (one: string, set: PathSet): boolean => set.has(one) && set.has(bounds.real(one));
  const outside = cwds.find((one) => !fits(one, cwd));
  if (outside === undefined) return undefined;
  const { secret } = bounds.protected;
  const looks = (one: string): boolean =>
    fits(one, bounds.read) &&
    [one, bounds.real(one)].every((path) => !secret(path) && !secret(`${path}/x`));
  if (needsNoDirectory(unit) && cwds.every((one) => fits(one, cwd) || looks(one))) return undefined;
  return {
    code: 'cwd',
    detail: outside,
    span,
    message: `it runs in \`${outside}\`, outside of ${roots.project}`,
    hint: 'Directories that commands may run in are listed under scopes.cwd.',
  };
}

/**
 * Nothing that lies in its directory tells it what to do: `cd ../docs && grep -r x .` is what
 * `grep -r x ../docs` is. What it names is judged by where that is.
 */
function needsNoDirectory({ argv }: Unit): boolean {
  const [first] = argv;
  if (first === undefined) return true;
  if (first.kind !== 'literal') return false;
  const name = programName(first.value);
  if (hasTrait(name, 'steers')) return true;
  if (!hasTrait(name, 'filter') && !isListed('anywhere', name)) return false;
  const call = readCall(argv);
  return call?.kind === 'read' && call.parts.every(({ effect }) => effect === undefined);
}
