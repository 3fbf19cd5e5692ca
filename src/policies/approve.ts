// A person's yes to a question that an agent has left: once, or as a rule. A yes cannot allow what
// a policy denies, and no agent may say yes to itself.

import { AppError } from '../errors.ts';
import type { Decision } from '../policy/decision.ts';
import { storeOf } from '../shell/captures.ts';
import { requirePerson } from '../trust/person.ts';
import type { Env } from '../types.ts';
import { allowAlways } from './add-rule.ts';
import { Approvals, approvable, type Question } from './approvals.ts';
import { PolicyEngine } from './engine.ts';
import * as files from './files.ts';

export type { Question };

export type Approval =
  | { readonly kind: 'once'; readonly question: Question }
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
  const { env, always, now, systemFile } = options;
  const question = findQuestion(id, env, now);
  const { root: stateRoot } = storeOf(env);
  const { project, command, cwd } = question;
  const engine = PolicyEngine.open({ project, env, stateRoot, systemFile, watch: false }, files);
  refuseDenied(await engine.paths.settled(() => engine.decide(command, cwd)?.decision));
  const approvals = new Approvals(stateRoot, now);
  if (always === undefined) {
    approvals.grant(question);
    return { kind: 'once', question };
  }
  if (!question.exact) {
    throw new AppError(
      'usage',
      'A rule would not be what was asked: it came with more than text.',
      {
        hint: 'Approve it once, without --always.',
      },
    );
  }
  const made = await allowAlways(engine, { command, cwd, scope: always });
  if (made.kind === 'impossible') {
    throw new AppError('usage', `No rule allows exactly this: ${made.why}.`, {
      hint: 'Approve it once, or write a rule by hand.',
    });
  }
  approvals.forget(question.id);
  return { kind: 'always', question, file: made.file, patterns: made.patterns };
}

/** The policy may be another one than when it was asked. */
function refuseDenied(decision: Decision | undefined): void {
  if (decision === undefined || decision.verdict === 'allow' || approvable(decision)) return;
  throw new AppError('usage', `This cannot be approved.\n${files.explain(decision)}`, {
    hint: 'Only an edit of the policy can allow it.',
  });
}
