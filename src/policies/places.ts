// Where the files of a policy are looked for. A file of its own, because every server has to know
// it and most have no policy: what reads and judges is not loaded for them.

import { lstatSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isOfProject, isThere, userConfig } from '../places.ts';
import type { LoadedPolicy, PolicyOrigin } from '../policy/policy.ts';
import type { Env } from '../types.ts';

const SYSTEM_POLICY = '/etc/cuff/policy.yml';

export type PolicyPlace = {
  readonly path: string;
  readonly origin: PolicyOrigin;
  /** A setting or variable names it, so it must exist. */
  readonly named: boolean;
  /** It came with the project: what it opens counts only if it is trusted. */
  readonly guest?: boolean;
  /** The caller waits for just this file, so it may be a pipe. */
  readonly piped?: boolean;
};

export type PolicyWhere = {
  /** Absolute. */
  readonly project: string;
  readonly env: Env;
  /** In place of `/etc/cuff/policy.yml`. */
  readonly systemFile?: string | undefined;
  /** This one and no other. */
  readonly only?: string | undefined;
  /** The project's policy counts as it is: a person said so for this process. */
  readonly trusted?: boolean | undefined;
};

/** Whose word counts more comes first. */
export function policyPlaces(where: PolicyWhere): readonly PolicyPlace[] {
  const { project, env, systemFile, only } = where;
  if (only !== undefined) return [{ path: resolve(project, only), origin: 'user', named: true }];
  const named = env.CUFF_POLICY;
  const places: readonly PolicyPlace[] = [
    { path: systemFile ?? SYSTEM_POLICY, origin: 'system', named: false },
    { path: userPolicy(env), origin: 'user', named: false },
    ...(named ? [namedPlace(where, named)] : []),
    { path: projectPolicy(project), origin: 'project', named: false, guest: true },
  ];
  return places.filter(({ path }, at) => places.findIndex((one) => one.path === path) === at);
}

/** Of the state root, what decides later: answers, rules, and what shells and hooks believe. */
export function ownState(stateRoot: string): readonly string[] {
  return OWN_STATE.map((name) => join(stateRoot, name));
}

const OWN_STATE = [
  ...[
    'approvals',
    'bash-env',
    'budgets',
    'changes',
    'code',
    'gates',
    'helpers',
    'hooks',
    'init',
    'intents',
  ],
  ...['journals', 'ready', 'rules', 'settings', 'shells', 'zdotdir'],
];

export function hasPolicy(where: PolicyWhere): boolean {
  return policyPlaces(where).some(({ path, named }) => named || isThere(path));
}

function namedPlace({ project, env }: PolicyWhere, named: string): PolicyPlace {
  const path = resolve(project, named);
  const guest = path !== userPolicy(env) && isOfProject(project, env, path);
  return { path, origin: 'user', named: true, ...(guest && { guest }) };
}

export function userPolicy(env: Env): string {
  return join(userConfig(env), 'policy.yml');
}

export function projectPolicy(project: string): string {
  return join(project, '.cuff', 'policy.yml');
}

/** Also true for a dangling link: the reader reports it. */
function isSomething(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false; // not there, or not readable by us
  }
}

/** The nearest directory at or above this one with a policy of its own, else itself. */
export function projectAt(cwd: string): string {
  const start = resolve(cwd);
  for (let folder = start; ; folder = dirname(folder)) {
    if (isSomething(projectPolicy(folder))) return folder;
    if (folder === dirname(folder)) return start;
  }
}

/** The other policy that a file wants to be compared with. */
export function shadowPlace({ policy, origin, file }: LoadedPolicy): PolicyPlace | undefined {
  if (policy.shadow === undefined) return undefined;
  const path = resolve(file === undefined ? '/' : dirname(file), policy.shadow);
  return { path, origin, named: true };
}
