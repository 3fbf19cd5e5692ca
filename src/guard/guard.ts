// Stands in front of every command of an agent: asks the policy, and a person where the policy says
// so, and tells what to do. Nothing waits longer for a person than a client waits for its answer;
// no answer is a no for now, and the person can say yes later with `cuff policy approve`.

import { AppError, messageOf } from '../errors.ts';
import type { RecorderMetrics } from '../ops/metrics.ts';
import { Approvals, approvable, rulable, type Subject } from '../policies/approvals.ts';
import type { Decision, InForce, PolicyDecision, PolicyEngine } from '../policies/engine.ts';
import { because } from '../policy/explain.ts';
import type { Shell } from '../shell/shell.ts';
import { printable, shortLine } from '../text/printable.ts';
import type { AskPerson, EntryDecision, PersonAnswer } from '../types.ts';
import { type ConfinementResult, FREE, gitVariables, type Restraints } from './confined.ts';
import type { Confinement } from './confinement.ts';
import { judgedTexts } from './judged-texts.ts';
import {
  type Answer,
  besideShown,
  CHOICES,
  type GuardRequest,
  questionText,
  reasonsShown,
  SAID_NO,
  SAID_NO_BEFORE,
  UNANSWERED,
} from './question.ts';
import { Refusals } from './refusals.ts';

const WARNING_MAX = 300; // characters: it is one line behind an answer

const TURNS_MAX = 100; // a policy that changes at every look is decided by as it is then

export type GuardCall = {
  readonly signal?: AbortSignal | undefined;
  readonly ask?: AskPerson | undefined;
  /** Whose conversation it is: a no counts there for a while. */
  readonly key?: string | undefined;
  /** Takes secrets out of what is shown and kept. */
  readonly redact: (text: string) => string;
  /** What would start it. */
  readonly shell: Pick<Shell, 'gateCheck'>;
};

/** Only `Guard` makes one. */
export type Ruling = {
  readonly run: true;
  /** What it has to be started with, by its command line. To be called once, at the start: it uses
   * up what the start needs, and throws an `AppError` when that is gone. `env`: what the command
   * gets besides. */
  readonly hold: (argv: readonly string[], env?: Restraints['env']) => Restraints;
  readonly decision: EntryDecision | null;
  /** A line for the answer. */
  readonly note: string | undefined;
};

export type Refusal = {
  readonly run: false;
  readonly decision: EntryDecision;
  /** What the agent is told. */
  readonly text: string;
};

/** No policy, no word about it. */
export const UNRULED: Ruling = {
  run: true,
  decision: null,
  note: undefined,
  hold: () => ({}),
};

export class Guard {
  readonly #engine: PolicyEngine;
  readonly #approvals: Approvals;
  readonly #metrics: RecorderMetrics;
  readonly #refusals: Refusals;
  readonly #stop = new AbortController();
  #confinement: Promise<Confinement> | undefined;

  constructor(engine: PolicyEngine, metrics: RecorderMetrics) {
    this.#engine = engine;
    this.#approvals = new Approvals(engine.options.stateRoot, engine.options.now);
    this.#metrics = metrics;
    this.#refusals = new Refusals(engine.options.now ?? Date.now);
  }

  /** Whether there is anything to ask. */
  get active(): boolean {
    return this.#engine.inForce !== undefined;
  }

