// What the answers of the thread are made from.

import type { Store } from '../../shell/captures.ts';
import type { Journal } from '../journals.ts';
import type { Params } from '../params.ts';

export type Ground = {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly store: Store;
  readonly journals: readonly Journal[];
};

export type Request = {
  readonly id: string;
  readonly params: Params;
  readonly body: unknown;
};

/** Answers with a value that becomes JSON. */
export type Question = {
  readonly params: readonly string[];
  readonly answer: (ground: Ground, asked: Request) => unknown;
};
