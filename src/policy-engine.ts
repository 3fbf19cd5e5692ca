// The policy of one server: the files that are in force, compiled, and followed while it runs. A
// new version that is wrong, or gone, leaves the one before it in force and shows in `health`; at
// the start a policy that may want to be enforced and cannot be read is a reason not to start.
// Without a file there is nothing to decide.

import { join, resolve } from 'node:path';
import { AppError } from './errors.ts';
import type { DecideOptions, Judge, Judgement } from './policy/decide.ts';
import { type Decision, MODES, type Mode } from './policy/decision.ts';
import type { LoadedPolicy } from './policy/policy.ts';
import { type Decide, type Deny, decideBy, denyBy, type Told } from './policy-decided.ts';
import {
  homeOf,
  isThere,
  type PolicyPlace,
  type PolicyWhere,
  policyPlaces,
  shadowPlace,
} from './policy-places.ts';
import { literalGlob, realPath, shortMemory } from './policy-real.ts';
import { FileWatch } from './policy-watch.ts';
import { settingsCandidates } from './settings-paths.ts';

export type { Decision, Mode };

/** What reads and judges; only a server with a policy has it. */
export type Court = typeof import('./policy-court.ts');

export type PolicyOptions = PolicyWhere & {
  /** Where questions and grants are kept. */
  readonly stateRoot: string;
  /** The settings of the server, where they are not looked for. */
  readonly settingsFile?: string | undefined;
  readonly log?: ((level: 'info' | 'warn', message: string, fields: Fields) => void) | undefined;
  readonly now?: (() => number) | undefined;
  readonly watch?: boolean | undefined;
  readonly settleMs?: number | undefined;
  readonly pollMs?: number | undefined;
};

type Fields = Readonly<Record<string, unknown>>;

/** One version of the policy: who decides twice with it decides twice the same. */
export type InForce = {
  /** Never `off`. */
  readonly mode: Exclude<Mode, 'off'>;
  readonly judgement: Judgement;
  readonly policies: readonly LoadedPolicy[];
  /** Never throws: what cannot be decided is to be asked. */
  decide(command: string, cwd: string, options?: DecideOptions): Decided;
  /** Why a process must not start. May throw. */
  readonly denies: Deny;
  /** The short text for an agent. */
  readonly explain: (decision: Decision) => string;
};

