// What every view of a run is given.
import type { RunAnswer } from '../../src/web/api.ts';

export type RunView = { readonly answer: RunAnswer; readonly again: () => void };
