// Stands in front of every command of an agent: asks the policy, and a person where the policy says
// so, and tells what to do. Nothing waits longer for a person than a client waits for its answer;
// no answer is a no for now, and the person can say yes later with `cuff policy approve`.

import { AppError } from '../errors.ts';
import type { RecorderMetrics } from '../ops/metrics.ts';
import { type Asker, approvable, rulable } from '../policies/approvals.ts';
import { Budgets, type BudgetUse, budgetUses } from '../policies/budgets.ts';
import { heldText, ProjectChanges } from '../policies/changes.ts';
import type { Decision, InForce, PolicyDecision, PolicyEngine } from '../policies/engine.ts';
import type { DecideOptions } from '../policy/decide.ts';
import { because } from '../policy/reasons.ts';
import type { Shell } from '../shell/shell.ts';
import { shortLine } from '../text/printable.ts';
import type { AskPerson, EntryDecision, PersonAnswer } from '../types.ts';
import { Answers } from './answers.ts';
import {
  type ConfinementResult,
  FREE,
  gitVariables,
  type Restraints,
  type StartTerms,
} from './confined.ts';
import type { Confinement } from './confinement.ts';
import { judgedTexts } from './judged-texts.ts';
import {
  type Answer,
  choicesFor,
  type GuardRequest,
  patternShown,
  questionText,
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
  /** The name of the agent, where it is more than a variable says: rules may be for it alone. */
  readonly client?: string | null | undefined;
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
  readonly hold: (argv: readonly string[], env?: Restraints['env']) => StartTerms;
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
  hold: () => ({ restraints: {} }),
};

export class Guard {
  readonly #engine: PolicyEngine;
  readonly #answers: Answers;
  readonly #budgets: Budgets;
  readonly #metrics: RecorderMetrics;
  readonly #refusals: Refusals;
  readonly #changes: ProjectChanges;
  readonly #stop = new AbortController();
  #confinement: Promise<Confinement> | undefined;

  constructor(engine: PolicyEngine, metrics: RecorderMetrics) {
    this.#engine = engine;
    this.#answers = new Answers(engine);
    const { stateRoot, now } = engine.options;
    this.#budgets = new Budgets(stateRoot, engine.project, now);
    this.#metrics = metrics;
    this.#changes = new ProjectChanges(engine.options.stateRoot, engine.project);
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
    const held = inForce.mode === 'enforce' ? this.#heldBack(call) : undefined;
    if (held !== undefined) return held;
    const { decision, diverges } = decided;
    this.#metrics.policyDecision({ verdict: decision.verdict, code: decision.code });
    if (diverges) this.#metrics.shadowDivergence();
    const ruled = await this.#ruled(inForce, decision, asked, call);
    if (!ruled.run) return ruled;
    if (this.#engine.inForce === inForce) return this.#holding(ruled, ground, asked, call);
    // The policy changed while we waited; anything the new one denies must be refused.
    if (ruled.decision?.approved === null) return this.rule(asked, call);
    const now = await this.#ground(asked, call);
    if (now === undefined) return ruled;
    const { mode, explain } = now.inForce;
    const other = now.decided.decision;
    if (mode === 'enforce' && other.verdict !== 'allow' && !approvable(other)) {
      return refusal(entryDecision(other, mode), explain(other), call);
    }
    return this.#holding(ruled, now, asked, call);
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
    this.#answers.close();
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
      const agent = call.client ?? undefined;
      const decide = (): PolicyDecision => this.#decide(inForce, asked, { gated, agent });
      const whole = await this.#engine.paths.settled(decide);
      const decision = this.#budgets.within(whole.decision, inForce.policies);
      const decided = { ...whole, decision };
      if (this.#engine.inForce !== inForce && turn < TURNS_MAX) continue;
      return { inForce, confined, decided };
    }
  }

  async #confined(
    inForce: InForce,
    { cwd }: GuardRequest,
    { shell, client }: GuardCall,
  ): Promise<ConfinementResult> {
    const { mode, judgement } = inForce;
    if (mode !== 'enforce') return FREE;
    const unsettled = this.#changes.begun().length > 0;
    if (!unsettled && judgement.gate === 'off' && judgement.sandbox === 'off') return FREE;
    this.#confinement ??= import('./confinement.ts').then(
      (module) => new module.Confinement(this.#engine, this.#metrics),
    );
    const confinement = await this.#confinement;
    if (unsettled) confinement.settle(inForce);
    return confinement.of(inForce, { shell, agent: client ?? undefined }, cwd);
  }

