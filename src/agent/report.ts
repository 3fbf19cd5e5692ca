// What there is to say about a run besides its output: how it stands or ended, how much it printed,
// who of it is still alive, what went wrong on the way. Facts only; a dialect has the words. Keeps,
// for each run, what its caller was told and how its pipeline is watched.

import type { Source } from '../capture/snapshot.ts';
import type { Ending } from '../recorder/ending.ts';
import { missingBytes } from '../shell/captures.ts';
import { OutputReader } from '../shell/output/reader.ts';
import type { RunProcess } from '../shell/processes.ts';
import type { Capture } from '../shell/shell.ts';
import { keepRecent } from '../text/recent.ts';
import type { EndedBy, Outcome, StreamTotals } from '../types.ts';
import { survivorsIn, unreadIn } from './aftermath.ts';
import type { AgentRun } from './agent-run.ts';
import { NewsReader } from './report-news.ts';
import { type FailedStage, StageWatch, type WatchedPipeline } from './report-stages.ts';
import { type HiddenFailure, hiddenIn } from './report-trace.ts';

export type { FailedStage, HiddenFailure, WatchedPipeline };

const KEPT_MAX = 1_000; // runs about which something is kept

type Totals = { readonly stdout: StreamTotals; readonly stderr: StreamTotals };

export type Report = {
  readonly id: string;
  /** Undefined while it runs. */
  readonly ended: { readonly outcome: Outcome; readonly endedBy: EndedBy } | undefined;
  readonly pid: number | undefined;
  /** Since its start, or until its end. */
  readonly elapsedMs: number;
  readonly totals: Totals;
  /** Processes that its shell left behind and that are there now. */
  readonly survivors: readonly RunProcess[];
  /** As bash told, where a trace does not say the same and more. */
  readonly stages: readonly FailedStage[];
  /** As its trace tells. */
  readonly hidden: readonly HiddenFailure[];
  /** Why it is not traced although that was asked for. */
  readonly untraced: string | undefined;
  readonly lostBytes: number;
  /** That the end of its output may be missing, and why. */
  readonly unread: string | undefined;
  /** Its entry has placeholders in place of secrets. */
  readonly redacted: boolean;
};

type End = Pick<Report, 'ended' | 'pid' | 'survivors' | 'unread'>;

export class Reports {
  readonly #watch: StageWatch;
  readonly #now: () => number;
  readonly #news = new Map<string, NewsReader>();
  readonly #watched = new Map<string, WatchedPipeline>();
  readonly #stages = new Map<string, readonly FailedStage[]>();
  readonly #hidden = new Map<string, readonly HiddenFailure[]>();

  constructor(stateRoot: string, now: () => number) {
    this.#watch = new StageWatch(stateRoot);
    this.#now = now;
  }

  close(): void {
    this.#watch.close();
  }

  /** Undefined for a command whose stages need not, or must not, be watched. */
  watch(command: string): WatchedPipeline | undefined {
    return this.#watch.watch(command);
  }

