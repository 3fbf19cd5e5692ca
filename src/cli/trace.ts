// `cuff trace`: the processes inside a run, how each ended and what each wrote. Exit 1 when the run
// was not traced, or has no such process.

import { AppError } from '../errors.ts';
import { type Capture, captureNamed, storeOf } from '../shell/captures.ts';
import { counted } from '../text/plural.ts';
import { printable } from '../text/printable.ts';
import {
  type CapturedTrace,
  capturedTraceJson,
  chromeTrace,
  NOT_REQUESTED,
  otlpTrace,
  outputOf,
  readTrace,
  renderTimeline,
  renderTree,
  type Trace,
} from '../tracing/read.ts';
import { paint, put, putJson, say, terminalWidth } from './output.ts';

type Options = {
  readonly timeline?: boolean;
  readonly json?: boolean;
  /** A pid. */
  readonly output?: number;
  readonly stdout?: boolean;
  readonly stderr?: boolean;
  readonly format?: 'chrome' | 'otlp';
};

export async function trace(part: string, options: Options): Promise<void> {
  if (options.output === undefined && (options.stdout || options.stderr)) {
    throw new AppError('usage', '--stdout and --stderr go with --output.', {
      hint: 'Name the process: `cuff trace ID --output PID --stderr`.',
    });
  }
  const capture = captureNamed(storeOf(process.env), part);
  const found = readTrace(capture);
  if (options.json) {
    if (found.kind === 'untraced') process.exitCode = 1;
    return putJson(capturedTraceJson(capture, found));
  }
  if (found.kind === 'untraced') return untraced(found);
  const { trace: known } = found;
  if (options.output !== undefined) return output(capture, known, options.output, options);
  if (options.format === 'chrome') return putJson(chromeTrace(known));
  if (options.format === 'otlp') return putJson(otlpTrace(known));
  const live = capture.final === undefined && capture.state === 'running';
  const drawing = { ...terminalWidth(), paint, ...(live && { nowNs: nowNs() }) };
  await put(options.timeline ? renderTimeline(known, drawing) : renderTree(known, drawing));
  remarks(known);
}

function nowNs(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}

function untraced({ reason }: Extract<CapturedTrace, { kind: 'untraced' }>): void {
  process.exitCode = 1;
  say(`This run was not traced: ${printable(reason.replace(/\.$/, ''))}.`);
  say(
    reason === NOT_REQUESTED
      ? 'Trace the next one: `cuff run --trace -- CMD`, or `recording.trace` in settings.yml.'
      : 'See what tracing needs with `cuff doctor`.',
  );
}

async function output(
  capture: Capture,
  known: Trace,
  pid: number,
  { stdout, stderr }: Options,
): Promise<void> {
  if (!known.processes.some((one) => one.pid === pid)) {
    process.exitCode = 1;
    say(`No process of this run had the pid ${pid}.`);
    say(`See which there were with \`cuff trace ${capture.id}\`.`);
    return;
  }
  const wanted = (channel: string): boolean =>
    stderr ? channel === 'stderr' : !stdout || channel !== 'stderr';
  for (const bytes of outputOf(capture, known, pid, wanted)) await put(bytes);
}

/** What the tree and the timeline cannot show. */
function remarks({ unattributedBytes, untraced: events }: Trace): void {
  if (unattributedBytes > 0) {
    const bytes = counted(unattributedBytes, 'byte of output is', 'bytes of output are');
    say(`${bytes} not attributed to a process.`);
  }
  const count = (kind: string): number => events.filter((one) => one.kind === kind).length;
  const statics = count('static');
  if (statics > 0) {
    say(`${counted(statics, 'static program was', 'static programs were')} not followed.`);
  }
  const silent = count('silent');
  if (silent > 0) {
    const programs = counted(silent, 'program that installs', 'programs that install');
    say(`Of ${programs} a seccomp filter by itself, only the start is known.`);
  }
  const dropped = events.reduce((sum, one) => sum + (one.kind === 'dropped' ? one.frames : 0), 0);
  if (dropped > 0) say(`${dropped} reports of processes could not be written.`);
  if (count('damaged') > 0) say('A part of the trace is damaged and left out.');
}
