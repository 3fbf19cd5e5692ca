// What `cuff policy` asks of the policy engine: which files apply in a directory, what they say of
// a command, what is odd about a file, and how its rules read in other tools. One `PolicyChecker`
// compiles every policy once, however many commands it is asked about.

import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { AppError, errnoOf } from '../errors.ts';
import { homeOf } from '../places.ts';
import { VERDICTS, type Verdict } from '../policy/decision.ts';
import {
  exportPolicy,
  lossLine,
  type PolicyExport,
  TARGETS,
  type Target,
} from '../policy/export/index.ts';
import { type Lint, lintPolicy } from '../policy/lint.ts';
import { readPolicy } from '../policy/load.ts';
import type { LoadedPolicy, Policy } from '../policy/policy.ts';
import { asObject, asString, asStrings, type JsonObject, parseObject } from '../text/json.ts';
import type { Env } from '../types.ts';
import { type CheckResult, checkBy, reasonJson } from './checked.ts';
import { readPolicyFile } from './files.ts';
import { policyPlaces, projectAt, projectPolicy } from './places.ts';
import { realPath, shortMemory } from './real-path.ts';
import { countingPolicies } from './trust.ts';

export { lossLine, TARGETS, type Target };

export type CheckOptions = {
  readonly env: Env;
  /** The only policy, instead of those that apply. */
  readonly policy?: string | undefined;
  /** Undefined: found by the directory of the command. */
  readonly project?: string | undefined;
  /** In place of `/etc/cuff/policy.yml`. */
  readonly systemFile?: string | undefined;
  /** The project's policy counts as it is: a person said so for this process. */
  readonly trusted?: boolean | undefined;
  /** As if an agent with this name had asked, and had proven it. */
  readonly agent?: string | undefined;
};

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false; // not there, or not to be seen
  }
}

/** Throws `settings_invalid` for files that are no policy, one line for each problem. */
export function policiesFor(project: string, options: CheckOptions): readonly LoadedPolicy[] {
  const { env, policy, systemFile, trusted } = options;
  const places =
    policy === undefined
      ? policyPlaces({ project, env, systemFile })
      : [{ path: resolve(policy), origin: 'user', named: true, piped: true } as const];
  const read = places.map((place) => readPolicyFile(place, { home: homeOf(env), project }));
  const problems = read.flatMap((file) => (file.kind === 'bad' ? [file.problem] : []));
  if (problems.length > 0) throw new AppError('settings_invalid', problems.join('\n'));
  const texts = read.flatMap((file, at) => {
    const place = places[at];
    return file.kind === 'good' && place !== undefined ? [{ ...file, place }] : [];
  });
  const { policies } = countingPolicies(texts, places, { project, env, trusted });
  if (policies.length > 0) return policies;
  const looked = places.map(({ path }) => path).join(', ');
  throw new AppError('usage', `No policy applies here; looked for ${looked}.`, {
    hint: 'Name one with --policy FILE, or make one with `cuff record generate`.',
  });
}

type Check = ReturnType<typeof checkBy>;

export class PolicyChecker {
  readonly #options: CheckOptions;
  readonly #home: string;
  readonly #compiled = new Map<string, Check>();
  readonly #real = shortMemory(realPath);

  constructor(options: CheckOptions) {
    this.#options = options;
    this.#home = homeOf(options.env);
  }

  /** With the files that apply. Throws as `policiesFor` does. */
  check(command: string, cwd: string): CheckResult {
    const project = this.#projectOf(cwd, projectAt);
    const check = this.#known(`file ${project}`, () =>
      this.#compile(policiesFor(project, this.#options), project),
    );
    return check(command, cwd);
  }

  /** With a policy as it stands in a line of a batch. Throws `usage` when it is none. */
  checkWith(policy: JsonObject, command: string, cwd: string): CheckResult {
    const project = this.#projectOf(cwd, (directory) => directory);
    const check = this.#known(`line ${project} ${JSON.stringify(policy)}`, () =>
      this.#compile([inlinePolicy(policy, { home: this.#home, project })], project),
    );
    return check(command, cwd);
  }

  #projectOf(cwd: string, otherwise: (cwd: string) => string): string {
    const { project } = this.#options;
    return this.#real(project === undefined ? otherwise(cwd) : resolve(project));
  }

  #known(key: string, make: () => Check): Check {
    const known = this.#compiled.get(key);
    if (known !== undefined) return known;
    const made = make();
    this.#compiled.set(key, made);
    return made;
  }

  #compile(policies: readonly LoadedPolicy[], project: string): Check {
    const { env, agent } = this.#options;
    return checkBy(policies, { env, project, real: this.#real, agent });
  }
}

