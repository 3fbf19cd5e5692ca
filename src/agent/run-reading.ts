// Reading the captures of runs. An answer is about one moment: it looks at a run through one
// `Look`, which opens the capture once.

import type { Capture } from '../shell/shell.ts';

export type Look = {
  /** Throws `session_not_found`. */
  open(id: string): Capture;
};
