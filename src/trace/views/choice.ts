// Which processes of a trace a person asked for, and which are shown around them so that it is seen
// where they belong.

import { argvText, durationOf, hasFailed } from '../shown.ts';
import type { TracedProcess } from '../trace.ts';

export type ProcessChoice = {
  readonly failed?: boolean | undefined;
  /** Of the command line of any of its programs, or the file of one. */
  readonly grep?: RegExp | undefined;
  readonly minTimeNs?: bigint | undefined;
};

export function isChoice({ failed, grep, minTimeNs }: ProcessChoice): boolean {
  return failed === true || grep !== undefined || minTimeNs !== undefined;
}

export function matching(
  processes: readonly TracedProcess[],
  choice: ProcessChoice,
  nowNs?: bigint,
): TracedProcess[] {
  const { failed, grep, minTimeNs } = choice;
  return processes.filter(
    (one) =>
      (failed !== true || hasFailed(one.exit)) &&
      (grep === undefined || hasWords(one, grep)) &&
      (minTimeNs === undefined || (durationOf(one, nowNs) ?? -1n) >= minTimeNs),
  );
}

function hasWords({ images }: TracedProcess, pattern: RegExp): boolean {
  return images.some((image) => pattern.test(argvText(image)) || pattern.test(image.exe));
}

/** They and their ancestors; parents come before their children. */
export function withAncestors(
  processes: readonly TracedProcess[],
  chosen: readonly TracedProcess[],
): ReadonlySet<number> {
  const shown = new Set(chosen.map(({ id }) => id));
  for (const { id, parent } of [...processes].reverse()) {
    if (shown.has(id) && parent !== undefined) shown.add(parent);
  }
  return shown;
}
