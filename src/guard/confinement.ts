// What holds a command while it runs, as the policy in force says: a gate at which each of its
// programs asks whether it may begin, and a sandbox around all of them. Only a policy that is
// enforced holds anything. Where it wants what cannot be had here, nothing runs, but for a gate
// that is merely `on`: then it is said once in the log.

import { basename, isAbsolute } from 'node:path';
import { messageOf } from '../errors.ts';
import type { RecorderMetrics } from '../ops/metrics.ts';
import { ProjectChanges } from '../policies/changes.ts';
import type { InForce, PolicyEngine } from '../policies/engine.ts';
import type { Reason } from '../policy/decision.ts';
import { protectedPaths } from '../policy/protected.ts';
import type { Shell } from '../shell/shell.ts';
import { agentName } from '../text/agents.ts';
import { type ConfinementResult, FREE, type StartTerms } from './confined.ts';
import { type Gate, type GateProcess, type GateVerdict, openGate } from './gate.ts';
import { checkSandbox, lookAround, type SandboxOptions, sandboxed, scopeRoots } from './sandbox.ts';
import { settleBegun, type WatchedPlace, watchSandbox } from './sandbox-watch.ts';

const OWN_MAX = 1_000; // texts of commands that are remembered

const GATES_MAX = 20; // agents of one server; more of them share the gate of unknown ones

const ALLOW: GateVerdict = { allow: true };

/** What would start the command, and whose it is, where that is proven. */
type Confined = {
  readonly shell: Pick<Shell, 'gateCheck'>;
  readonly agent: string | undefined;
};

type Started = {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly agent: string | undefined;
};

export class Confinement {
  readonly #engine: PolicyEngine;
  readonly #metrics: RecorderMetrics;
  /** One for each agent: rules that deny may name some. */
  readonly #gates = new Map<string, Promise<Gate>>();
  readonly #unlisten: (() => void)[] = [];
  /** Shells that we start ourselves, which rules for the shells of a command are not about. */
  readonly #own = new Set<string>();
  readonly #warned = new Set<string>();

  constructor(engine: PolicyEngine, metrics: RecorderMetrics) {
    this.#engine = engine;
    this.#metrics = metrics;
  }

  /** Never rejects. */
  async of(inForce: InForce, { shell, agent }: Confined, cwd: string): Promise<ConfinementResult> {
    const { mode, judgement } = inForce;
    if (mode !== 'enforce') return FREE;
    const sandbox = judgement.sandbox === 'bwrap' ? this.#sandbox(inForce, cwd) : undefined;
    if (sandbox !== undefined) {
      const check = checkSandbox();
      if (!check.ok) return refused('sandbox', 'sandbox: bwrap', check.reason);
      const silent = await this.#silentMount(sandbox);
      if (silent !== undefined) {
        return refused('sandbox', 'sandbox: bwrap', `\`${silent}\` does not answer`);
      }
    }
    const around = (command: string): StartTerms =>
      sandbox === undefined ? { restraints: {} } : this.#around(sandbox, command);
    const ungated = (_argv: readonly string[], _relies: boolean, command: string): StartTerms =>
      around(command);
    if (judgement.gate === 'off') return { ...FREE, hold: ungated };
    const strict = judgement.gate === 'strict';
    const gate = await this.#gateFor(shell, agent);
    if (typeof gate === 'string') {
      if (strict) return refused('gate', 'gate: strict', gate);
      this.#warn(gate);
      return { ...FREE, hold: ungated };
    }
    const { path } = gate;
    const hold = (argv: readonly string[], relies: boolean, command: string): StartTerms => {
      this.#letIn({ argv, cwd, agent }, inForce, gate);
      const { restraints, watch } = around(command);
      const asks = { path, strict: strict || relies, needed: true };
      return { restraints: { ...restraints, gate: asks }, watch };
    };
    return { kind: 'held', gated: true, hold };
  }

  async close(): Promise<void> {
    for (const end of this.#unlisten) end();
    const gates = [...this.#gates.values()];
    await Promise.all(gates.map(async (one) => (await one.catch(() => undefined))?.close()));
  }

  /** Or why there is none. */
  async #gateFor(shell: Confined['shell'], agent: Confined['agent']): Promise<Gate | string> {
    const check = shell.gateCheck();
    if (!check.ok) return check.reason;
    // Of names that are none of ours, no rule knows one from another that denies.
    const key = agent === undefined ? '' : agentName(agent);
    const known = this.#gates.get(key);
    const own = known === undefined && this.#gates.size >= GATES_MAX ? '' : key;
    try {
      const opening = this.#gates.get(own) ?? this.#open(own === '' ? undefined : agent);
      this.#gates.set(own, opening);
      return await opening;
    } catch (error) {
      this.#gates.delete(own);
      return messageOf(error);
    }
  }

  async #open(agent: Confined['agent']): Promise<Gate> {
    const engine = this.#engine;
    const gate = await openGate({
      directory: engine.options.stateRoot,
      decide: (process) => this.#decide(process, agent),
      denied: (process) => this.#denied(process),
      get strict() {
        return engine.inForce?.judgement.gate === 'strict';
      },
    });
    this.#unlisten.push(engine.onChanged(() => gate.forget()));
    return gate;
  }

