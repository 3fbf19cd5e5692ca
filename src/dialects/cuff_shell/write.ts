// Typing into a run of `cuff_shell` that has a terminal. What is typed into a shell is judged by
// the policy like any other command. The answer comes when the program has reacted and is quiet
// again, is over, or has taken too long.

import type { Caller } from '../../agent/caller.ts';
import type { ToolResult } from '../../host/plugin.ts';
import { type Args, ArgumentError, numberOf } from '../arguments.ts';
import { answerAbout } from './answer.ts';
import { findRun, type Native, type Subject } from './runs.ts';
import { INPUT_BYTES_MAX, WRITE_WAIT_MS_DEFAULT } from './tools.ts';
import { endOf, nextOutput } from './wait.ts';
import { callText } from './words.ts';

const QUIET_MS = 150; // a program that has printed nothing for so long waits, or works on

export async function writeRun(native: Native, args: Args, caller: Caller): Promise<ToolResult> {
  const subject = findRun(native, caller, String(args.id));
  const text = String(args.text);
  const run = typable(subject);
  if (Buffer.byteLength(text) > INPUT_BYTES_MAX) {
    throw new ArgumentError(`text may have ${INPUT_BYTES_MAX} bytes: write a file and read that.`);
  }
  const before = endOf(subject);
  await native.shell.type(run, text, caller);
  await reaction(subject, before, numberOf(args.wait_ms) ?? WRITE_WAIT_MS_DEFAULT, caller);
  const bytesMax = numberOf(args.max_bytes) ?? native.maxBytes;
  return answerAbout(native, subject, { view: undefined, bytesMax });
}

/** Throws `ArgumentError` for a run that cannot be typed into. */
function typable({ id, run, open }: Subject): NonNullable<Subject['run']> {
  const wait = callText('shell_wait', id);
  if (open().meta?.transport !== 'pty') {
    throw new ArgumentError('This run has no terminal: start it with tty true, or give it stdin.');
  }
  if (run === undefined) {
    throw new ArgumentError(`Only the server that started this run can type into it: ${wait}.`);
  }
  if (run.result !== undefined) throw new ArgumentError(`This run is over: ${wait}.`);
  return run;
}

async function reaction(
  subject: Subject,
  before: number,
  waitMs: number,
  { signal }: Caller,
): Promise<void> {
  const until = performance.now() + waitMs;
  for (let seen = before; ; ) {
    const left = until - performance.now();
    if (left <= 0 || signal.aborted || !subject.open().outputOpen) break;
    await nextOutput(subject, seen, seen === before ? left : Math.min(left, QUIET_MS), signal);
    const now = endOf(subject);
    if (now === seen && seen !== before) break;
    seen = now;
  }
  // Its entry is written a moment after its output has ended.
  if (!subject.open().outputOpen) await subject.run?.finished;
}
