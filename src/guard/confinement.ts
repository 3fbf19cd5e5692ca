// What holds a command while it runs, as the policy in force says: a gate at which each of its
// programs asks whether it may begin, and a sandbox around all of them. Only a policy that is
// enforced holds anything. Where it wants what cannot be had here, nothing runs, but for a gate
// that is merely `on`: then it is said once in the log.

import { basename, isAbsolute } from 'node:path';
import { messageOf } from '../errors.ts';
import type { RecorderMetrics } from '../ops/metrics.ts';
import type { InForce, PolicyEngine } from '../policies/engine.ts';
import type { Reason } from '../policy/decision.ts';
import { protectedPaths } from '../policy/protected.ts';
import type { Shell } from '../shell/shell.ts';
import { type ConfinementResult, FREE, type Restraints } from './confined.ts';
import { type Gate, type GateProcess, type GateVerdict, openGate } from './gate.ts';
import { checkSandbox, type SandboxOptions, sandboxed, scopeRoots } from './sandbox.ts';

const OWN_MAX = 1_000; // texts of commands that are remembered

const ALLOW: GateVerdict = { allow: true };

export class Confinement {
  readonly #engine: PolicyEngine;
  readonly #metrics: RecorderMetrics;
  #opening: Promise<Gate> | undefined;
  #unlisten: (() => void) | undefined;
  /** Shells that we start ourselves, which rules for the shells of a command are not about. */
  readonly #own = new Set<string>();
  readonly #warned = new Set<string>();

  constructor(engine: PolicyEngine, metrics: RecorderMetrics) {
    this.#engine = engine;
    this.#metrics = metrics;
  }

  /** Never rejects. */
  async of(
    inForce: InForce,
    shell: Pick<Shell, 'gateCheck'>,
    cwd: string,
  ): Promise<ConfinementResult> {
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
    const around = sandbox && { sandbox: sandboxed(sandbox) };
    if (judgement.gate === 'off') return { ...FREE, hold: () => ({ ...around }) };
    const strict = judgement.gate === 'strict';
    const gate = await this.#gateFor(shell);
    if (typeof gate === 'string') {
      if (strict) return refused('gate', 'gate: strict', gate);
      this.#warn(gate);
      return { ...FREE, hold: () => ({ ...around }) };
    }
    const { path } = gate;
    const hold = (argv: readonly string[], relies: boolean): Restraints => {
      this.#letIn(argv, cwd, inForce, gate);
      return { ...around, gate: { path, strict: strict || relies, needed: true } };
    };
    return { kind: 'held', gated: true, hold };
  }

  async close(): Promise<void> {
    this.#unlisten?.();
    const gate = await this.#opening?.catch(() => undefined);
    await gate?.close();
  }

  /** Or why there is none. */
  async #gateFor(shell: Pick<Shell, 'gateCheck'>): Promise<Gate | string> {
    const check = shell.gateCheck();
    if (!check.ok) return check.reason;
    try {
      this.#opening ??= this.#open();
      return await this.#opening;
    } catch (error) {
      this.#opening = undefined;
      return messageOf(error);
    }
  }

  async #open(): Promise<Gate> {
    const engine = this.#engine;
    const gate = await openGate({
      directory: engine.options.stateRoot,
      decide: (process) => this.#decide(process),
      denied: (process) => this.#denied(process),
      get strict() {
        return engine.inForce?.judgement.gate === 'strict';
      },
    });
    this.#unlisten = engine.onChanged(() => gate.forget());
    return gate;
  }

  #decide({ argv, cwd }: GateProcess): GateVerdict {
    const { inForce } = this.#engine;
    // Those that run on under a policy that is another one by now.
    if (inForce?.mode !== 'enforce' || inForce.judgement.gate === 'off') return ALLOW;
    const [program = '', ...words] = unwrapped(argv);
    if (this.#own.has(keyOf(program, words))) return ALLOW;
    try {
      const denied = inForce.denies(argv, cwd);
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
  #letIn(argv: readonly string[], cwd: string, { denies }: InForce, gate: Gate): void {
    if (denies(argv, cwd) === undefined) return;
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
    const [read, write, protect] = [scope('read'), [project, ...scope('write')], scope('protect')];
    const opened = policies.flatMap(({ policy, origin }) =>
      origin === 'project' ? [] : policy.scopes.write,
    );
    const kept = [options.stateRoot, ...this.#engine.kept];
    const guarded = protectedPaths({ project, home }, { more: protect, opened, kept });
    const network = all.some(({ network }) => network.length > 0);
    return { scopes: { read, write, protect }, project, home, network, cwd, guarded };
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
