// Where a copy lands: `cp config .git` writes `.git/config`, and `cp -r x/.claude .` the settings
// of an agent, which no word of the line says. Whether the last word is a directory is not known
// here; it is judged as if it were.

import { posix } from 'node:path';
import { type Facts, type Objection, protectionObjection } from './facts.ts';
import { absolute } from './paths.ts';
import type { Call } from './profile.ts';
import { baseName } from './programs.ts';
import type { Arg } from './unit.ts';

const COPIERS = /^g?(?:cp|mv|ln|install)$/;

type Place = { readonly cwds: readonly string[] | undefined; readonly facts: Facts };

/** Why a copy may not land where it would. */
export function copyTargetObjection(
  argv: readonly Arg[],
  call: Call | undefined,
  place: Place,
): Objection | undefined {
  const [program] = argv;
  if (program?.kind !== 'literal' || !COPIERS.test(baseName(program.value))) return undefined;
  if (call === undefined) return undefined;
  const { sources, target, whole } = copyOf(argv, call);
  if (target?.kind !== 'literal') return undefined;
  const to = target.value;
  if (isRepository(to)) return inRepository(to, target);
  for (const source of sources) {
    const from = source.kind === 'literal' ? source.value : '';
    if (isRepository(from)) return inRepository(from, source);
    const all = whole || /(?:^|\/)\.{1,2}\/*$/.test(from) || isHiddenGlob(source);
    if (all && coversProject(to, place)) {
      return {
        code: 'path.unknown',
        detail: 'write',
        span: source.span,
        message: `which files \`${source.source}\` puts over the project, is not said`,
        hint: 'Name the files.',
      };
    }
    const value = from === '' ? undefined : posix.join(to, posix.basename(from));
    const landed = protectionObjection({ value, prefix: '', arg: source }, 'write', place);
    // It is one only if there is such a directory, so that it can be asked for.
    if (value !== undefined && landed !== undefined) return { ...landed, final: false };
  }
  return undefined;
}

type Copy = {
  readonly sources: readonly Arg[];
  readonly target: Arg | undefined;
  /** The source is put in the place of the target, with all that is in it. */
  readonly whole: boolean;
};

function copyOf(argv: readonly Arg[], { parts }: Call): Copy {
  const named = parts.find(({ option, role }) => option === DIRECTORY && role !== 'option');
  // A word that may be several has a part for each role that it may have.
  const places = parts.filter(({ option, role }) => option === undefined && role !== 'option');
  const operands = [...new Set(places.map(({ index }) => index))].flatMap((at) => argv[at] ?? []);
  const whole = parts.some(({ option }) => option === '--no-target-directory');
  if (named?.value === undefined) {
    return { sources: operands.slice(0, -1), target: operands.at(-1), whole };
  }
  const { value } = named;
  const target: Arg = { kind: 'literal', value, source: value, span: argv[named.index]?.span };
  return { sources: operands, target, whole };
}

const DIRECTORY = '--target-directory';

function isRepository(path: string): boolean {
  return /(?:^|\/)\.git\/*$/i.test(path);
}

function inRepository(path: string, arg: Arg): Objection {
  return {
    code: 'path.protected',
    detail: 'control',
    span: arg.span,
    message: `\`${path}\` has the hooks and the settings of the repository in it`,
    hint: 'Copy the files that are meant, or clone it.',
  };
}

/** `x/.*`: a star alone leaves out what begins with a dot. */
function isHiddenGlob(arg: Arg): boolean {
  return arg.kind === 'glob' && /(?:^|\/)(?:\.|\[|\{)[^/]*$/.test(arg.pattern);
}

function coversProject(target: string, { cwds, facts }: Place): boolean {
  const { project } = facts.places;
  return (cwds ?? [project]).some((cwd) => {
    const path = absolute(target, cwd);
    return path === project || project.startsWith(path === '/' ? '/' : `${path}/`);
  });
}