  watching(id: string, watched: WatchedPipeline | undefined): void {
    if (watched !== undefined) keepRecent(this.#watched, id, watched, KEPT_MAX);
  }

  /** What its caller was told about its output. */
  news(id: string): NewsReader {
    const known = this.#news.get(id) ?? new NewsReader();
    keepRecent(this.#news, id, known, KEPT_MAX);
    return known;
  }

  /** The part that is known without looking at its output. */
  ending(capture: Capture, run: AgentRun | undefined): End {
    const ended = run === undefined ? endOf(capture) : run.result?.ended;
    return {
      ended: ended && { outcome: ended.outcome, endedBy: ended.endedBy },
      pid: run?.pid ?? capture.meta?.child?.pid,
      survivors: ended === undefined ? [] : survivorsIn(capture),
      unread: ended === undefined ? undefined : unreadIn(capture, run?.result),
    };
  }

  of(capture: Capture, run: AgentRun | undefined): Report {
    const { id, meta, final } = capture;
    const startedAt = run?.startedAt ?? meta?.startedAt ?? meta?.createdAt ?? this.#now();
    const result = run?.result;
    const { ended, pid, survivors, unread } = this.ending(capture, run);
    const over = result?.durationMs ?? (final === undefined ? undefined : final.at - startedAt);
    return {
      id,
      ended,
      pid,
      elapsedMs: Math.max(0, (ended && over) ?? this.#now() - startedAt),
      totals: totalsNow(capture),
      survivors,
      ...(ended === undefined
        ? NO_FAILURES
        : this.#failures(id, () => run?.hidden ?? hiddenIn(capture))),
      untraced: meta?.trace?.enabled === false ? meta.trace.reason : undefined,
      lostBytes: Math.max(result?.lostBytes ?? 0, missingBytes(capture).bytes),
      unread,
      redacted: isRedacted(run),
    };
  }

  /** The same for a run that is over and has nothing to be read: no file is opened for it. */
  ofSilent(run: AgentRun, { ended, durationMs }: Ending): Report {
    return {
      id: run.id,
      ended: { outcome: ended.outcome, endedBy: ended.endedBy },
      pid: run.pid,
      elapsedMs: durationMs,
      totals: NO_TOTALS,
      survivors: [],
      ...this.#failures(run.id, () => run.hidden),
      untraced: undefined,
      lostBytes: 0,
      unread: undefined,
      redacted: isRedacted(run),
    };
  }

  /** Looked at once: what its survivors do later is no part of how it ended. */
  #failures(id: string, look: () => readonly HiddenFailure[]): Pick<Report, 'stages' | 'hidden'> {
    const told = this.#failedStages(id);
    const known = this.#hidden.get(id) ?? look();
    keepRecent(this.#hidden, id, known, KEPT_MAX);
    const hidden = known.map(confirmed(told));
    return { stages: told.filter((stage) => !hidden.some((one) => isSame(one, stage))), hidden };
  }

  #failedStages(id: string): readonly FailedStage[] {
    const watched = this.#watched.get(id);
    if (watched !== undefined) keepRecent(this.#stages, id, watched.failed(), KEPT_MAX);
    this.#watched.delete(id);
    return this.#stages.get(id) ?? [];
  }
}

const NO_FAILURES: Pick<Report, 'stages' | 'hidden'> = { stages: [], hidden: [] };

function isRedacted(run: AgentRun | undefined): boolean {
  return run !== undefined && run.draft.command !== run.command;
}

function isSame({ stage: place }: HiddenFailure, { stage, of }: FailedStage): boolean {
  return place !== undefined && place.number === stage && place.of === of;
}

/** What bash tells is about the last pipeline, so what is the same is part of that. */
function confirmed(told: readonly FailedStage[]): (one: HiddenFailure) => HiddenFailure {
  return (one) => {
    const { stage } = one;
    if (stage === undefined || !told.some((same) => isSame(one, same))) return one;
    return { ...one, stage: { ...stage, ending: true } };
  };
}

function endOf({ state, final, reason }: Capture): Report['ended'] {
  if (final !== undefined) return final;
  if (state === 'running' || state === 'starting') return undefined;
  const message = `nobody saw how it ended (${reason ?? state})`;
  return { outcome: { kind: 'failed', error: 'runner_lost', message }, endedBy: 'itself' };
}

const NO_TOTALS: Totals = { stdout: { bytes: 0, lines: 0 }, stderr: { bytes: 0, lines: 0 } };

function totalsNow(capture: Source & Pick<Capture, 'final'>): Totals {
  const { final } = capture;
  if (final?.outputBytes === 0 && final.outputClosed) return NO_TOTALS;
  const output = OutputReader.of(capture);
  return { stdout: output.totals('stdout'), stderr: output.totals('stderr') };
}

const CREDENTIAL =
  /api[ _-]?key|credential|unauthori[sz]ed|authenticat|access denied|not logged in/i;

/** Variables kept from commands that a failed one may have missed. */
export function missedVariables(
  withheld: readonly string[],
  command: string,
  output: string,
): readonly string[] {
  const named = withheld.filter((name) => `${command}\n${output}`.includes(name));
  if (named.length > 0) return named;
  return CREDENTIAL.test(output) ? withheld : [];
}
