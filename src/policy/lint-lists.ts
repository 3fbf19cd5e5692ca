// The lists of a policy as a linter sees them: scopes that change nothing or cannot hold, variables
// that choose programs, hosts that match nothing.

import { absolute, isInside, pathSet, type Roots } from './paths.ts';
import type { Policy } from './policy.ts';
import { protectedPaths } from './protected.ts';
import { variableClass } from './variables.ts';

type WarningCode =
  | 'shadowed'
  | 'duplicate'
  | 'never'
  | 'star.unprofiled'
  | 'star.destructive'
  | 'star.narrow'
  | 'star.wide'
  | 'broad'
  | 'host'
  | 'agents'
  | 'default'
  | 'mode'
  | 'answers'
  | 'scope'
  | 'env'
  | 'network';

/** A finding with the path of keys that leads to it. */
export type Finding = {
  readonly path: readonly (string | number)[];
  readonly code: WarningCode;
  /** One sentence: the finding. */
  readonly message: string;
  /** One sentence: what to do. */
  readonly hint: string;
};

export function lintLists(policy: Policy, roots: Roots): readonly Finding[] {
  return [
    ...lintScopes(policy, roots),
    ...policy.env.flatMap((name, at) => lintVariable(name, at)),
    ...policy.network.flatMap((host, at) => lintHost(host, at)),
  ];
}

type ScopeEntry = {
  readonly path: readonly (string | number)[];
  readonly access: 'cwd' | 'read' | 'write';
  readonly glob: string;
  /** What it opens is open because of it alone. */
  readonly needed?: boolean;
};

function lintScopes({ version, scopes, redirects }: Policy, roots: Roots): readonly Finding[] {
  const of = (access: ScopeEntry['access']): readonly ScopeEntry[] =>
    scopes[access].map((glob, at) => {
      // Of version 2 the list is all that may be written, the project only if it is in it.
      const needed = version === 2 && access === 'write';
      return { path: ['scopes', access, at], access, glob, needed };
    });
  const write = of('write');
  const files = redirects.map((glob, at): ScopeEntry => {
    return { path: ['redirects', at], access: 'write', glob };
  });
  return [
    ...of('cwd').flatMap((one, at, all) => lintScope(one, all.slice(0, at), roots)),
    ...of('read').flatMap((one, at, all) => lintScope(one, [...all.slice(0, at), ...write], roots)),
    ...write.flatMap((one, at, all) => lintScope(one, all.slice(0, at), roots)),
    // `>` writes nothing that is not listed, the project neither: only what is protected is dead.
    ...files.flatMap((one) => protectedFinding(one, roots) ?? []),
  ];
}

const OPEN: Readonly<Record<ScopeEntry['access'], string>> = {
  cwd: 'where commands may run',
  read: 'which may be read',
  write: 'which may be written',
};

function lintScope(
  one: ScopeEntry,
  others: readonly ScopeEntry[],
  roots: Roots,
): readonly Finding[] {
  const { path, access, glob } = one;
  const held = protectedFinding(one, roots);
  if (held !== undefined) return [held];
  if (['/', '/**', '~', '~/**', '**'].includes(glob)) {
    const all = glob.startsWith('~') ? 'your whole home' : 'every directory';
    const message = `\`${glob}\` opens ${all}.`;
    return [{ path, code: 'scope', message, hint: 'Name the directories that are needed.' }];
  }
  if (isInProject(glob) && one.needed !== true) {
    const message = `\`${glob}\` is in the project, ${OPEN[access]} anyway.`;
    return [{ path, code: 'scope', message, hint: 'Remove it.' }];
  }
  const covering = others.find((other) => covers(other.glob, glob, roots));
  if (covering === undefined) return [];
  const message = `\`${covering.glob}\` covers \`${glob}\` already.`;
  return [{ path, code: 'scope', message, hint: 'Remove one of them.' }];
}

function protectedFinding({ path, access, glob }: ScopeEntry, roots: Roots): Finding | undefined {
  if (access === 'cwd') return undefined;
  // `scopes.write` opens places of the system, but no file that is protected by its name.
  const opened = path[0] === 'scopes' ? [glob] : [];
  const held = protectedPaths(roots, { more: [], opened });
  const file = resolved(glob, roots);
  if (!(access === 'read' ? held.secret(file) : held.control(file))) return undefined;
  const message =
    access === 'read'
      ? `\`${glob}\` may hold secrets, which are asked about whatever is listed.`
      : `\`${glob}\` is protected, whatever is listed.`;
  return { path, code: 'scope', message, hint: 'Remove it.' };
}

function isInProject(glob: string): boolean {
  if (/^[/~]/.test(glob) || glob.startsWith('**')) return false;
  const project = '/any/project';
  return isInside(absolute(glob, project), project);
}

function covers(wide: string, narrow: string, roots: Roots): boolean {
  if (wide === narrow) return true;
  if (/[*?[{]/.test(narrow)) return false;
  return pathSet([wide], roots).has(resolved(narrow, roots));
}

function resolved(glob: string, { project, home }: Roots): string {
  if (glob === '~' || glob.startsWith('~/')) return absolute(`.${glob.slice(1)}`, home);
  return absolute(glob.startsWith('**/') ? `/${glob}` : glob, project);
}

function lintVariable(name: string, at: number): readonly Finding[] {
  const path = ['env', at];
  if (name === '*') {
    const message = '`*` lets every variable be set, also those that choose programs.';
    return [{ path, code: 'env', message, hint: 'Name the variables that are needed.' }];
  }
  const kind = variableClass(name.replace(/\*$/, 'X'), undefined, () => false);
  if (kind === 'harmless' && !name.endsWith('*')) {
    const message = `\`${name}\` may be set anyway.`;
    return [{ path, code: 'env', message, hint: 'Remove it.' }];
  }
  if (kind !== 'dangerous') return [];
  const message = `\`${name}\` can change what programs do, so that other programs run.`;
  return [{ path, code: 'env', message, hint: 'List it only if every value of it is fine.' }];
}

/** `hostList` can match a name, an address, `*.example.org`. */
function lintHost(host: string, at: number): readonly Finding[] {
  if (/^(?:\*\.)?[A-Za-z0-9.[\]:-]+$/.test(host) && !/^[a-z]+:\/\//i.test(host)) return [];
  const message = `\`${host}\` is no host, so it matches nothing.`;
  const hint = 'Write `example.org` for one host, or `*.example.org` for those below it.';
  return [{ path: ['network', at], code: 'network', message, hint }];
}
