// How a command is held while it runs. A file of its own, because a server whose policy holds
// nothing, or that has none, does not load what does.

import type { StartOptions } from '../shell/shell.ts';
import type { Env } from '../types.ts';
import type { SandboxWatch } from './sandbox-watch.ts';

export type Restraints = Pick<StartOptions, 'gate' | 'sandbox' | 'env'>;

/** What holds a command, and what watches it where it is in a sandbox. */
export type StartTerms = {
  readonly restraints: Restraints;
  readonly watch?: SandboxWatch | undefined;
};

/**
 * So that git takes no directory of the project for a repository by its content alone: an agent
 * could make one whose settings name programs. Counted behind what the person has set there.
 */
export function gitVariables({
  GIT_CONFIG_COUNT: count = '',
}: Env): Readonly<Record<string, string>> {
  const next = /^\d{1,4}$/.test(count) ? Number(count) : 0;
  return {
    GIT_CONFIG_COUNT: String(next + 1),
    [`GIT_CONFIG_KEY_${next}`]: 'safe.bareRepository',
    [`GIT_CONFIG_VALUE_${next}`]: 'explicit',
  };
}

export type ConfinementResult =
  | {
      readonly kind: 'held';
      /** Programs will be judged when they start. */
      readonly gated: boolean;
      /** For the command line that is started; `relies`: it must not run unjudged. */
      hold(argv: readonly string[], relies: boolean, command: string): StartTerms;
    }
  | { readonly kind: 'refused'; readonly code: 'gate' | 'sandbox'; readonly why: string };

export const FREE = {
  kind: 'held',
  gated: false,
  hold: (): StartTerms => ({ restraints: {} }),
} as const satisfies ConfinementResult;