  /** Never rejects. */
  async rule(asked: GuardRequest, call: GuardCall): Promise<Ruling | Refusal> {
    const ground = await this.#lastGround(asked, call);
    if (ground === undefined) return UNRULED;
    const { inForce, decided } = ground;
    const { decision, diverges } = decided;
    this.#metrics.policyDecision({ verdict: decision.verdict, code: decision.code });
    if (diverges) this.#metrics.shadowDivergence();
    const ruled = await this.#ruled(inForce, decision, asked, call);
    if (!ruled.run) return ruled;
    if (this.#engine.inForce === inForce) return this.#holding(ruled, ground, call);
    // The policy changed while we waited; anything the new one denies must be refused.
    if (ruled.decision?.approved === null) return this.rule(asked, call);
    const now = await this.#ground(asked, call);
    if (now === undefined) return ruled;
    const { mode, explain } = now.inForce;
    const other = now.decided.decision;
    if (mode === 'enforce' && other.verdict !== 'allow' && !approvable(other)) {
      return refusal(entryDecision(other, mode), explain(other), call);
    }
    return this.#holding(ruled, now, call);
  }

  /** What the policy says to a command that ran where it could not be asked. Asks no person. */
  async judge(asked: GuardRequest): Promise<EntryDecision | null> {
    const { inForce, paths } = this.#engine;
    if (inForce === undefined) return null;
    const decided = await paths.settled(() => this.#decide(inForce, asked, { gated: false }));
    return entryDecision(decided.decision, inForce.mode);
  }

  /** Questions that are open, and later ones, get no answer from now on. */
  stopAsking(): void {
    this.#stop.abort();
  }

  async close(): Promise<void> {
    await (await this.#confinement)?.close();
  }

  /** Reads changed files first: `approve --always` may have just allowed the command. */
  async #lastGround(asked: GuardRequest, call: GuardCall): Promise<Ground | undefined> {
    const ground = await this.#ground(asked, call);
    if (ground?.inForce.mode !== 'enforce') return ground;
    if (ground.decided.decision.verdict === 'allow') return ground;
    return (await this.#engine.caughtUp()) ? this.#ground(asked, call) : ground;
  }

  /** The policy in force, and what it says to this: no other one came while we waited. */
  async #ground(asked: GuardRequest, call: GuardCall): Promise<Ground | undefined> {
    for (let turn = 1; ; turn += 1) {
      const { inForce } = this.#engine;
      if (inForce === undefined) return undefined;
      const confined = await this.#confined(inForce, asked, call);
      // Keys go to a shell that was started long ago.
      const gated = confined.kind === 'held' && confined.gated && asked.typed === undefined;
      const decide = (): PolicyDecision => this.#decide(inForce, asked, { gated });
      const decided = await this.#engine.paths.settled(decide);
      if (this.#engine.inForce !== inForce && turn < TURNS_MAX) continue;
      return { inForce, confined, decided };
    }
  }

  async #confined(
    inForce: InForce,
    { cwd }: GuardRequest,
    { shell }: GuardCall,
  ): Promise<ConfinementResult> {
    const { mode, judgement } = inForce;
    if (mode !== 'enforce' || (judgement.gate === 'off' && judgement.sandbox === 'off')) {
      return FREE;
    }
    this.#confinement ??= import('./confinement.ts').then(
      (module) => new module.Confinement(this.#engine, this.#metrics),
    );
    return (await this.#confinement).of(inForce, shell, cwd);
  }

  async #ruled(
    inForce: InForce,
    decision: Decision,
    asked: GuardRequest,
    call: GuardCall,
  ): Promise<Ruling | Refusal> {
    const { mode, explain } = inForce;
    const { verdict, code } = decision;
    const entry = entryDecision(decision, mode);
    if (verdict === 'allow' || mode === 'record') return ruling(entry);
    if (mode === 'warn') {
      const [first] = decision.reasons;
      const why = shortLine(call.redact(first === undefined ? '' : because(first)), WARNING_MAX);
      return { ...ruling(entry), note: `[policy: ${verdict} (${code}): ${why}]` };
    }
    if (verdict === 'deny') return refusal(entry, explain(decision), call);
    return this.#askAbout(asked, { decision, inForce }, call);
  }

  async #askAbout(
    asked: GuardRequest,
    { decision, inForce }: { readonly decision: Decision; readonly inForce: InForce },
    call: GuardCall,
  ): Promise<Ruling | Refusal> {
    const subject = this.#subject(asked);
    const entry = entryDecision(decision, 'enforce');
    const explained = inForce.explain(decision);
    const granted = this.#granted(asked, subject);
    if (granted !== undefined) return { ...granted, decision: { ...entry, approved: 'grant' } };
    const { key = '' } = call;
    if (this.#refusals.has(key, subject)) {
      return refusal(entry, `${explained}\n${SAID_NO_BEFORE}`, call);
    }
    const answer = await this.#answer(asked, decision, call);
    const unanswered = call.signal?.aborted === true ? [] : UNANSWERED[answer];
    if (unanswered !== undefined) {
      const lines = [explained, ...unanswered, this.#instructions(asked, decision, call)];
      return refusal(entry, lines.join('\n'), call);
    }
    if (answer === 'deny') {
      this.#refusals.add(key, subject);
      return refusal(entry, `${explained}\n${SAID_NO}`, call);
    }
    const approved = ruling({ ...entry, approved: 'elicitation' });
    return answer === 'once' ? approved : { ...approved, note: await this.#always(asked, call) };
  }

  /** Undefined without a grant. It is used up when the command starts, and not before. */
  #granted({ typed }: GuardRequest, subject: Subject): Ruling | undefined {
    // Nothing is started for keys.
    if (typed !== undefined) return this.#approvals.take(subject) ? UNRULED : undefined;
    if (!this.#approvals.granted(subject)) return undefined;
    const hold = (): Restraints => {
      if (this.#approvals.take(subject)) return {};
      throw new AppError('start_failed', 'Its approval was used for another start meanwhile.');
    };
    return { ...UNRULED, hold };
  }

  /** A line when it did not become a rule. */
  async #always(asked: GuardRequest, { redact }: GuardCall): Promise<string | undefined> {
    const { command, cwd } = asked;
    if (besides(asked).length > 0) {
      return '[policy: it ran this once; what came with the command is in no rule]';
    }
    // A rule would show it to every reader of the project.
    if (redact(command) !== command) {
      return '[policy: it ran this once and there is no rule for it: there is a secret in it]';
    }
    try {
      const { allowAlways } = await import('../policies/add-rule.ts');
      const request = { command, cwd, scope: 'project' } as const;
      const always = await allowAlways(this.#engine, request);
      if (always.kind === 'written') return undefined;
      const why = redact(always.why);
      return `[policy: it ran this once and there is no rule for it: ${why}]`;
    } catch (error) {
      const why = redact(messageOf(error));
      return `[policy: it ran this once; the rule could not be written: ${printable(why)}]`;
    }
  }

  async #answer(asked: GuardRequest, decision: Decision, call: GuardCall): Promise<Answer> {
    const over = this.#stop.signal.aborted || call.signal?.aborted === true;
    if (call.ask === undefined || over) return 'unasked';
    const message = questionText(asked, decision, call.redact);
    const choices = CHOICES.filter(({ value }) => value !== 'always' || rulable(decision));
    const answer = await this.#untilStopped(call.ask({ message, choices }));
    if (answer.kind === 'declined') return 'deny';
    if (answer.kind !== 'chosen') return answer.kind;
    return choices.find(({ value }) => value === answer.value)?.value ?? 'none';
  }

  async #untilStopped(asking: Promise<PersonAnswer>): Promise<PersonAnswer> {
    const { signal } = this.#stop;
    let end = (): void => undefined;
    const stopped = new Promise<PersonAnswer>((resolve) => {
      end = () => resolve({ kind: 'none' });
      signal.addEventListener('abort', end);
    });
    try {
      return await Promise.race([asking, stopped]);
    } finally {
      signal.removeEventListener('abort', end);
    }
  }

  #instructions(asked: GuardRequest, decision: Decision, { redact }: GuardCall): string {
    const id = this.#approvals.ask(this.#subject(asked), {
      command: redact(asked.command),
      beside: besideShown(asked, redact),
      code: decision.code,
      reasons: reasonsShown(decision, redact),
    });
    if (id === undefined) return 'It cannot be kept until a person approves it.';
    return `Ask the person to run this, then ask for it again: cuff policy approve ${id}`;
  }

  /** The strictest word on all that the agent chose. */
  #decide(
    inForce: InForce,
    asked: GuardRequest,
    options: { readonly gated: boolean },
  ): PolicyDecision {
    const all = judgedTexts(asked).map((text) => inForce.decide(text, asked.cwd, options));
    const decision = strictestOf(all.map((one) => one.decision));
    const some = (is: (one: PolicyDecision) => boolean): boolean => all.some(is);
    return { decision, relies: some((one) => one.relies), diverges: some((one) => one.diverges) };
  }

  /** The ruling with what holds the command; no ruling where that cannot be had. */
  #holding(ruled: Ruling, ground: Ground, call: GuardCall): Ruling | Refusal {
    const { confined, decided, inForce } = ground;
    if (confined.kind === 'held') {
      const git = inForce.mode === 'enforce' ? gitVariables(this.#engine.options.env) : undefined;
      const hold: Ruling['hold'] = (argv, env) => ({
        ...ruled.hold(argv),
        ...confined.hold(argv, decided.relies),
        ...(git && { env: { ...env, ...git } }),
      });
      return { ...ruled, hold };
    }
    const denied = { verdict: 'deny', code: confined.code, mode: 'enforce', rule: null } as const;
    return refusal({ ...denied, approved: null }, confined.why, call);
  }

  #subject(asked: GuardRequest): Subject {
    const { command, cwd } = asked;
    return { project: this.#engine.project, cwd, command, beside: besides(asked) };
  }
}

