// The result of generating: a policy, and the numbers in its head.

import type { Policy } from '../policy.ts';

export const STRATEGIES = ['exact', 'pattern', 'semantic'] as const;
export type Strategy = (typeof STRATEGIES)[number];

export type GenerateOptions = {
  readonly strategy: Strategy;
  /** A command that was seen fewer times gets no rule. */
  readonly minFrequency: number;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly home: string;
};

export type Exclusion = {
  /** Undefined where it must not be shown: it holds a secret. */
  readonly command: string | undefined;
  /** `secret`, `frequency`, `destructive`, `denied`, or the code of the decision about it. */
  readonly reason: string;
  readonly count: number;
};

export type GeneratedPolicy = {
  readonly strategy: Strategy;
  readonly generatedAt: number;
  readonly sessions: number;
  readonly commands: number;
  /** How many of the commands the policy allows; the others are in `excluded`. */
  readonly accepted: number;
  readonly attacks: { readonly allowed: number; readonly total: number };
  readonly policy: Policy;
  /** Patterns of rules that rest on agents' own transcripts alone. */
  readonly imported: ReadonlySet<string>;
  /** The most frequent first. */
  readonly excluded: readonly Exclusion[];
};
