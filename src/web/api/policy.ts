// The policy, drafts of it, and questions that wait for a person.

export type PolicyProblem = {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  /** Of a warning. */
  readonly code?: string;
  readonly hint?: string | null;
};

export type PolicyFile = {
  readonly path: string;
  readonly origin: string;
  readonly text: string | null;
  readonly problems: readonly PolicyProblem[];
  readonly warnings: readonly PolicyProblem[];
};

/** A refused command that waits for a person, as `policy approve --json` lists it. */
export type Question = {
  readonly id: string;
  readonly command: string;
  readonly beside: readonly string[];
  readonly cwd: string;
  readonly project: string;
  readonly code: string;
  readonly message: string;
  readonly reasons: readonly string[];
  readonly asked_at: string;
  readonly agent: string | null;
  /** How it may be answered: `always` needs a question that came with nothing but text. */
  readonly spans: readonly ApprovalSpan[];
};

export type ApprovalSpan = 'once' | 'hour' | 'conversation' | 'always';

export type QuestionsAnswer = { readonly questions: readonly Question[] };

export type PolicyAnswer = {
  readonly project: string;
  /** In the order in which they count; where there is none, nothing is decided. */
  readonly files: readonly PolicyFile[];
  readonly questions: readonly Question[];
  /** A draft to begin with where there is no file. */
  readonly template: string;
};

export type LintRequest = { readonly text: string };

export type LintAnswer = {
  readonly valid: boolean;
  readonly problems: readonly PolicyProblem[];
  readonly warnings: readonly PolicyProblem[];
};

export type CheckRequest = {
  readonly command: string;
  /** Absolute; without it the project. */
  readonly cwd?: string;
  readonly project?: string;
  /** A draft; without it the policy in force. */
  readonly text?: string;
};

export type Verdict = 'allow' | 'ask' | 'deny';

export type CheckAnswer = {
  /** Null: no policy is in force. */
  readonly verdict: Verdict | null;
  readonly code: string | null;
  readonly mode: string | null;
  /** The pattern of the rule that decided. */
  readonly rule: string | null;
  /** As `policy check` says it. */
  readonly words: readonly string[];
};

export type WhatIfRequest = {
  /** The draft. */
  readonly text: string;
  readonly project?: string;
  /** As in queries; without it 30 days. */
  readonly since?: string;
};

export type WhatIfDecision = {
  readonly command: string;
  readonly cwd: string;
  readonly before: Verdict;
  readonly after: Verdict;
  /** How often it was recorded; 0: an example of a test. */
  readonly count: number;
};

export type WhatIfAnswer = LintAnswer & {
  /** Null where the draft is no policy. As `policy test --json`. */
  readonly test: {
    readonly commands: number;
    readonly distinct: number;
    readonly allow: number;
    readonly ask: number;
    readonly deny: number;
    readonly codes: readonly { readonly code: string; readonly count: number }[];
    readonly rules: readonly {
      readonly policy: string;
      readonly pattern: string;
      readonly decision: Verdict;
      readonly hits: number;
    }[];
    readonly dead_rules: readonly string[];
    readonly not_allowed: readonly {
      /** Null where it may hold a secret. */
      readonly command: string | null;
      readonly verdict: Verdict;
      readonly code: string;
      readonly count: number;
    }[];
    readonly additions: readonly { readonly pattern: string; readonly gained: number }[];
  } | null;
  /** Against the file in force; null where there is none or the draft is no policy. */
  readonly diff: {
    readonly against: string;
    readonly compared: number;
    readonly loosened: number;
    readonly tightened: number;
    /** The loosened first. */
    readonly decisions: readonly WhatIfDecision[];
  } | null;
};

/** `no`: it waits no longer, and nothing is allowed. */
export type ApproveRequest = {
  readonly id: string;
  readonly answer: ApprovalSpan | 'no';
  /** With `always`: in the project's file or in the user's; else the project's. */
  readonly scope?: 'project' | 'user';
  /** With `always`: a rule for what this covers; without it exactly the command. */
  readonly pattern?: string;
};

export type ApproveAnswer = {
  readonly id: string;
  readonly approved: ApprovalSpan | 'no';
  /** With `always`: where the rule was written. */
  readonly file?: string;
  readonly patterns?: readonly string[];
};
