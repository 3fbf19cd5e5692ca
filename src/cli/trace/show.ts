// `cuff trace`: the processes inside a run, how each ended, what each used and wrote. Exit 1 when
// the run was not traced, or has no such process.

import { AppError } from '../../errors.ts';
import { type Capture, captureNamed, storeOf } from '../../shell/captures.ts';
import {
  capturedTraceJson,
  chromeTrace,
  criticalPath,
  type Drawing,
  isChoice,
  lastMoment,
  matching,
  otlpTrace,
  outputOf,
  type ProcessChoice,
  rank,
  renderCritical,
  renderTimeline,
  renderTop,
  renderTree,
  type TopKey,
  type Trace,
  type TracedProcess,
  withAncestors,
} from '../../tracing/read.ts';
import { put, putJson, say } from '../output.ts';
import { drawingOf, lookInto, sayUntraced } from './look.ts';
import { remarks } from './remarks.ts';

type TraceOptions = {
  readonly timeline?: boolean;
  readonly top?: TopKey;
  readonly critical?: boolean;
  readonly diff?: boolean;
  readonly json?: boolean;
  /** A pid. */
  readonly output?: number;
  readonly stdout?: boolean;
  readonly stderr?: boolean;
  readonly format?: 'chrome' | 'otlp';
  readonly failed?: boolean;
  readonly grep?: RegExp;
  /** Milliseconds. */
  readonly minTime?: number;
  readonly depth?: number;
  readonly fold: boolean;
};

export async function trace(
  part: string,
  other: string | undefined,
  options: TraceOptions,
): Promise<void> {
  checkWords(other, options);
  const capture = captureNamed(storeOf(process.env), part);
  if (other !== undefined) return (await import('./diff.ts')).diff(capture, other, options);
  const { found, isLive } = lookInto(capture);
  if (found.kind === 'untraced') {
    process.exitCode = 1;
    return options.json ? putJson(capturedTraceJson(capture, found)) : sayUntraced(found);
  }
  const { trace: known } = found;
  if (options.output !== undefined) return output(capture, known, options.output, options);
  if (options.format === 'chrome') return putJson(chromeTrace(known));
  if (options.format === 'otlp') return putJson(otlpTrace(known));
  const now = isLive ? nowNs() : undefined;
  const chosen = chosenOf(known, options, now);
  if (options.json)
    return putJson(capturedTraceJson(capture, found, inOrder(chosen, options, now)));
  if (chosen.length === 0 && known.processes.length > 0) return sayNone(capture);
  await put(pictureOf(known, chosen, options, { ...drawingOf(), nowNs: now }));
  remarks(known, chosen);
}

function checkWords(other: string | undefined, options: TraceOptions): void {
  if (options.output === undefined && (options.stdout || options.stderr)) {
    throw new AppError('usage', '--stdout and --stderr go with --output.', {
      hint: 'Name the process: `cuff trace ID --output PID --stderr`.',
    });
  }
  if ((other !== undefined) !== (options.diff === true)) {
    throw new AppError('usage', 'Two runs and --diff go together.', {
      hint: 'Name the earlier and the later run: `cuff trace ID ID --diff`.',
    });
  }
}

function nowNs(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}

function processChoice({ failed, grep, minTime }: TraceOptions): ProcessChoice {
  const minTimeNs = minTime === undefined ? undefined : BigInt(Math.round(minTime * 1e6));
  return { failed, grep, minTimeNs };
}

function chosenOf(
  { processes }: Trace,
  options: TraceOptions,
  now: bigint | undefined,
): readonly TracedProcess[] {
  const within = processes.filter(({ depth }) => depth <= (options.depth ?? depth));
  return matching(within, processChoice(options), now);
}

/** For programs, which fold for themselves. */
function inOrder(
  chosen: readonly TracedProcess[],
  { top }: TraceOptions,
  now: bigint | undefined,
): readonly TracedProcess[] {
  if (top === undefined) return chosen;
  return rank(chosen, { key: top, nowNs: now, fold: false }).groups.flat();
}

function pictureOf(
  known: Trace,
  chosen: readonly TracedProcess[],
  options: TraceOptions,
  drawing: Drawing,
): string {
  if (options.critical) {
    const last = drawing.nowNs ?? lastMoment(known);
    return renderCritical(criticalPath(known.processes, last), { ...drawing, fold: options.fold });
  }
  if (options.top !== undefined) {
    const ranking = rank(chosen, { key: options.top, nowNs: drawing.nowNs, fold: options.fold });
    return renderTop(ranking, drawing);
  }
  if (options.timeline) return renderTimeline({ ...known, processes: chosen }, drawing);
  const { depth, fold } = options;
  if (!isChoice(processChoice(options))) return renderTree(known, drawing, { depth, fold });
  const matches = new Set(chosen.map(({ id }) => id));
  const shown = withAncestors(known.processes, chosen);
  return renderTree(known, drawing, { fold, shown, matches });
}

function sayNone({ id }: Capture): void {
  process.exitCode = 1;
  say('No process of this run is like that.');
  say(`See which there were with \`cuff trace ${id}\`.`);
}

async function output(
  capture: Capture,
  known: Trace,
  pid: number,
  { stdout, stderr }: TraceOptions,
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
