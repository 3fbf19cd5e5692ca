// The bounds that all policy files together set around the words of a rule: where commands may run,
// which files they may read and write, which variables they may set and which hosts they may reach.
// A unit is checked against one after the other; an `Objection` says why it is refused.

import type { ReasonCode } from './decision.ts';
import { absolute, environmentOf, leadsTo, type PathSet, pathSet, type Roots } from './paths.ts';
import type { LoadedPolicy, Policy } from './policy.ts';
import { aimsAtControls, aimsAtSecrets, namesControl } from './profiles/name-globs.ts';
import { type Protection, protectedPaths } from './protected.ts';
import type { RunFiles } from './run-files.ts';
import type { Arg, Shape, Span } from './unit.ts';
import { listedNames } from './variables.ts';

export type Objection = {
  readonly code: ReasonCode;
  readonly detail?: string | undefined;
  readonly span?: Span | undefined;
  readonly message: string;
  readonly hint?: string;
  /** A person cannot approve it. */
  readonly final?: boolean;
};

export type Access = 'read' | 'write';

export type Bounds = {
  readonly roots: Roots;
  readonly cwd: PathSet;
  readonly read: PathSet;
  readonly write: PathSet;
  readonly redirects: PathSet;
  /** What `>` may write besides: where a policy of version 2 lets commands write. */
  readonly scope: PathSet | undefined;
  /** What the rules run, where some policy is of version 2: a person is asked before it changes. */
  readonly runs: RunFiles | undefined;
  readonly protected: Protection;
  readonly variables: (name: string) => boolean;
  readonly host: (host: string) => boolean;
  /** Where a path really leads, if the caller can resolve links. */
  readonly real: (path: string) => string;
  /** Directories whose programs are meant by their names, and what those are made of. */
  readonly programs: PathSet;
  readonly environments: PathSet;
  readonly disk: Disk | undefined;
  /** Whether git would take a directory for a repository that is not called `.git`. */
  readonly bare: (directory: string) => boolean;
};

/** What is looked up on a disk about programs. */
export type Disk = {
  /** The directory of programs that an activation script which is known puts first. */
  readonly activation: (script: string) => string | undefined;
  /** Whether git tracks the file, or one in the directory; also where that cannot be told. */
  readonly tracked: (path: string) => boolean;
};

export type BoundsOptions = {
  readonly disk?: Disk | undefined;
  readonly real?: ((path: string) => string) | undefined;
  readonly bare?: ((directory: string) => boolean) | undefined;
  /** Directories that only cuff itself writes. */
  readonly kept?: readonly string[] | undefined;
  /** A directory for files that are not for the project. */
  readonly scratch?: string | undefined;
  readonly runs?: RunFiles | undefined;
};

export function boundsOf(
  policies: readonly LoadedPolicy[],
  roots: Roots,
  { real = (path) => path, bare = () => false, kept = [], ...options }: BoundsOptions = {},
): Bounds {
  const all = policies.map(({ policy }) => policy);
  const scope = (name: 'cwd' | 'read' | 'write' | 'protect'): readonly string[] =>
    all.flatMap(({ scopes }) => scopes[name]);
  const { scratch, runs, disk } = options;
  const programs = all.flatMap((policy) => policy.programs);
  const project = [roots.project, real(roots.project)];
  const second = all.filter(({ version }) => version === 2);
  const beside = second.length === 0 || scratch === undefined ? [] : [scratch];
  const opens = ({ scopes }: Policy): readonly string[] =>
    scopes.write.flatMap((glob) => (glob === '.' ? project : [glob]));
  const write = [...(second.length === 0 ? project : []), ...all.flatMap(opens), ...beside];
  const set = (globs: readonly string[]): PathSet => pathSet(globs, roots);
  return {
    roots,
    cwd: set([...project, ...scope('cwd'), ...beside]),
    read: set([...project, ...scope('read'), ...write]),
    write: set(write),
    scope: second.length === 0 ? undefined : set([...second.flatMap(opens), ...beside]),
    runs: second.length + programs.length === 0 ? undefined : runs,
    programs: set(programs),
    environments: set(programs.map(environmentOf)),
    disk,
    redirects: set(all.flatMap(({ redirects }) => redirects)),
    protected: protectedPaths(roots, {
      more: scope('protect'),
      kept: [...kept, ...programs],
      scratch: beside.length === 0 ? undefined : scratch,
      opened: policies.flatMap(({ policy, origin }) =>
        origin === 'project' ? [] : policy.scopes.write,
      ),
    }),
    variables: listedNames(all.flatMap(({ env }) => env)),
    host: hostList(all.flatMap(({ network }) => network)),
    real,
    bare,
  };
}