/** `{default, allow: [pattern...], ask, deny}`, and whatever else a policy may say. */
function inlinePolicy(
  { allow, ask, deny, ...rest }: JsonObject,
  where: { readonly home: string; readonly project: string },
): LoadedPolicy {
  const group = (name: Verdict, patterns: unknown): readonly unknown[] => {
    if (patterns === undefined || patterns === null) return [];
    const all = asStrings(patterns);
    if (all === undefined)
      throw new AppError('usage', `policy.${name}: must be a list of patterns`);
    return [{ name, commands: all.map((pattern) => ({ pattern, decision: name })) }];
  };
  const given = Array.isArray(rest.policies) ? rest.policies : [];
  const groups = [...group('allow', allow), ...group('ask', ask), ...group('deny', deny)];
  const read = readPolicy(JSON.stringify({ ...rest, policies: [...given, ...groups] }), where);
  if ('policy' in read) return { policy: read.policy, origin: 'user', file: undefined };
  throw new AppError('usage', `policy: ${read.problems[0]?.message ?? 'it is none'}`);
}

export type BatchLine = { readonly good: boolean; readonly json: JsonObject };

/** One line `{id, command, cwd, policy}` of a batch; undefined for an empty one. */
export function checkLine(
  checker: PolicyChecker,
  line: string,
  at: { readonly number: number; readonly cwd: string },
): BatchLine | undefined {
  if (line.trim() === '') return undefined;
  const json = parseObject(line);
  const id = json?.id ?? null;
  const wrong = (error: string): BatchLine => {
    return { good: false, json: { id, line: at.number, error } };
  };
  if (json === undefined) return wrong('it is no JSON object');
  const command = asString(json.command);
  if (command === undefined) return wrong('command: must be text');
  const named = json.cwd === undefined || json.cwd === null ? at.cwd : asString(json.cwd);
  if (named === undefined || named.includes('\0')) return wrong('cwd: must be a path');
  const none = json.policy === undefined || json.policy === null;
  const policy = asObject(json.policy);
  if (!none && policy === undefined) return wrong('policy: must be an object');
  const cwd = resolve(at.cwd, named);
  try {
    const checked =
      policy === undefined ? checker.check(command, cwd) : checker.checkWith(policy, command, cwd);
    const { decision } = checked;
    const [first] = decision.reasons;
    const reason = first === undefined ? {} : reasonJson(first);
    return { good: true, json: { id, ...reason, decision: decision.verdict, code: decision.code } };
  } catch (error) {
    if (error instanceof AppError) return wrong(error.message);
    throw error;
  }
}

export type LintedFile = { readonly file: string; readonly lint: Lint };

/** Throws `usage` for a file that cannot be read. */
export function lintFile(file: string, options: Pick<CheckOptions, 'env' | 'project'>): LintedFile {
  const project = options.project ?? projectAt(process.cwd());
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new AppError('usage', `${file} cannot be read: ${errnoOf(error) ?? String(error)}.`);
  }
  const guest = resolve(file) === projectPolicy(project);
  return { file, lint: lintPolicy(text, { home: homeOf(options.env), project, guest }) };
}

/** As `cuff policy lint --json` has it. */
export function lintJson(lint: Lint) {
  const valid = lint.kind === 'valid';
  return {
    valid,
    problems: valid ? [] : lint.problems,
    warnings: valid ? lint.warnings.map((one) => ({ ...one, hint: one.hint ?? null })) : [],
  };
}

/** The files that apply in a directory and are there. */
export function policyFilesAt(cwd: string, env: Env): readonly string[] {
  const places = policyPlaces({ project: projectAt(cwd), env });
  return places.filter(({ path, named }) => named || isFile(path)).map(({ path }) => path);
}

/** Several policies as the one that another tool gets. */
export function exportFor(
  policies: readonly LoadedPolicy[],
  to: Target,
  options: { readonly loose: boolean },
): PolicyExport {
  return exportPolicy(merged(policies), to, options);
}

function merged(policies: readonly LoadedPolicy[]): Policy {
  const [first, ...others] = policies;
  if (first === undefined) throw new AppError('usage', 'There is no policy to export.');
  // A file that projects cannot loosen denies what its own rules do not allow.
  const sealed = policies.some(
    ({ policy, origin }) => origin !== 'project' && policy.default === 'deny',
  );
  const groups = policies.flatMap(({ policy, origin }) =>
    policy.policies.map((group) => ({
      ...group,
      commands: group.commands.filter(
        ({ decision }) => decision !== 'allow' || !sealed || origin !== 'project',
      ),
    })),
  );
  const defaults = policies.map(({ policy }) => policy.default);
  const strictest = VERDICTS.findLast((verdict) => defaults.includes(verdict)) ?? 'ask';
  const all = [first, ...others].map(({ policy }) => policy);
  return {
    ...first.policy,
    default: strictest,
    policies: groups,
    scopes: {
      cwd: all.flatMap(({ scopes }) => scopes.cwd),
      read: all.flatMap(({ scopes }) => scopes.read),
      write: all.flatMap(({ scopes }) => scopes.write),
      protect: all.flatMap(({ scopes }) => scopes.protect),
    },
    redirects: all.flatMap(({ redirects }) => redirects),
    env: all.flatMap(({ env }) => env),
    network: all.flatMap(({ network }) => network),
  };
}