export type Decided = Told & {
  /** The policy in the shadow would have decided otherwise. */
  readonly diverges: boolean;
};

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
  /** The last good version of each file. */
  readonly #good = new Map<string, { readonly text: string; readonly loaded: LoadedPolicy }>();
  #problems = new Map<string, string>();
  /** Of policies in the shadow; they hold up nothing. */
  #beside: readonly string[] = [];
  #shadows: readonly PolicyPlace[] = [];
  #mode: Mode = 'off';
  #inForce: InForce | undefined;
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
    return this.#inForce;
  }

  get mode(): Mode {
    return this.#mode;
  }

  /** All that are in force. */
  get policies(): readonly LoadedPolicy[] {
    return this.#loaded();
  }

  decide(command: string, cwd: string): (Decided & { readonly mode: Mode }) | undefined {
    const inForce = this.#inForce;
    return inForce && { ...inForce.decide(command, cwd), mode: inForce.mode };
  }

  /** Files and directories that no command writes: what they say is what we do. */
  get kept(): readonly string[] {
    const { project, options } = this;
    const { env, stateRoot, settingsFile } = options;
    const places = [
      ...['approvals', 'gates'].map((name) => join(stateRoot, name)),
      ...(settingsFile === undefined ? [] : [resolve(project, settingsFile)]),
      ...[project, options.project].flatMap((one) => settingsCandidates(one, env)).map(pathOf),
      ...this.#places().map(pathOf),
      ...this.#loaded()
        .flatMap((loaded) => shadowPlace(loaded) ?? [])
        .map(pathOf),
    ];
    return [...new Set(places.flatMap((path) => [path, realPath(path)]))].map(literalGlob);
  }

  /** The policies in force, and how they would decide if `path` said this. */
  supposing(path: string, loaded: LoadedPolicy): Judgement {
    const places = [...this.#places().map((place) => place.path), path];
    const policies = [...new Set(places)].flatMap((one) =>
      one === path ? [loaded] : (this.#good.get(one)?.loaded ?? []),
    );
    return this.#bench().judge({ ...this.#around, policies });
  }

  /** Reads the files at once; else they are read a moment after they have changed. */
  reload(): void {
    this.#read();
    this.#watch?.settled();
  }

  /** Whether files had changed that nobody had read: if they are at rest, somebody has by now. */
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
    const all = [...this.#problems.values(), ...this.#beside];
    const problems = all.flatMap((text) => text.split('\n'));
    return { mode: this.#mode, files, problems, shadow_divergences: this.#divergences };
  }

  close(): void {
    this.#watch?.close();
  }

  #start(): void {
    // First: what changes while the files are read is read again.
    const { settleMs, pollMs } = this.options;
    const files = (): readonly string[] => [
      ...this.#places().map(({ path }) => path),
      ...this.#shadows.map(({ path }) => path),
    ];
    if (this.options.watch !== false) {
      const changed = (): void => this.#changed();
      this.#watch = new FileWatch({ files, changed, settleMs, pollMs });
    }
    if (this.#court === undefined) return;
    const unsure = this.#readFiles().filter(({ mode }) => mode === undefined || mode === 'enforce');
    this.#compile();
    if (this.#problems.size === 0) return;
    if (unsure.length > 0 || this.#mode === 'enforce') {
      this.close();
      throw new AppError('settings_invalid', [...this.#problems.values()].join('\n'), {
        hint: 'Mend the policy, or say `mode: off` in it.',
      });
    }
    this.#warn();
  }

  /** The first policy there is brings in what judges by it. */
  #changed(): void {
    if (this.#court !== undefined || !hasPolicy(this.options)) {
      this.#read();
      return;
    }
    import('./policy-court.ts').then(
      (court) => {
        this.#court = court;
        this.reload();
      },
      (error: unknown) => this.options.log?.('warn', 'Policy not taken', { error: String(error) }),
    );
  }

  #bench(): Court {
    if (this.#court === undefined) throw new Error('there is a policy and nobody to judge by it');
    return this.#court;
  }

  #read(): void {
    if (this.#court === undefined && !hasPolicy(this.options)) return;
    const before = [...this.#problems.values()].join('\n');
    this.#readFiles();
    this.#compile();
    for (const listener of this.#listeners) listener();
    if (this.#problems.size > 0 && [...this.#problems.values()].join('\n') !== before) this.#warn();
    else if (this.#problems.size === 0) {
      this.options.log?.('info', 'Policy taken', { mode: this.#mode });
    }
  }

  /** Gives those that are no policy. */
  #readFiles(): { readonly mode: Mode | undefined }[] {
    const problems = new Map<string, string>();
    const bad: { readonly mode: Mode | undefined }[] = [];
    for (const place of this.#places()) {
      const { path } = place;
      const file = this.#bench().readPolicyFile(place, this);
      const known = this.#good.get(path);
      if (file.kind === 'good') {
        if (known?.text !== file.text) this.#good.set(path, file);
      } else if (file.kind === 'bad') {
        problems.set(path, file.problem);
        bad.push({ mode: file.mode });
      } else if (known !== undefined) {
        // Whoever removes the file, an agent maybe, does not remove the policy.
        const rest = 'what it said stays in force until it is back, or the server starts anew';
        problems.set(path, `${path}:1:1: it is gone; ${rest}`);
      }
    }
    this.#problems = problems;
    return bad;
  }

  #compile(): void {
    const policies = this.#loaded();
    const strictest = Math.max(0, ...policies.map(({ policy }) => MODES.indexOf(policy.mode)));
    const mode = MODES[strictest] ?? 'enforce';
    this.#mode = mode;
    if (mode === 'off') {
      this.#inForce = undefined;
      return;
    }
    const { judge, explain } = this.#bench();
    const judgement = judge({ ...this.#around, policies });
    const shadow = this.#shadowOf(policies);
    const byThis = decideBy(judgement, policies);
    const decide: InForce['decide'] = (command, given, { gated = false } = {}) => {
      const cwd = realPath(given);
      const told = byThis(command, cwd, gated);
      const other = shadow?.(command, cwd, gated).decision;
      const diverges = other !== undefined && other.verdict !== told.decision.verdict;
      if (diverges) this.#divergences += 1;
      return { ...told, diverges };
    };
    const denies = denyBy(judgement, policies);
    this.#inForce = { mode, judgement, policies, decide, denies, explain };
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
    return decideBy(this.#bench().judge({ ...this.#around, policies: others }), others);
  }

  get #around(): Omit<Judge, 'policies'> {
    return {
      project: this.project,
      home: this.home,
      real: shortMemory(),
      kept: this.kept,
    };
  }

  #places(): readonly PolicyPlace[] {
    return policyPlaces(this.options);
  }

  #loaded(): readonly LoadedPolicy[] {
    return this.#places().flatMap(({ path }) => this.#good.get(path)?.loaded ?? []);
  }

  #warn(): void {
    const error = [...this.#problems.values()].join('\n');
    this.options.log?.('warn', 'Policy not taken', { error });
  }
}

function pathOf({ path }: { readonly path: string }): string {
  return path;
}

/** For a server: what judges is loaded if there is anything to judge by. */
export async function openPolicy(options: PolicyOptions): Promise<PolicyEngine> {
  const court = hasPolicy(options) ? await import('./policy-court.ts') : undefined;
  return PolicyEngine.open(options, court);
}

function hasPolicy(options: PolicyOptions): boolean {
  return policyPlaces(options).some(({ path, named }) => named || isThere(path));
}