function hostList(hosts: readonly string[]): (host: string) => boolean {
  const exact = new Set(hosts.map((host) => host.toLowerCase()));
  const suffixes = [...exact].filter((host) => host.startsWith('*.')).map((host) => host.slice(1));
  return (host) => exact.has(host) || suffixes.some((suffix) => host.endsWith(suffix));
}

/** A word that names a file, as it is known before the command runs. */
export type PathWord = {
  readonly value: string | undefined;
  readonly prefix: string;
  readonly arg: Arg | undefined;
};

/** Undefined: every place it may lead to is in the set and is no secret. */
export function pathObjection(
  word: PathWord,
  access: Access,
  { cwds, bounds, scope }: { cwds: readonly string[] | undefined; bounds: Bounds; scope: PathSet },
): Objection | undefined {
  const span = word.arg?.span;
  const shown = word.value ?? word.arg?.source ?? word.prefix;
  if (word.value === '-' || word.value === '/dev/null') return undefined;
  if (
    word.value !== undefined &&
    /^(?:[a-z][a-z0-9+.-]*:\/\/|(?:file|data|npm|jsr):)/i.test(word.value)
  ) {
    return urlObjection(word.value, span, bounds);
  }
  // The command inside is judged by itself.
  if (word.arg?.kind === 'unknown' && word.arg.one && /^<\([^)]*\)$/.test(word.arg.source)) {
    return undefined;
  }
  const known = knownPath(word);
  const aims = findsProtected(word, access, bounds, known);
  if (aims === 'secret') return secretObjection(shown, span);
  if (known === undefined || aims === 'control') {
    return {
      code: 'path.unknown',
      detail: access,
      span,
      message: `which file \`${shown}\` is, is only known when it runs`,
      hint: 'Write the path itself.',
    };
  }
  if (cwds === undefined && !known.path.startsWith('/')) return unknownDirectory(span);
  for (const cwd of cwds ?? ['/']) {
    const path = absolute(known.path, cwd);
    if (known.glob && bounds.protected.globSecret(absolute(known.pattern, cwd))) {
      return secretObjection(shown, span);
    }
    if (!scope.has(path) || !scope.has(leadsTo(known.path, cwd, bounds.real))) {
      return {
        code: 'path.outside',
        detail: access,
        span,
        message: `\`${shown}\` is outside of what may be ${access === 'read' ? 'read' : 'written'}`,
        hint: `Stay inside ${bounds.roots.project}, or add it to scopes.${access}.`,
      };
    }
  }
  return undefined;
}

type KnownPath = { readonly path: string; readonly glob: boolean; readonly pattern: string };

/** The path, or for a glob the directory that all its names are in. */
function knownPath({ value, prefix, arg }: PathWord, climbs = false): KnownPath | undefined {
  if (value !== undefined) return { path: value, glob: false, pattern: value };
  // A file that `find` finds lies where it began, or below; with more behind `{}` it may not.
  if (arg?.kind === 'unknown' && arg.found !== undefined && FOUND_FILE.test(arg.source)) {
    return prefix === '' ? undefined : { path: prefix, glob: true, pattern: `${prefix}/*` };
  }
  if (arg?.kind !== 'glob') return undefined;
  // Of `--out=.git/[c]onfig` it is what is behind the name of the option.
  const start = arg.prefix.endsWith(prefix) ? arg.prefix.length - prefix.length : 0;
  const glob = arg.pattern.slice(start);
  if (!climbs && /(?:^|\/)\.\.(?:\/|$)/.test(glob.slice(prefix.length))) return undefined;
  const directory = prefix.slice(0, prefix.lastIndexOf('/') + 1) || '.';
  return { path: directory, glob: true, pattern: glob };
}

