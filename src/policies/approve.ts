// A person's yes to a question that an agent has left: once, or as a rule. A yes cannot allow what
// a policy denies, and no agent may say yes to itself.

import { AppError } from '../errors.ts';
import type { Decision } from '../policy/decision.ts';
import { storeOf } from '../shell/captures.ts';
import { isoTime } from '../text/dates.ts';
import { refuseAgents, requirePerson } from '../trust/person.ts';
import type { Env } from '../types.ts';
import { allowAlways, type Impossible, proposal } from './add-rule.ts';
import {
  Approvals,
  approvable,
  type Grant,
  type Question,
  rulable,
  type Span,
} from './approvals.ts';
import { PolicyEngine } from './engine.ts';
import * as files from './files.ts';
import type { PatternExamples } from './pattern-rule.ts';

export type { Grant, PatternExamples, Question };

export type Approval =
  | { readonly kind: Span; readonly question: Question }
  | {
      readonly kind: 'always';
      readonly question: Question;
      readonly file: string;
      readonly patterns: readonly string[];
    };

export type ApproveOptions = {
  readonly env: Env;
  /** Undefined: once. */
  readonly always?: 'project' | 'user' | undefined;
  /** With `always`: a rule for commands like it. */
  readonly pattern?: string | undefined;
  /** Without `always`; undefined: once. */
  readonly span?: Span | undefined;
  readonly systemFile?: string | undefined;
  readonly now?: (() => number) | undefined;
};

export function pendingQuestions(env: Env): readonly Question[] {
  return new Approvals(storeOf(env).root).pending();
}

/** Throws an `AppError` with `usage` for a caller that is no person, and for an unknown id. */
export function findQuestion(id: string, env: Env, now?: () => number): Question {
  requirePerson(env, 'approve its own commands');
  const question = new Approvals(storeOf(env).root, now).find(id);
  if (question !== undefined) return question;
  throw new AppError('usage', `Nothing waits for an answer under the id '${id}'.`, {
    hint: 'List what does with `cuff policy approve`.',
  });
}

/** Throws as `findQuestion` does, and for what cannot be approved. */
export async function approve(id: string, options: ApproveOptions): Promise<Approval> {
  const { always, now, pattern, span = 'once' } = options;
  const question = findQuestion(id, options.env, now);
  const { engine, decision } = await lookedAt(question, options);
  refuseDenied(decision);
  const { command, cwd, agent } = question;
  const approvals = new Approvals(engine.options.stateRoot, now);
  if (always === undefined) {
    if (span !== 'once') refuseLasting(question, span, decision);
    approvals.grant(question, span);
    return { kind: span, question };
  }
  refuseInexact(question);
  const made = await allowAlways(engine, { command, cwd, scope: always, pattern, agent });
  if (made.kind === 'impossible')
    throw noRule(made, pattern === undefined ? 'exactly this' : 'this');
  approvals.forget(question.id);
  return { kind: 'always', question, file: made.file, patterns: made.patterns };
}

/** What a rule with this pattern means, or with one that fits. Throws as `approve` does. */
export async function proposePattern(
  id: string,
  options: Omit<ApproveOptions, 'pattern'> & { readonly pattern: string | undefined },
): Promise<PatternExamples> {
  const { always: scope = 'project', now, pattern, env } = options;
  const question = findQuestion(id, env, now);
  const { engine, decision } = await lookedAt(question, options);
  refuseDenied(decision);
  refuseInexact(question);
  const { command, cwd, agent } = question;
  const made = await proposal(engine, { command, cwd, scope, pattern, agent });
  if ('kind' in made) throw noRule(made, 'this');
  return made;
}

async function lookedAt(
  { project, command, cwd, agent }: Question,
  { env, systemFile }: ApproveOptions,
): Promise<{ readonly engine: PolicyEngine; readonly decision: Decision | undefined }> {
  const { root: stateRoot } = storeOf(env);
  const engine = PolicyEngine.open({ project, env, stateRoot, systemFile, watch: false }, files);
  const decide = () => engine.decide(command, cwd, { agent })?.decision;
  return { engine, decision: await engine.paths.settled(decide) };
}

/** It must hold for as long as something that ends, and under the rules that asked. */
function refuseLasting(
  { conversation, policy }: Question,
  span: Span,
  decision: Decision | undefined,
): void {
  const secret = decision !== undefined && !rulable(decision);
  const why = secret
    ? 'It would read what may be a secret, which a person allows each time.'
    : policy === undefined || (span === 'conversation' && conversation === undefined)
      ? 'It is not known which conversation and policy it was asked under.'
      : undefined;
  if (why !== undefined) throw new AppError('usage', why, { hint: 'Approve it once.' });
}

function noRule({ why }: Impossible, what: string): AppError {
  return new AppError('usage', `No rule allows ${what}: ${why}.`, {
    hint: 'Approve it once, or write a rule by hand.',
  });
}

function refuseInexact(question: Question): void {
  if (!question.exact) {
    throw new AppError(
      'usage',
      'A rule would not be what was asked: it came with more than text.',
      {
        hint: 'Approve it once, without --always.',
      },
    );
  }
}

/** All answers that still hold. */
export function grantsOf(env: Env): readonly Grant[] {
  return new Approvals(storeOf(env).root).grants();
}

/** Throws an `AppError` with `usage` for an agent, and for an unknown id. */
export function revoke(ids: readonly string[], env: Env): void {
  refuseAgents(env, 'revoke what a person has approved');
  const approvals = new Approvals(storeOf(env).root);
  for (const id of ids) {
    if (approvals.revoke(id)) continue;
    throw new AppError('usage', `Nothing is approved under the id '${id}'.`, {
      hint: 'List what is with `cuff policy approvals`.',
    });
  }
}

/** The policy may be another one than when it was asked. */
function refuseDenied(decision: Decision | undefined): void {
  if (decision === undefined || decision.verdict === 'allow' || approvable(decision)) return;
  throw new AppError('usage', `This cannot be approved.\n${files.explain(decision)}`, {
    hint: 'Only an edit of the policy can allow it.',
  });
}

/** As `cuff policy approve --json` has it. */
export function questionJson(question: Question) {
  const { id, command, beside, cwd, project, code, reasons, at } = question;
  const [message = ''] = reasons;
  const asked_at = isoTime(at);
  return { id, command, beside, cwd, project, code, message, reasons, asked_at };
}
