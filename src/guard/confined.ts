// How a command is held while it runs. A file of its own, because a server whose policy holds
// nothing, or that has none, does not load what does.

import type { StartOptions } from '../shell/shell.ts';

export type Restraints = Pick<StartOptions, 'gate' | 'sandbox'>;

export type ConfinementResult =
  | {
      readonly kind: 'held';
      /** Programs will be judged when they start. */
      readonly gated: boolean;
      /** For the command line that is started; `relies`: it must not run unjudged. */
      hold(argv: readonly string[], relies: boolean): Restraints;
    }
  | { readonly kind: 'refused'; readonly code: 'gate' | 'sandbox'; readonly why: string };

export const FREE = {
  kind: 'held',
  gated: false,
  hold: (): Restraints => ({}),
} as const satisfies ConfinementResult;