const FOUND_FILE = /^[^$`"']*\{\}(?:\.(?:bak|orig|old|tmp|gz))?$/;

/** Whether `find` is sent for secrets, or may find files that are protected from writing. */
function findsProtected(
  { arg }: PathWord,
  access: Access,
  { roots }: Bounds,
  known: KnownPath | undefined,
): 'secret' | 'control' | undefined {
  const found = arg?.kind === 'unknown' ? arg.found : undefined;
  if (found === undefined) return undefined;
  if (access === 'read') return found.names.some(aimsAtSecrets) ? 'secret' : undefined;
  // Hooks and settings are in directories of the project itself, not in those of its sources.
  const whole = known !== undefined && absolute(known.path, roots.project) === roots.project;
  const narrow = found.narrowed && !found.names.some(aimsAtControls);
  return whole && !narrow ? 'control' : undefined;
}

export function unknownDirectory(span: Span | undefined): Objection {
  return {
    code: 'cwd',
    detail: 'unknown',
    span,
    message: 'the directory it runs in is only known when it runs',
    hint: 'Name the directory: `cd /the/path && ...`.',
  };
}

export function secretObjection(shown: string, span: Span | undefined): Objection {
  return {
    code: 'path.protected',
    detail: 'secret',
    span,
    message: `\`${shown}\` may hold secrets`,
    hint: 'Secrets are read only when the person says so.',
  };
}

export type FileUseContext = {
  readonly cwds: readonly string[] | undefined;
  readonly bounds: Bounds;
  readonly removes?: boolean;
  /** Whether it surely is what is done with the file; what runs may do that anyway. */
  readonly certain?: boolean;
  /** Whether a compiler makes it. */
  readonly built?: boolean;
};

/** Files that need a person's consent, whatever the rules say. */
export function protectionObjection(
  word: PathWord,
  access: Access,
  where: FileUseContext,
): Objection | undefined {
  const { cwds, bounds, removes = false, certain = true, built = false } = where;
  const known = knownPath(word, true);
  const span = word.arg?.span;
  const shown = word.value ?? word.arg?.source ?? word.prefix;
  const from = cwds ?? [bounds.roots.project, bounds.roots.home];
  if (known === undefined) {
    const shape = word.arg?.kind === 'unknown' ? word.arg.shape : undefined;
    return shape === undefined || !mayBeProtected(shape, access, from, bounds)
      ? undefined
      : { ...protectedObjection(shown, span, access), final: false };
  }
  for (const cwd of from) {
    for (const path of variants(known.glob ? known.pattern : known.path, cwd, bounds)) {
      if (access === 'write' && isHeld(path, known.glob, removes, bounds)) {
        const objection = protectedObjection(shown, span, access);
        if (!bounds.protected.secret(path)) return objection;
        const message = `\`${shown}\` may hold secrets, so agents may not write it`;
        return { ...objection, message };
      }
      if (access === 'write' && isSteering(path, known.glob, bounds)) {
        return steeringObjection(shown, span);
      }
      if (access === 'write' && certain && !removes && isRun(path, known.glob, bounds)) {
        // A rule for the program that a project builds is for what is built next, too.
        if (!built || bounds.runs?.program(path) !== true) return runObjection(shown, span);
      }
      const secret = known.glob ? bounds.protected.globSecret(path) : bounds.protected.secret(path);
      if (access === 'read' && secret) return secretObjection(shown, span);
    }
  }
  return undefined;
}

function protectedObjection(shown: string, span: Span | undefined, access: Access): Objection {
  if (access === 'read') return secretObjection(shown, span);
  return {
    code: 'path.protected',
    detail: 'control',
    span,
    message: [
      `\`${shown}\` is protected: it controls what programs or agents run,`,
      'so agents may not write it',
    ].join(' '),
    hint: 'The person can change it by hand.',
    final: true,
  };
}

