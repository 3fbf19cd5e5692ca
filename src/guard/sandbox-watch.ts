// Compares what is protected before and after a command in the sandbox, and holds the project if
// something became another. What was there before is on the disk before the command starts, so that
// a later process compares where this one was killed.

import { randomBytes } from 'node:crypto';
import { active } from '../capture/state.ts';
import { openCapture } from '../capture/store.ts';
import { AppError, messageOf } from '../errors.ts';
import {
  type BegunRun,
  changesWords,
  type ProjectChanges,
  type ProtectedChange,
  type ProtectedState,
} from '../policies/changes.ts';
import { openStore } from '../shell/store.ts';

/** For one run; without a sandbox there is none. */
export type SandboxWatch = {
  /** It was started. Never throws. */
  readonly began: (id: string) => void;
  /** What became another since its start; `over`: none of its processes is left. Never throws. */
  readonly changed: (over: boolean) => readonly string[];
};

export type WatchedPlace = {
  readonly changes: ProjectChanges;
  readonly project: string;
  readonly stateRoot: string;
  readonly now: () => number;
  readonly warn: (message: string, fields: Readonly<Record<string, unknown>>) => void;
  readonly look: () => ProtectedState;
};

/** Keeps what is there now. Throws an `AppError`: then the command must not start. */
export function watchSandbox(
  place: WatchedPlace,
  command: string,
  before: ProtectedState,
): SandboxWatch {
  const { changes, project } = place;
  let run = { id: `start-${randomBytes(8).toString('hex')}`, command, before };
  try {
    changes.begin(run);
  } catch (error) {
    const why = messageOf(error);
    throw new AppError('start_failed', `What is protected here cannot be remembered: ${why}`);
  }
  return {
    began(id) {
      const { id: start } = run;
      run = { ...run, id };
      quietly(place, () => {
        changes.begin(run);
        changes.over(start);
      });
    },
    changed(over) {
      const found = compared(place, run);
      if (over) quietly(place, () => changes.over(run.id));
      return changesWords(found, project);
    },
  };
}

/** Compares for runs whose end no process has seen, and for those that go on. Never throws. */
export function settleBegun(place: WatchedPlace): void {
  const { changes, stateRoot } = place;
  const begun = changes.begun();
  if (begun.length === 0) return;
  const now = place.look();
  const store = openStore(stateRoot);
  for (const run of begun) {
    const going = isGoing(run.id, store);
    compared({ ...place, look: () => now }, run);
    if (!going) quietly(place, () => changes.over(run.id));
  }
}

function isGoing(id: string, store: ReturnType<typeof openStore>): boolean {
  try {
    const { meta, final } = openCapture(store, id);
    return active(meta, final, store);
  } catch {
    return false; // it was never started, or its capture is gone
  }
}

/** Holds the project by what it finds. */
function compared(place: WatchedPlace, run: BegunRun): readonly ProtectedChange[] {
  const { id, command, before } = run;
  const { changes, look, now } = place;
  const found = changes.between(before, look());
  if (found.length === 0) return found;
  quietly(place, () => changes.hold({ id, command, at: now(), changes: found }));
  return found;
}

/** What cannot be written down is said in the log; the command has run by then. */
function quietly({ warn }: WatchedPlace, action: () => void): void {
  try {
    action();
  } catch (error) {
    warn('Changes of protected files not kept', { error: messageOf(error) });
  }
}
