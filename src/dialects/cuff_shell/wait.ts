// Waiting for a run in `cuff_shell`: until it is over, until its new output has a text, or until
// the time is over. Waiting never ends a run, and neither does a caller who gives up.

import type { Ending } from '../../agent/agent-shell.ts';
import type { Caller } from '../../agent/caller.ts';
import { NewsReader } from '../../agent/report-news.ts';
import { type Matcher, matcherOf } from '../../agent/search-match.ts';
import type { ToolResult } from '../../host/plugin.ts';
import { within } from '../../shell/run.ts';
import { printable } from '../../text/printable.ts';
import { type Args, numberOf, textOf } from '../arguments.ts';
import { answerAbout } from './answer.ts';
import { findRun, type Native, ownSubject, type Subject } from './runs.ts';
import { durationText } from './words.ts';

const PAUSE_MS = 20; // a run that prints all the time is looked at this often
const BEAT_MS = 5_000; // well below the patience of any client
const LOOK_BYTES_MAX = 4 * 1024 * 1024; // of what is new at one look
const LINE_LENGTH_MAX = 65_536; // of a line, what is looked at
const SHOWN_MAX = 60;

export async function waitRun(native: Native, args: Args, caller: Caller): Promise<ToolResult> {
  const subject = findRun(native, caller, String(args.id));
  const waitMs = numberOf(args.wait_ms) ?? native.waitMs;
  const wanted = textOf(args.for);
  const bytesMax = numberOf(args.max_bytes) ?? native.maxBytes;
  const about = { view: undefined, bytesMax } as const;
  if (wanted === undefined || wanted === '') {
    const ending = await untilOver(native, subject, waitMs, caller);
    const { run } = subject;
    return answerAbout(native, run && ending ? ownSubject(native, run, ending) : subject, about);
  }
  const matcher = matcherOf({ text: wanted, regex: args.regex === true, ignoreCase: false });
  const found = await untilText(native, subject, matcher, waitMs, caller);
  const shown = printable([...wanted].slice(0, SHOWN_MAX).join(''));
  const patience = subject.open().outputOpen ? ` in ${durationText(waitMs)}` : '';
  const first = found ? `found: ${shown}` : `not found${patience} in new output: ${shown}`;
  return answerAbout(native, subject, { ...about, first: [first] });
}

/** Of a run whose shell is done already, until its background processes are. */
async function untilOver(
  native: Native,
  subject: Subject,
  waitMs: number,
  caller: Caller,
): Promise<Ending | undefined> {
  const { run } = subject;
  if (run?.result === undefined && run !== undefined) {
    return native.shell.wait(run, waitMs, caller, 'leave');
  }
  if (run === undefined) await untilClosed(subject, waitMs, caller.signal);
  else await untilAborted(within(run.closed, waitMs), caller.signal);
  return undefined;
}

async function untilClosed(subject: Subject, waitMs: number, signal: AbortSignal): Promise<void> {
  const until = performance.now() + waitMs;
  for (;;) {
    const left = until - performance.now();
    if (!subject.open().outputOpen || left <= 0 || signal.aborted) return;
    await nextOutput(subject, endOf(subject), left, signal);
  }
}

/** Whether it came. */
async function untilText(
  native: Native,
  subject: Subject,
  matcher: Matcher,
  waitMs: number,
  { signal, progress }: Caller,
): Promise<boolean> {
  const startedAt = performance.now();
  const until = startedAt + waitMs;
  const look = looker(native, subject, matcher);
  const beat = (): void => progress?.(`${Math.round((performance.now() - startedAt) / 1000)}s`);
  const timer = progress === undefined ? undefined : setInterval(beat, BEAT_MS);
  try {
    for (;;) {
      const { outputOpen } = subject.open();
      const end = endOf(subject);
      if (look()) return true;
      const left = until - performance.now();
      if (!outputOpen || left <= 0 || signal.aborted) break;
      await nextOutput(subject, end, left, signal);
    }
  } finally {
    clearInterval(timer);
  }
  // Its entry is written a moment after its output has ended.
  const { run } = subject;
  if (run !== undefined && !subject.open().outputOpen) await within(run.finished, BEAT_MS);
  return false;
}

/** Looks at what is new since the caller last heard of the run, and then at what comes. */
function looker(native: Native, subject: Subject, matcher: Matcher): () => boolean {
  const heard = native.reports.news(subject.id);
  const reader = new NewsReader();
  const rest = { stdout: '', stderr: '' };
  for (const channel of CHANNELS) reader.heard(channel, heard.until(channel));
  return () =>
    CHANNELS.some((channel) => {
      const text = rest[channel] + reader.take(subject.open(), channel, LOOK_BYTES_MAX).text;
      const lines = text.split('\n');
      rest[channel] = lines.at(-1)?.slice(-LOOK_BYTES_MAX) ?? '';
      return matcher.find(lines.map((line) => line.slice(0, LINE_LENGTH_MAX))).length > 0;
    });
}

const CHANNELS = ['stdout', 'stderr'] as const;

export function endOf({ id, shell }: Subject): number {
  return shell.read(id, Number.MAX_SAFE_INTEGER, 0).nextCursor;
}

/** Bytes behind `end`, the end of the run, the time or the caller: whatever comes first. */
export async function nextOutput(
  { id, shell }: Subject,
  end: number,
  waitMs: number,
  signal: AbortSignal,
): Promise<void> {
  await untilAborted(shell.waitOutput(id, end, waitMs), signal);
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}

async function untilAborted(promise: Promise<unknown>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const stop = new AbortController();
  const aborted = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true, signal: stop.signal });
  });
  await Promise.race([promise, aborted]);
  stop.abort();
}