/** `~/.bash$()rc` and `.c${x}ff/policy.yml`: without the unknown part, or with a star for it. */
function mayBeProtected(
  shape: Shape,
  access: Access,
  cwds: readonly string[],
  bounds: Bounds,
): boolean {
  // `--out=x`, `key=of=x`, `kind:x`: the name comes last.
  const [open, shut] = [shape.open, shape.shut].map((text) =>
    text.replace(/^(?:[\w-]*[=:,@+])+/, ''),
  );
  if (open === undefined || shut === undefined || shut === '') return false;
  if (access === 'read' ? aimsAtSecrets(open) : namesControl(open)) return true;
  const { secret, control, steering } = bounds.protected;
  const held = access === 'read' ? secret : (path: string) => control(path) || steering(path);
  const plain = shut.replace(/\\([\s\S])/g, '$1');
  return cwds.some((cwd) => variants(plain, cwd, bounds).some(held));
}

function isHeld(path: string, glob: boolean, removes: boolean, bounds: Bounds): boolean {
  const { control, globControl, inside } = bounds.protected;
  return control(path) || (glob && globControl(path)) || (removes && inside(path));
}

/** Unless a policy lists the file as one that commands may write. */
function isSteering(path: string, glob: boolean, bounds: Bounds): boolean {
  const { steering, globSteering } = bounds.protected;
  return (glob ? globSteering(path) : steering(path)) && !isListed(path, bounds);
}

function isRun(path: string, glob: boolean, bounds: Bounds): boolean {
  const { runs } = bounds;
  return (glob ? runs?.glob(path) : runs?.has(path)) === true && !isListed(path, bounds);
}

function isListed(path: string, { redirects, real }: Bounds): boolean {
  return redirects.has(path) && redirects.has(real(path));
}

function runObjection(shown: string, span: Span | undefined): Objection {
  return {
    code: 'path.protected',
    detail: 'runs',
    span,
    message: `\`${shown}\` decides what commands run that the policy allows`,
    hint: 'Files that agents may write all the same are listed under `redirects`.',
  };
}

function steeringObjection(shown: string, span: Span | undefined): Objection {
  return {
    code: 'path.protected',
    detail: 'steering',
    span,
    message: `\`${shown}\` tells agents or servers what to do, so a person has to agree`,
    hint: 'Files that agents may write all the same are listed under `redirects`.',
  };
}

function variants(name: string, cwd: string, { real }: Bounds): readonly string[] {
  const [path, there] = [absolute(name, cwd), leadsTo(name, cwd, real)];
  return there === path ? [path] : [path, there];
}

/** Whether `>` may write it in every place where the command may run. */
export function mayRedirect(
  value: string,
  { cwds, bounds }: { readonly cwds: readonly string[] | undefined; readonly bounds: Bounds },
  /** A link may have come there since we looked. */
  moved: boolean,
): boolean {
  if (cwds === undefined && !value.startsWith('/')) return false;
  const { redirects, scope, real } = bounds;
  const fits = (path: string): boolean =>
    redirects.has(path) || (!moved && scope?.has(path)) === true;
  return (cwds ?? ['/']).every(
    (cwd) => fits(absolute(value, cwd)) && fits(leadsTo(value, cwd, real)),
  );
}

export function urlObjection(
  value: string | undefined,
  span: Span | undefined,
  { host }: Bounds,
): Objection | undefined {
  const found = value === undefined ? undefined : hostOf(value);
  if (found !== undefined && host(found)) return undefined;
  const which = found ?? value ?? 'what is only known when it runs';
  return {
    code: 'network',
    detail: found,
    span,
    message: `no policy lists the host \`${which}\``,
    hint: 'Hosts are listed under `network`.',
  };
}

/** The host of a plain http address; undefined for anything else, also one with a user in it. */
export function hostOf(value: string): string | undefined {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  if (!/^https?:\/\/[A-Za-z0-9.:[\]-]+(?:[/?#][^\s\\{}]*)?$/i.test(text)) return undefined;
  try {
    return new URL(text).hostname;
  } catch {
    return undefined; // not an address at all
  }
}
