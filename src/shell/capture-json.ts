// A capture and a live run as programs get them, with `--json` and from the page: the names are
// those of the files.

import { isoTime } from '../text/dates.ts';
import { quoteWords } from '../text/printable.ts';
import { type CaptureSummary, cutBytes, unreadNote } from './captures.ts';
import type { LiveRun, RunProcess } from './processes.ts';

/** The command as a person would type it. */
export function commandText({ meta }: Pick<CaptureSummary, 'meta'>): string {
  if (meta === undefined) return '(unknown)';
  if (meta.inMemory === true) return '(was in memory)';
  if (meta.encrypted === true) return '(encrypted)';
  return meta.command.kind === 'shell' ? meta.command.text : quoteWords(meta.command.argv);
}

export function captureJson(capture: CaptureSummary) {
  const { meta, final } = capture;
  const outcome = final?.outcome;
  const unread = unreadNote(capture);
  return {
    session_id: capture.id,
    state: capture.state,
    reason: capture.reason ?? null,
    exit_code: outcome?.kind === 'exited' ? outcome.code : null,
    signal: outcome?.kind === 'signaled' ? outcome.signal : null,
    ended_by: final?.endedBy ?? null,
    created_at: isoTime(capture.createdAt),
    ended_at: final === undefined ? null : isoTime(final.at),
    command: meta?.argv ?? null,
    shell_text: meta?.command.kind === 'shell' ? meta.command.text : null,
    working_directory: meta?.cwd ?? null,
    transport_mode: meta?.transportMode ?? null,
    retention_seconds: meta?.retentionSeconds ?? null,
    output_bytes: capture.outputBytes,
    lost_bytes: (final?.lostBytes ?? 0) + cutBytes(capture, capture.outputBytes),
    ...(unread !== undefined && { unread }),
    output_open: capture.outputOpen,
    pinned: capture.pinned,
    trace: meta?.trace ?? null,
    path: capture.dir,
  };
}

/** Whose run it is; undefined for one that no agent started. */
export function callOf({ capture }: LiveRun) {
  const draft = capture.meta?.journal?.draft;
  if (draft === undefined) return undefined;
  const { agent_id: agent, conversation_id: agent_session, tool_call_id: tool_call } = draft;
  return { agent, agent_session, tool_call };
}

/** As `cuff ps --json` has it. */
export function liveRunJson(run: LiveRun) {
  return {
    ...captureJson(run.capture),
    ...callOf(run),
    runner_pid: run.capture.meta?.runner?.pid ?? null,
    runner_alive: run.runnerAlive,
    processes: run.processes.map(processJson),
  };
}

export function processJson(one: RunProcess) {
  return {
    pid: one.pid,
    parent_pid: one.parent,
    start_time: one.startTime,
    age_ms: one.ageMs === undefined ? null : Math.round(one.ageMs),
    command: one.command,
    holds_output: one.holdsOutput,
  };
}
