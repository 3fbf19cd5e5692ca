// How a command may end: with success or without, and what is known then. `cd x && make` runs in
// `x`, `cd x; make` in `x` or where it was.

import type { Run } from './run.ts';
import { type Hint, isInteger, type State, type Value } from './state.ts';

/** Undefined: it does not end like that, as `exit` does not end at all. */
export type Ends = { readonly ok: State | undefined; readonly fail: State | undefined };

export function either(state: State | undefined): Ends {
  return { ok: state, fail: state };
}

/** What is known when it is over, however it ended; undefined: nothing follows. */
export function after({ ok, fail }: Ends): State | undefined {
  return joinStates(ok, fail);
}

function joinStates(a: State | undefined, b: State | undefined): State | undefined {
  if (a === undefined || b === undefined || a === b) return a ?? b;
  const joined = a.copy();
  joined.join(b);
  return joined;
}

export function joinEnds(all: readonly Ends[]): Ends {
  const [first, ...more] = all;
  if (first === undefined) return { ok: undefined, fail: undefined };
  return more.reduce(
    (joined, one) => ({
      ok: joinStates(joined.ok, one.ok),
      fail: joinStates(joined.fail, one.fail),
    }),
    first,
  );
}

const READ_ONLY = /^(?:E?UID|PPID|SHELLOPTS|BASHOPTS|BASH_VERSINFO)$/;

/** Integers of the shell from its start on: `RANDOM='a[$(rm x)]'` runs what is in it. */
const EVALUATED = /^(?:S?RANDOM|SECONDS|OPTIND|HISTCMD|LINENO|BASHPID|EPOCH\w+)$/;

export function checkEvaluated(run: Run, name: string, value: Value | undefined): void {
  if (!EVALUATED.test(name) || value === 'number' || value?.every(isInteger) === true) return;
  run.problem('arithmetic', undefined, `\`${name}\` is an integer, which evaluates its value`);
}

/** Every assignment goes through here, but for those inside of an expansion. */
export function assignTo(run: Run, state: State, name: string, value: Value | undefined): void {
  run.assigned.add(name);
  if (isUnexpected(run, name)) {
    run.problem('indirection', undefined, `\`${name}\` is changed where its name is not written`);
  }
  if (run.untrusted.has(name) || READ_ONLY.test(name)) run.discards = true;
  checkEvaluated(run, name, value);
  state.set(name, run.untrusted.has(name) || run.volatile ? undefined : value);
}

/** Behind an assignment of what is not known: what is known of it all the same. */
export function hintAt(run: Run, state: State, name: string, hint: Hint): void {
  if (!run.untrusted.has(name) && !run.volatile) state.setHint(name, hint);
}

/** What was taken to be steady, as the text did not name it. */
function isUnexpected({ steady }: Run, name: string): boolean {
  if (name === 'IFS') return steady.splits;
  return name === 'HOME' ? steady.home : name === 'CDPATH' && steady.cdPath;
}
