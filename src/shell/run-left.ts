// A run whose runner talks to us no more, because the shell was closed or the runner was killed:
// what becomes of it is read from its capture. Looking keeps no process alive, for whoever closed
// a shell has let go of its runs.

import type { Capture } from '../capture/store.ts';
import type { CaptureFinal } from '../types.ts';

const LOOK_MS = 100; // nobody is in a hurry any more

// A request that was under way when we let go has become a runner by then, or never will.
const START_MS = 2_000;

export type LeftListener = {
  readonly done: (final: CaptureFinal) => void;
  /** Nobody is left to see how it ends. Also called after `done`. */
  readonly over: () => void;
};

/** `look` gives the capture as it is now, or undefined when it is gone. */
export function watchLeft(look: () => Capture | undefined, listener: LeftListener): void {
  const startBy = performance.now() + START_MS;
  const turn = (): void => {
    const capture = look();
    if (capture?.final !== undefined) listener.done(capture.final);
    const late = capture?.state === 'starting' && performance.now() > startBy;
    if (capture?.outputOpen === true && !late) setTimeout(turn, LOOK_MS).unref();
    else listener.over();
  };
  turn();
}