type Ground = {
  readonly inForce: InForce;
  readonly confined: ConfinementResult;
  readonly decided: PolicyDecision;
};

/** With the reasons of all, so that one that cannot be approved is not hidden by another. */
function strictestOf(decisions: readonly Decision[]): Decision {
  const first = decisions.reduce((a, b) => (rank(b) > rank(a) ? b : a));
  const all = [first, ...decisions].flatMap(({ reasons }) => reasons);
  const sorted = all.sort((a, b) => rank(b) - rank(a));
  const keyed = sorted.map((one) => [`${one.verdict} ${one.code} ${one.message}`, one] as const);
  return { ...first, reasons: [...new Map(keyed).values()] };
}

function rank({ verdict }: Pick<Decision, 'verdict'>): number {
  return ['allow', 'ask', 'deny'].indexOf(verdict);
}

function ruling(decision: EntryDecision): Ruling {
  return { ...UNRULED, decision };
}

function refusal(decision: EntryDecision, text: string, { redact }: GuardCall): Refusal {
  return { run: false, decision, text: redact(text) };
}

function entryDecision({ verdict, code, reasons }: Decision, mode: InForce['mode']): EntryDecision {
  return { verdict, code, mode, rule: reasons[0]?.rule?.pattern ?? null, approved: null };
}

/** What a grant is bound to besides the text. */
function besides({ env, stdin, tty, shell, typed }: GuardRequest): readonly string[] {
  const names = Object.keys(env ?? {}).sort();
  return [
    ...names.map((name) => `env ${name}=${env?.[name]}`),
    ...(stdin === undefined ? [] : [`${tty === true ? 'keys' : 'stdin'} ${stdin}`]),
    ...(shell === undefined ? [] : [`shell ${shell}`]),
    ...(typed === undefined ? [] : [`typed ${typed.into}\0${typed.before}`]),
  ];
}
