// A policy as it is once its file was read. `src/policy/load.ts` reads and checks it; here are only
// the types. `policies: [{name, description, commands: [{pattern, frequency}]}]` is all that a
// generated file needs to have.

import type { Mode, Verdict } from './decision.ts';

export type CommandRule = {
  readonly pattern: string;
  /** How often it was seen; for people. */
  readonly frequency: number | undefined;
  readonly decision: Verdict;
  readonly reason: string | undefined;
  /** The agents that it is about, as the file names them; undefined: all. */
  readonly agents?: readonly string[] | undefined;
  /** How many commands it allows in an hour; undefined: any number. */
  readonly max_per_hour?: number | undefined;
  /** Globs that its paths must match, instead of the scopes. */
  readonly paths: readonly string[] | undefined;
  /** `any`: whatever the arguments do, `*` covers it. */
  readonly args: 'inert' | 'any';
  /** Where its input may come from; undefined: anywhere. */
  readonly stdin: 'none' | 'any' | undefined;
  readonly tests: { readonly match: readonly string[]; readonly not_match: readonly string[] };
};

export type PolicyGroup = {
  readonly name: string;
  readonly description: string;
  readonly commands: readonly CommandRule[];
};

export type Scopes = {
  /** Globs of absolute paths, or relative to the project; `~` is the home directory. */
  readonly cwd: readonly string[];
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly protect: readonly string[];
};

export type Policy = {
  /** 2: `>` and `tee` write where `scopes.write` says, and `scopes.write` is all that there is. */
  readonly version: 1 | 2;
  readonly default: Verdict;
  readonly mode: Mode;
  readonly policies: readonly PolicyGroup[];
  /** Added to the built-in scopes: the project may be read, and by version 1 also written. */
  readonly scopes: Scopes;
  /** Globs of files that `>` may write. */
  readonly redirects: readonly string[];
  /** A program behind `|` that only filters what it reads needs no rule. */
  readonly filters: boolean;
  /** Names of variables that may be set, `FOO_*` too. */
  readonly env: readonly string[];
  /** Hosts, `*.example.org` too. */
  readonly network: readonly string[];
  /** Directories whose programs rules mean by their names alone. */
  readonly programs: readonly string[];
  /** Another policy whose decisions are counted beside this one's. */
  readonly shadow: string | undefined;
  /** Whether processes are judged when they start; `strict`: they do not start unjudged. */
  readonly gate: (typeof GATES)[number];
  readonly sandbox: (typeof SANDBOXES)[number];
  /** What is allowed also answers an agent's own prompt. Undefined: nothing is said. */
  readonly answerPrompts: boolean | undefined;
  /** What a shell or hook does about an ask that no person has answered. */
  readonly onAsk: (typeof ON_ASK)[number] | undefined;
};

/** From loose to strict, like the next. */
export const GATES = ['off', 'on', 'strict'] as const;
export const SANDBOXES = ['off', 'bwrap'] as const;

/** `allow_recorded`: it runs, and its entry says that it was to be asked about. */
export const ON_ASK = ['deny', 'allow_recorded'] as const;

/** What a policy says without a file, and what its missing keys mean. */
export const EMPTY_POLICY: Policy = {
  version: 1,
  default: 'ask',
  mode: 'enforce',
  policies: [],
  scopes: { cwd: [], read: [], write: [], protect: [] },
  redirects: [],
  filters: false,
  env: [],
  network: [],
  programs: [],
  shadow: undefined,
  gate: 'on',
  sandbox: 'off',
  answerPrompts: undefined,
  onAsk: undefined,
};

/** The author: a project's file can only tighten what the others deny. */
export type PolicyOrigin = 'system' | 'user' | 'project';

export type LoadedPolicy = {
  readonly policy: Policy;
  readonly origin: PolicyOrigin;
  /** Undefined for one that is in no file. */
  readonly file: string | undefined;
};

/** A policy that is in no file yet. */
export function unsaved(policy: Policy): LoadedPolicy {
  return { policy, origin: 'user', file: undefined };
}
