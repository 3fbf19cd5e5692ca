// A pending question as the page gets it: with how it may be answered.

import { type Question as Asked, pendingQuestions, questionJson } from '../policies/approve.ts';
import type { Env } from '../types.ts';
import type { ApprovalSpan, Question } from './api.ts';

export function questionsJson(env: Env): readonly Question[] {
  return pendingQuestions(env).map((one) => ({
    ...questionJson(one),
    agent: one.agent ?? null,
    spans: spansOf(one),
  }));
}

/** What a span needs, `cuff policy approve` says, too: see `refuseLasting` there. */
function spansOf({ exact, policy, conversation, code }: Asked): readonly ApprovalSpan[] {
  const secret = code === 'path.protected';
  const lasting = policy !== undefined && !secret;
  return [
    'once',
    ...(lasting ? (['hour'] as const) : []),
    ...(lasting && conversation !== undefined ? (['conversation'] as const) : []),
    ...(exact && !secret ? (['always'] as const) : []),
  ];
}
