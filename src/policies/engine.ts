// The policy of one server: the files that are in force, compiled, and followed while it runs. A
// new version that is wrong, or gone, leaves the one before it in force and shows in `health`. A
// policy that was never read and may be meant to be enforced halts a server: it runs nothing until
// the file is mended; every other caller gets an error. Without a file there is nothing to decide.

import { resolve } from 'node:path';
import { AppError } from '../errors.ts';
import { FileWatch } from '../file-watch.ts';
import { homeOf, settingsCandidates, trustListFile } from '../places.ts';
import type { DecideOptions, Judge, Judgement } from '../policy/decide.ts';
import { type Decision, MODES, type Mode } from '../policy/decision.ts';
import type { LoadedPolicy } from '../policy/policy.ts';
import {
  type Decide,
  decideBy,
  denyBy,
  type InForce,
  type PolicyDecision,
  withUnseen,
} from './decide.ts';
import { type HaltCause, haltedBy } from './halt.ts';
import { PathLookup } from './path-lookup.ts';
import {
  hasPolicy,
  ownState,
  type PolicyPlace,
  type PolicyWhere,
  policyPlaces,
  shadowPlace,
} from './places.ts';
import { literalGlob, realPath, realPaths } from './real-path.ts';
import { makeScratch, scratchOf } from './scratch.ts';
import { type CountingPolicies, countingPolicies, type PolicyText } from './trust.ts';

export type { Decision, InForce, Mode, PolicyDecision };

/** What reads and judges; only a server with a policy has it. */
export type Court = Pick<typeof import('./files.ts'), 'explain' | 'judge' | 'readPolicyFile'>;

export type PolicyOptions = PolicyWhere & {
  /** Where questions and grants are kept. */
  readonly stateRoot: string;
  /** The settings of the server, where they are not looked for. */
  readonly settingsFile?: string | undefined;
  readonly log?: ((level: 'info' | 'warn', message: string, fields: Fields) => void) | undefined;
  readonly now?: (() => number) | undefined;
  readonly watch?: boolean | undefined;
  /** Halt instead of throwing when a policy cannot be read at the start: for servers. */
  readonly halts?: boolean | undefined;
  readonly settleMs?: number | undefined;
  readonly pollMs?: number | undefined;
};

type Fields = Readonly<Record<string, unknown>>;

type BadFile = { readonly path: string; readonly mode: Mode | undefined };

export type PolicyHealth = {
  readonly mode: Mode;
  readonly files: readonly { readonly file: string; readonly origin: string }[];
  /** Why a file is not what is in force. */
  readonly problems: readonly string[];
  readonly shadow_divergences: number;
};

export class PolicyEngine {
  readonly project: string;
  readonly home: string;
  readonly options: PolicyOptions;
  readonly paths = new PathLookup();
  /** The last good version of each file. */
  readonly #good = new Map<string, { readonly text: string; readonly loaded: LoadedPolicy }>();
  #counting: CountingPolicies = { policies: [], waiting: [] };
  #problems = new Map<string, string>();
  readonly #halts = new Map<HaltCause, string>();
  /** Of policies in the shadow; they hold up nothing. */
  #beside: readonly string[] = [];
  #shadows: readonly PolicyPlace[] = [];
  #mode: Mode = 'off';
  #inForce: InForce | undefined;
  #halted: InForce | undefined;
  readonly #listeners = new Set<() => void>();
  #watch: FileWatch | undefined;
  #court: Court | undefined;
  #divergences = 0;

  /**
   * Without a court it is one for a server that has no policy so far. Throws `settings_invalid`,
   * one line for each problem.
   */
  static open(options: PolicyOptions, court?: Court): PolicyEngine {
    const engine = new PolicyEngine(options, court);
    engine.#start();
    return engine;
  }

  private constructor(options: PolicyOptions, court: Court | undefined) {
    this.#court = court;
    this.options = options;
    this.project = realPath(resolve(options.project));
    this.home = homeOf(options.env);
  }

  /** Undefined when there is nothing to decide. */
  get inForce(): InForce | undefined {
    return this.#halted ?? this.#inForce;
  }

