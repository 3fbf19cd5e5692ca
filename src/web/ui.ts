// What every answer is made from: the captures, the journals and the clock of one server.

import type { Store } from '../shell/captures.ts';
import type { LiveRuns } from './live-runs.ts';
import type { SessionLists } from './sessions.ts';
import type { QuestionThread } from './thread.ts';

export type Ui = {
  readonly env: NodeJS.ProcessEnv;
  /** Where it was started. */
  readonly cwd: string;
  readonly version: string;
  readonly store: Store;
  /** Another for each server. */
  readonly serverId: string;
  /** Why it only reads, as a sentence; undefined: it does not. */
  readonly readOnly: string | undefined;
  readonly lists: SessionLists;
  readonly runs: LiveRuns;
  readonly thread: QuestionThread;
};
