// The decision about a command and its reasons. Codes are stable: tools and people build on them.

import type { Span } from './unit.ts';

/** From loose to strict. */
export const VERDICTS = ['allow', 'ask', 'deny'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** `enforce` refuses, `warn` says so and runs it, `record` only writes it down. */
export const MODES = ['off', 'record', 'warn', 'enforce'] as const;
export type Mode = (typeof MODES)[number];

export type ReasonCode =
  | 'rule.allow' // a rule allows it
  | 'rule.ask' // a rule says ask
  | 'rule.deny' // a rule denies it
  | 'default.allow'
  | 'default.ask' // no rule matches
  | 'default.deny'
  | 'builtin' // nothing that needs a rule: `cd` in the project, `true`
  | 'builtin.dangerous' // `rm -rf /` and its like
  | 'unanalysable' // see `detail`: a ProblemCode
  | 'program.unknown' // which program it is is only known when it runs
  | 'program.opaque' // `sudo`, `ssh`, `source`: needs a rule of its own
  | 'program.unprofiled' // `*` on a program of which nothing is known
  | 'program.destructive' // `*` on one that deletes
  | 'program.path' // `./git` is not `git`
  | 'code.unseen' // it runs code that is not in the text
  | 'argument.effect' // an option or operand that does another kind of thing
  | 'argument.option' // an option that is not known
  | 'argument.unknown' // what it will be is only known when it runs
  | 'path.outside' // a file outside of the scopes
  | 'path.unknown'
  | 'path.protected' // secrets, start-up files, agents' and our own configuration
  | 'redirect' // a file is written that no rule names
  | 'env' // a variable that can change what programs do
  | 'network' // a host that is not listed
  | 'cwd' // a directory outside of the scopes
  | 'function.shadows' // a function with the name of a program
  | 'stdin' // the rule says where input may come from
  | 'budget' // its rule has allowed as much as it may in an hour
  | 'changes' // protected files changed in the sandbox, and the person has not looked yet
  | 'halted'; // the policy or the settings cannot be read

export type RuleRef = {
  readonly file: string | undefined;
  /** The name of its policy. */
  readonly policy: string;
  readonly pattern: string;
  /** It is about these agents alone. */
  readonly agents?: readonly string[];
  readonly maxPerHour?: number;
};

export type Reason = {
  readonly verdict: Verdict;
  readonly code: ReasonCode;
  /** For `unanalysable` the problem's code, for `argument.effect` the effect, and so on. */
  readonly detail: string | undefined;
  readonly span: Span | undefined;
  /** The unit as text, shortened. */
  readonly unit: string;
  /** One sentence: the reason. */
  readonly message: string;
  readonly rule: RuleRef | undefined;
  /** The pattern of the rule that almost matched. */
  readonly nearest: string | undefined;
  /** One sentence: what would be allowed, or what to do. */
  readonly hint: string | undefined;
};

export type Decision = {
  readonly verdict: Verdict;
  /** Of the strictest reason. */
  readonly code: ReasonCode;
  /** The strictest first. Never empty. */
  readonly reasons: readonly Reason[];
};
