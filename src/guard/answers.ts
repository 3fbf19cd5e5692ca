// What a person has answered to questions of agents, and what an answer is bound to: the text, all
// that comes with it, the agent, the policy and, where it holds for one, the conversation. A server
// and an agent's own shell ask the same.

import { AppError, messageOf } from '../errors.ts';
import { type About, Approvals, type Asker, type Subject } from '../policies/approvals.ts';
import { contentId } from '../policies/decide.ts';
import type { Decision, InForce, PolicyEngine } from '../policies/engine.ts';
import type { PatternExamples } from '../policies/pattern-rule.ts';
import { thisProcess } from '../run/processes.ts';
import { sha256 } from '../text/hash.ts';
import { printable } from '../text/printable.ts';
import type { StartTerms } from './confined.ts';
import { besideShown, type GuardRequest, reasonsShown } from './question.ts';

/** The call that asks. */
type AskingCall = {
  readonly key?: string | undefined;
  readonly client?: string | null | undefined;
  readonly redact: (text: string) => string;
};

/** Of an answer: it is used up when the command starts, and not before. */
type Use = { readonly hold: () => StartTerms };

const HOLDS: Use = { hold: () => ({ restraints: {} }) };

export class Answers {
  readonly #engine: PolicyEngine;
  readonly #approvals: Approvals;
  /** Connections for which something was approved; they end with this server. */
  readonly #connections = new Set<string>();

  constructor(engine: PolicyEngine) {
    this.#engine = engine;
    this.#approvals = new Approvals(engine.options.stateRoot, engine.options.now);
  }

  close(): void {
    for (const key of this.#connections) this.#approvals.endConversation(key);
  }

  /** Undefined without a grant. It is used up when the command starts, and not before. */
  granted({ typed }: GuardRequest, subject: Subject, asker: Asker): Use | undefined {
    if (this.#approvals.lasts(subject, asker)) return HOLDS;
    // Nothing is started for keys.
    if (typed !== undefined) return this.#approvals.take(subject, asker) ? HOLDS : undefined;
    if (!this.#approvals.granted(subject, asker)) return undefined;
    const hold = (): StartTerms => {
      if (this.#approvals.take(subject, asker)) return { restraints: {} };
      throw new AppError('start_failed', 'Its approval was used for another start meanwhile.');
    };
    return { hold };
  }

  /** A line when the answer holds for this run alone. */
  keep(
    asked: GuardRequest,
    decision: Decision,
    { redact }: AskingCall,
    { span, ...asker }: Asker & { readonly span: 'hour' | 'conversation' },
  ): string | undefined {
    const about = this.#about(asked, decision, redact);
    try {
      this.#approvals.grantNow(this.subject(asked), about, asker, span);
      if (asker.server !== undefined) this.#connections.add(asker.conversation ?? '');
      return undefined;
    } catch (error) {
      const why = printable(redact(messageOf(error)));
      return `[policy: it ran this once; the answer could not be kept: ${why}]`;
    }
  }

  /** A line when it did not become a rule. */
  async always(
    asked: GuardRequest,
    { redact, client }: AskingCall,
    pattern: string | undefined,
  ): Promise<string | undefined> {
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
      const agent = client ?? undefined;
      const request = { command, cwd, scope: 'project', pattern, agent } as const;
      const always = await allowAlways(this.#engine, request);
      if (always.kind === 'written') return undefined;
      const why = redact(always.why);
      return `[policy: it ran this once and there is no rule for it: ${why}]`;
    } catch (error) {
      const why = redact(messageOf(error));
      return `[policy: it ran this once; the rule could not be written: ${printable(why)}]`;
    }
  }

  /** A pattern that a rule may have, as it is shown. */
  async pattern(
    asked: GuardRequest,
    { redact, client }: AskingCall,
  ): Promise<PatternExamples | undefined> {
    const { command, cwd } = asked;
    if (besides(asked).length > 0 || redact(command) !== command) return undefined;
    try {
      const { proposal } = await import('../policies/add-rule.ts');
      const agent = client ?? undefined;
      const made = await proposal(this.#engine, { command, cwd, scope: 'project', agent });
      return 'kind' in made ? undefined : made;
    } catch (error) {
      // The person is asked all the same.
      const fields = { error: redact(messageOf(error)) };
      this.#engine.options.log?.('warn', 'No pattern could be tried', fields);
      return undefined;
    }
  }

  /** Which conversation asks, by which rules. */
  asker({ policies }: InForce, { key = '', client }: AskingCall): Asker {
    const policy = sha256(contentId(policies)).slice(0, 40);
    const agent = client ? { agent: client } : {};
    // Requests that stand for themselves share one key.
    if (key === '' || key === 'connection:') return { policy, ...agent };
    const server = key.startsWith('connection:') ? { server: thisProcess() } : {};
    return { policy, conversation: key, ...server, ...agent };
  }

  #about(asked: GuardRequest, decision: Decision, redact: AskingCall['redact']): About {
    return {
      command: redact(asked.command),
      beside: besideShown(asked, redact),
      code: decision.code,
      reasons: reasonsShown(decision, redact),
    };
  }

  instructions(
    asked: GuardRequest,
    decision: Decision,
    { redact }: AskingCall,
    asker: Asker,
  ): string {
    const about = this.#about(asked, decision, redact);
    const id = this.#approvals.ask(this.subject(asked), about, asker);
    if (id === undefined) return 'It cannot be kept until a person approves it.';
    return `Ask the person to run this, then ask for it again: cuff policy approve ${id}`;
  }

  subject(asked: GuardRequest): Subject {
    const { command, cwd } = asked;
    return { project: this.#engine.project, cwd, command, beside: besides(asked) };
  }
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