  #decide({ argv, cwd }: GateProcess, agent: Confined['agent']): GateVerdict {
    const { inForce } = this.#engine;
    // Those that run on under a policy that is another one by now.
    if (inForce?.mode !== 'enforce' || inForce.judgement.gate === 'off') return ALLOW;
    const [program = '', ...words] = unwrapped(argv);
    if (this.#own.has(keyOf(program, words))) return ALLOW;
    try {
      const denied = inForce.denies(argv, cwd, agent);
      return denied === undefined ? ALLOW : { allow: false, message: denialText(denied) };
    } catch (error) {
      // A fault of ours must not let anything through.
      const why = messageOf(error);
      return { allow: false, message: `It could not be judged: ${why}.` };
    }
  }

  #denied({ exe, argv, pid }: GateProcess): void {
    this.#metrics.policyDecision({ verdict: 'deny', code: 'rule.deny' });
    // Not its arguments: there may be secrets in them.
    this.#log('Process denied', { program: exe || argv[0], pid });
  }

  /** The shell of a command that was judged by its text. */
  #letIn({ argv, cwd, agent }: Started, { denies }: InForce, gate: Gate): void {
    if (denies(argv, cwd, agent) === undefined) return;
    const [program = '', ...words] = argv;
    // The kernel knows it as what the link leads to.
    const names = isAbsolute(program) ? [program, this.#engine.paths.real(program)] : [program];
    for (const name of names) this.#own.add(keyOf(name, words));
    for (const oldest of this.#own) {
      if (this.#own.size <= OWN_MAX) break;
      this.#own.delete(oldest);
    }
    gate.forget(); // a process may have asked the same and been denied
  }

  #sandbox({ policies }: InForce, cwd: string): SandboxOptions {
    const { project, home, options } = this.#engine;
    const all = policies.map(({ policy }) => policy);
    const scope = (name: 'read' | 'write' | 'protect'): readonly string[] =>
      all.flatMap(({ scopes }) => scopes[name]);
    const { scratch } = this.#engine;
    // A policy of version 2 says all that may be written.
    const whole = all.every(({ version }) => version === 1);
    const write = [...(whole ? [project] : []), ...scope('write'), ...(scratch ? [scratch] : [])];
    const [read, protect] = [scope('read'), scope('protect')];
    const opened = policies.flatMap(({ policy, origin }) =>
      origin === 'project' ? [] : policy.scopes.write,
    );
    const kept = [options.stateRoot, ...this.#engine.kept];
    const guarded = protectedPaths({ project, home }, { more: protect, opened, kept, scratch });
    const network = all.some(({ network }) => network.length > 0);
    return { scopes: { read, write, protect }, project, home, network, cwd, guarded };
  }

  #around(sandbox: SandboxOptions, command: string): StartTerms {
    const here = lookAround(sandbox);
    const { state } = here.found ?? {};
    const watch = state && watchSandbox(this.#watched(sandbox), command, state);
    return { restraints: { sandbox: sandboxed(sandbox, here) }, watch };
  }

  /** Finds what runs have changed that were not compared at their end, or that go on. */
  settle(inForce: InForce): void {
    const { project } = this.#engine;
    settleBegun(this.#watched(this.#sandbox(inForce, project)));
  }

  #watched(sandbox: SandboxOptions): WatchedPlace {
    const { project, options } = this.#engine;
    const { stateRoot, now = Date.now } = options;
    return {
      changes: new ProjectChanges(stateRoot, project),
      ...{ project, stateRoot, now },
      warn: (message, fields) => this.#log(message, fields),
      look: () => lookAround(sandbox).found?.state ?? { paths: {}, whole: false, at: now() },
    };
  }

  /** A sandbox looks up what is in its scopes, so all of them have to answer. */
  #silentMount(options: SandboxOptions): Promise<string | undefined> {
    const { project, home, cwd } = options;
    return this.#engine.paths.silentMount([project, ...scopeRoots(options)], [home, cwd]);
  }

  #warn(why: string): void {
    if (this.#warned.has(why)) return;
    this.#warned.add(why);
    this.#log('Processes are not judged', { error: why });
  }

  #log(message: string, fields: Readonly<Record<string, unknown>>): void {
    this.#engine.options.log?.('warn', message, fields);
  }
}

/** One line; a rule with a reason of its own says only that. */
function denialText({ message, rule }: Reason): string {
  if (rule === undefined || message.includes(rule.pattern)) return message;
  return `The rule \`${rule.pattern}\` denies it: ${message}`;
}

/** Without our sandbox around it. */
function unwrapped(argv: readonly string[]): readonly string[] {
  const isSandbox = argv[0] !== undefined && basename(argv[0]) === 'bwrap';
  return isSandbox ? argv.slice(argv.indexOf('--') + 1) : argv;
}

/** The same for a shell by its path and by its name, and not for another program. */
function keyOf(program: string, words: readonly string[]): string {
  return [basename(program), ...words].join('\0');
}

function refused(code: 'gate' | 'sandbox', wanted: string, reason: string): ConfinementResult {
  const what = code === 'gate' ? 'processes cannot be judged' : 'there can be no sandbox';
  const why = `cuff policy: not run. The policy says \`${wanted}\`, and ${what} here: ${reason}.`;
  return { kind: 'refused', code, why };
}