  /** Nothing runs while the settings have this problem. Undefined: they have none. */
  haltFor(problem: string | undefined): void {
    this.#halt('settings', problem);
    for (const listener of this.#listeners) listener();
  }

  get mode(): Mode {
    return this.#mode;
  }

  /** All that are in force. */
  get policies(): readonly LoadedPolicy[] {
    return this.#loaded();
  }

  decide(
    command: string,
    cwd: string,
    options?: DecideOptions,
  ): (PolicyDecision & { readonly mode: Mode }) | undefined {
    const { inForce } = this;
    return inForce && { ...inForce.decide(command, cwd, options), mode: inForce.mode };
  }

  /** Files and directories that no command writes: what they say is what we do. */
  get kept(): readonly string[] {
    const { project, options } = this;
    const { env, stateRoot, settingsFile } = options;
    const places = [
      ...ownState(stateRoot),
      trustListFile(env),
      ...(settingsFile === undefined ? [] : [resolve(project, settingsFile)]),
      ...[project, options.project]
        .flatMap((one) => settingsCandidates(one, env))
        .map(({ path }) => path),
      ...this.#places().map(({ path }) => path),
      ...this.#loaded()
        .flatMap((loaded) => shadowPlace(loaded) ?? [])
        .map(({ path }) => path),
    ];
    return [...new Set([...places, ...realPaths(places)])].map(literalGlob);
  }

  /** The policies in force, and how they would decide if `path` said this. */
  supposing(supposed: PolicyText): Judgement {
    const { path } = supposed.place;
    const places = this.#places();
    const known = new Map(this.#texts().map((one) => [one.place.path, one]));
    known.set(path, supposed);
    const order = [...new Set([...places.map(({ path }) => path), path])];
    const files = order.flatMap((one) => known.get(one) ?? []);
    const { policies } = countingPolicies(files, [...places, supposed.place], this.options);
    return this.#bench().judge(this.#case(policies));
  }

  /** Where agents write what is not for the project; undefined: no policy gives them a place. */
  get scratch(): string | undefined {
    const policies = this.#mode === 'off' ? [] : this.#loaded();
    return scratchOf(policies, { ...this.options, project: this.project });
  }

  /** What of the project's policy waits for trust, one sentence each. */
  get waiting(): readonly string[] {
    return this.#counting.waiting;
  }

  /** Reads the files at once; else they are read a moment after they have changed. */
  reload(): void {
    this.#read();
    this.#watch?.settled();
  }

  /** Whether files had changed and were not read yet: if they are at rest, they are read now. */
  async caughtUp(): Promise<boolean> {
    return (await this.#watch?.rest()) ?? false;
  }

  /** Told whenever another version is in force. Returns what ends it. */
  onChanged(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  health(): PolicyHealth {
    const files = this.#loaded().flatMap(({ file, origin }) =>
      file === undefined ? [] : [{ file, origin }],
    );
    const all = [this.#halts.get('settings') ?? [], ...this.#problems.values(), ...this.#beside];
    const problems = all.flat().flatMap((text) => text.split('\n'));
    return { mode: this.#mode, files, problems, shadow_divergences: this.#divergences };
  }

  close(): void {
    this.#watch?.close();
    this.paths.close();
  }

  #start(): void {
    // First: what changes while the files are read is read again.
    const { settleMs, pollMs } = this.options;
    const files = (): readonly string[] => [
      ...this.#places().map(({ path }) => path),
      ...this.#shadows.map(({ path }) => path),
      trustListFile(this.options.env),
    ];
    if (this.options.watch !== false) {
      const changed = (): undefined | Promise<void> => this.#changed();
      this.#watch = new FileWatch({ files, changed, settleMs, pollMs });
    }
    if (this.#court === undefined) return;
    this.#take();
    if (this.#problems.size === 0) return;
    if (this.#halted !== undefined && this.options.halts !== true) {
      this.close();
      throw new AppError('settings_invalid', [...this.#problems.values()].join('\n'), {
        hint: 'Mend the policy, or say `mode: off` in it.',
      });
    }
    this.#warn();
  }

  /** A file of which no version was ever read halts the server if it may be meant to enforce. */
  #take(): void {
    const unread = this.#readFiles().filter(({ path }) => !this.#good.has(path));
    this.#compile();
    const halting = unread.filter(
      ({ mode }) => mode === undefined || mode === 'enforce' || this.#mode === 'enforce',
    );
    const problems = halting.map(({ path }) => this.#problems.get(path) ?? path);
    this.#halt('policy', problems.length === 0 ? undefined : problems.join('\n'));
  }

  #halt(cause: HaltCause, problem: string | undefined): void {
    if (problem === undefined) this.#halts.delete(cause);
    else this.#halts.set(cause, problem);
    this.#halted =
      this.#halts.size === 0 ? undefined : haltedBy(new Map(this.#halts), this.#inForce);
  }

  /** The first policy there is brings in what judges by it. */
  #changed(): undefined | Promise<void> {
    if (this.#court !== undefined || !hasPolicy(this.options)) {
      this.#read();
      return undefined;
    }
    return import('./files.ts').then(
      (court) => {
        this.#court = court;
        this.reload();
      },
      (error: unknown) => this.options.log?.('warn', 'Policy not taken', { error: String(error) }),
    );
  }

  #bench(): Court {
    if (this.#court === undefined) throw new Error('there is a policy and no code to judge by it');
    return this.#court;
  }

  #read(): void {
    if (this.#court === undefined && !hasPolicy(this.options)) return;
    const before = [...this.#problems.values()].join('\n');
    this.#take();
    for (const listener of this.#listeners) listener();
    if (this.#problems.size > 0 && [...this.#problems.values()].join('\n') !== before) this.#warn();
    else if (this.#problems.size === 0) {
      this.options.log?.('info', 'Policy taken', { mode: this.#mode });
    }
  }

  /** Gives those that are no policy. */
  #readFiles(): BadFile[] {
    const problems = new Map<string, string>();
    const bad: BadFile[] = [];
    for (const place of this.#places()) {
      const { path } = place;
      const file = this.#bench().readPolicyFile(place, this);
      const known = this.#good.get(path);
      if (file.kind === 'good') {
        if (known?.text !== file.text) this.#good.set(path, file);
      } else if (file.kind === 'bad') {
        problems.set(path, file.problem);
        bad.push({ path, mode: file.mode });
      } else if (known !== undefined) {
        // Removing the file, as an agent might, does not remove the policy.
        const rest = 'what it said stays in force until it is back, or the server starts anew';
        problems.set(path, `${path}:1:1: it is gone; ${rest}`);
      }
    }
    this.#problems = problems;
    return bad;
  }

  #compile(): void {
    this.#counting = countingPolicies(this.#texts(), this.#places(), this.options);
    const policies = this.#loaded();
    const strictest = Math.max(0, ...policies.map(({ policy }) => MODES.indexOf(policy.mode)));
    const mode = MODES[strictest] ?? 'enforce';
    this.#mode = mode;
    if (mode === 'off') {
      this.#inForce = undefined;
      return;
    }
    const { judge, explain } = this.#bench();
    const judgement = judge(this.#case(policies));
    // Without it commands run as before; what would be written there fails and says so.
    const error = this.scratch && makeScratch(this.scratch, this.options.stateRoot);
    if (error) this.options.log?.('warn', 'No scratch directory', { error });
    const shadow = this.#shadowOf(policies);
    const byThis = decideBy(judgement, policies);
    const decide: InForce['decide'] = (command, given, options = {}) => {
      const { value, unseen } = this.paths.watch(() => {
        const cwd = this.paths.real(given);
        const other = shadow?.(command, cwd, options).decision;
        return { ...byThis(command, cwd, options), other };
      });
      const { decision, relies, other } = value;
      if (unseen.length > 0) {
        return { decision: withUnseen(decision, unseen, policies), relies, diverges: false };
      }
      const diverges = other !== undefined && other.verdict !== decision.verdict;
      if (diverges) this.#divergences += 1;
      return { decision, relies, diverges };
    };
    const decideWrite: InForce['decideWrite'] = (path, given, removes) => {
      const { value, unseen } = this.paths.watch(() =>
        judgement.decideWrite(path, this.paths.real(given), removes),
      );
      return withUnseen(value, unseen, policies);
    };
    const denies = denyBy(judgement, policies);
    this.#inForce = { mode, judgement, policies, decide, decideWrite, denies, explain };
  }

  /** The same policies, each that names another one replaced by that. */
  #shadowOf(policies: readonly LoadedPolicy[]): Decide | undefined {
    const places: PolicyPlace[] = [];
    const beside: string[] = [];
    const others = policies.map((loaded) => {
      const place = shadowPlace(loaded);
      if (place === undefined) return loaded;
      places.push(place);
      const file = this.#bench().readPolicyFile(place, this);
      if (file.kind === 'good') return file.loaded;
      if (file.kind === 'bad') beside.push(file.problem);
      return loaded;
    });
    this.#shadows = places;
    this.#beside = beside;
    if (places.length === 0) return undefined;
    return decideBy(this.#bench().judge(this.#case(others)), others);
  }

  #case(policies: readonly LoadedPolicy[]): Judge {
    return {
      policies,
      project: this.project,
      home: this.home,
      real: this.paths.real,
      bare: this.paths.bare,
      disk: this.paths.disk,
      kept: this.kept,
      scratch: scratchOf(policies, { ...this.options, project: this.project }),
    };
  }

  #places(): readonly PolicyPlace[] {
    return policyPlaces(this.options);
  }

  #loaded(): readonly LoadedPolicy[] {
    return this.#counting.policies;
  }

  #texts(): readonly PolicyText[] {
    return this.#places().flatMap((place) => {
      const good = this.#good.get(place.path);
      return good === undefined ? [] : [{ ...good, place }];
    });
  }

  #warn(): void {
    const error = [...this.#problems.values()].join('\n');
    this.options.log?.('warn', 'Policy not taken', { error });
  }
}

/** For a server: what judges is loaded if there is anything to judge by. */
export async function openPolicy(options: PolicyOptions): Promise<PolicyEngine> {
  const court = hasPolicy(options) ? await import('./files.ts') : undefined;
  return PolicyEngine.open(options, court);
}