  /** What is protected changed in the sandbox, and the person has not looked yet. */
  #heldBack(call: GuardCall): Refusal | undefined {
    const { options, project } = this.#engine;
    const text = heldText(options.stateRoot, project);
    if (text === undefined) return undefined;
    const denied = { verdict: 'deny', code: 'changes', mode: 'enforce', rule: null } as const;
    this.#metrics.policyDecision(denied);
    return refusal({ ...denied, approved: null }, text, call);
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
    const subject = this.#answers.subject(asked);
    const entry = entryDecision(decision, 'enforce');
    const explained = inForce.explain(decision);
    const asker = this.#answers.asker(inForce, call);
    const granted = this.#answers.granted(asked, subject, asker);
    if (granted !== undefined) return { ...ruling({ ...entry, approved: 'grant' }), ...granted };
    const { key = '' } = call;
    if (this.#refusals.has(key, subject)) {
      return refusal(entry, `${explained}\n${SAID_NO_BEFORE}`, call);
    }
    const { answer, pattern } = await this.#answer(asked, decision, call, asker);
    const unanswered = call.signal?.aborted === true ? [] : UNANSWERED[answer];
    if (unanswered !== undefined) {
      const lines = [
        explained,
        ...unanswered,
        this.#answers.instructions(asked, decision, call, asker),
      ];
      return refusal(entry, lines.join('\n'), call);
    }
    if (answer === 'deny') {
      this.#refusals.add(key, subject);
      return refusal(entry, `${explained}\n${SAID_NO}`, call);
    }
    const approved = ruling({ ...entry, approved: 'elicitation' });
    if (answer === 'once') return approved;
    const lasting = answer === 'hour' || answer === 'conversation';
    const note = lasting
      ? this.#answers.keep(asked, decision, call, { ...asker, span: answer })
      : await this.#answers.always(asked, call, answer === 'pattern' ? pattern : undefined);
    return { ...approved, note };
  }

  async #answer(
    asked: GuardRequest,
    decision: Decision,
    call: GuardCall,
    asker: Asker,
  ): Promise<{ readonly answer: Answer; readonly pattern?: string }> {
    const over = this.#stop.signal.aborted || call.signal?.aborted === true;
    if (call.ask === undefined || over) return { answer: 'unasked' };
    const typed = asked.typed !== undefined;
    const secret = !rulable(decision);
    const examples = secret || typed ? undefined : await this.#answers.pattern(asked, call);
    const named = asker.conversation !== undefined;
    const choices = choicesFor({ secret, typed, named, pattern: examples !== undefined });
    const message = [
      questionText(asked, decision, call.redact),
      ...(examples === undefined ? [] : ['', patternShown(examples)]),
    ].join('\n');
    const answer = await this.#untilStopped(call.ask({ message, choices }));
    if (answer.kind === 'declined') return { answer: 'deny' };
    if (answer.kind !== 'chosen') return { answer: answer.kind };
    const value = choices.find((one) => one.value === answer.value)?.value ?? 'none';
    return { answer: value, ...(examples && { pattern: examples.pattern }) };
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

  /** The strictest word on all that the agent chose. */
  #decide(inForce: InForce, asked: GuardRequest, options: DecideOptions): PolicyDecision {
    const all = judgedTexts(asked).map((text) => inForce.decide(text, asked.cwd, options));
    const decision = strictestOf(all.map((one) => one.decision));
    const some = (is: (one: PolicyDecision) => boolean): boolean => all.some(is);
    return { decision, relies: some((one) => one.relies), diverges: some((one) => one.diverges) };
  }

  /** Throws an `AppError` where another start has used up what was left. */
  #spend(uses: readonly BudgetUse[], { mode }: InForce): void {
    if (uses.length > 0 && !this.#budgets.spend(uses) && mode === 'enforce') {
      throw new AppError('start_failed', 'The budget of its rule was used up meanwhile.');
    }
  }

  /** The ruling with what holds the command; no ruling where that cannot be had. */
  #holding(ruled: Ruling, ground: Ground, asked: GuardRequest, call: GuardCall): Ruling | Refusal {
    const command = call.redact(asked.command);
    const { confined, decided, inForce } = ground;
    const uses = budgetUses(decided.decision);
    if (confined.kind === 'held') {
      const git = inForce.mode === 'enforce' ? gitVariables(this.#engine.options.env) : undefined;
      const hold: Ruling['hold'] = (argv, env) => {
        ruled.hold(argv);
        this.#spend(uses, inForce);
        const { restraints, watch } = confined.hold(argv, decided.relies, command);
        return { restraints: { ...restraints, ...(git && { env: { ...env, ...git } }) }, watch };
      };
      return { ...ruled, hold };
    }
    const denied = { verdict: 'deny', code: confined.code, mode: 'enforce', rule: null } as const;
    return refusal({ ...denied, approved: null }, confined.why, call);
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
