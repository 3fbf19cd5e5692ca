// What the parts of the analysis need of one another: the walk through scripts, and the reading of
// texts that a command executes.

import type { ParsedScript } from '../../text/shell-tree.ts';
import type { Place, Run } from './run.ts';
import type { State } from './state.ts';

export type Walker = {
  readonly run: Run;
  /** In this state, which is changed as the script changes it. */
  script(script: ParsedScript, place: Place, state: State): void;
  /** Text that is executed: checked like the command itself, then walked. */
  text(text: string, place: Place, state: State): void;
};
