// What the tools of `bash_recorder` answer. Facts first, and what to do next only where there is
// something to do: fields that have nothing to say are left out.

import { hasFailed } from '../../agent/aftermath.ts';
import type { AgentRun, Ending, OpenEnding } from '../../agent/agent-shell.ts';
import { entryEnd, type ShownHead, shownStream } from '../../recorder/ending.ts';
import type { SessionInfo } from '../../recorder/recorder.ts';
import { OutputReader } from '../../shell/output/reader.ts';
import { suspectsIn } from '../../shell/output/suspects.ts';
import type { Capture } from '../../shell/shell.ts';
import { counted } from '../../text/plural.ts';
import type { Entry } from '../../types.ts';
import { errorNotes } from '../notes.ts';

type Answer = Readonly<Record<string, unknown>>;

const TEXT_LENGTH_MAX = 2_000; // of a command in a list; its entry has all of it

/** What an answer may name, and what it need not say. */
export type Wording = {
  /** Whether the server has this tool. */
  readonly mounted: (tool: string) => boolean;
  /** That recording is turned off was said before. */
  readonly quiet: boolean;
  /** In seconds; it may have got less. */
  readonly timeoutAsked: number;
  /** What the policy has to say about it. */
  readonly notes: readonly string[];
};

/** What an answer is about. */
type AnswerParts = Omit<Ending | OpenEnding, 'findings'> & {
  readonly run: AgentRun;
  readonly end: ReturnType<typeof entryEnd> | undefined;
  readonly stdout: ShownHead;
  readonly stderr: ShownHead;
  /** That the end of its output may be missing. */
  readonly unread: string | undefined;
  /** False when the output is lost with its capture. */
  readonly readable: boolean;
};

const NOTHING = { bytes: new Uint8Array(), total: 0 };

/** The fields of seed 000's result in its order, with the session beside the entry's id. */
export function executeAnswer(
  run: AgentRun,
  ending: Ending | OpenEnding,
  wording: Wording,
): Answer {
  const { findings, ...rest } = ending;
  const { heads, unread, readable = true } = findings ?? {};
  const result: AnswerParts = {
    ...rest,
    run,
    end: ending.ended && entryEnd(ending.ended),
    stdout: shownStream(heads?.stdout ?? NOTHING),
    stderr: shownStream(heads?.stderr ?? NOTHING),
    unread,
    readable,
  };
  const { end, receipt, survivors } = result;
  const errors = findings === undefined ? [] : errorNotices(result, findings.capture);
  const about = [...outputNotices(result, wording), ...errors, ...survivorNotices(result, wording)];
  const unrecorded = recordingNotices(result, wording);
  const notices = [...endNotices(result, wording), ...about, ...unrecorded, ...wording.notes];
  const recorded = receipt.recorded === true ? receipt : { entryId: null, sessionId: null };
  return {
    stdout: result.stdout.text,
    stderr: result.stderr.text,
    exit_code: end?.exit_code ?? null,
    timed_out: end?.timed_out ?? false,
    duration_ms: result.durationMs,
    recording_id: recorded.entryId,
    session_id: recorded.sessionId,
    working_directory: run.cwd,
    ...(about.length > 0 || end === undefined ? { run_id: run.id } : {}),
    ...(end?.signal ? { signal: end.signal } : {}),
    ...(survivors.length === 0
      ? {}
      : { survivors: survivors.map(({ pid, command }) => ({ pid, command })) }),
    ...(notices.length === 0 ? {} : { notices }),
  };
}

function endNotices({ end, run }: AnswerParts, { timeoutAsked }: Wording): string[] {
  const { timeout_seconds: timeoutSeconds } = run.draft;
  const capped =
    timeoutAsked > timeoutSeconds
      ? [`The timeout of ${timeoutAsked} seconds was capped at the maximum of ${timeoutSeconds}.`]
      : [];
  if (end === undefined) {
    return [...capped, `The server stops and leaves the command running as run ${run.id}.`];
  }
  const why = ENDINGS[end.end_reason];
  if (end.timed_out) {
    const seconds = counted(timeoutSeconds, 'second');
    return [...capped, `Ended with all its processes after ${seconds}; the output is partial.`];
  }
  return why === undefined ? capped : [...capped, why];
}

const ENDINGS: Readonly<Partial<Record<string, string>>> = {
  cancelled: 'Ended with all its processes because the call was cancelled.',
  kill: 'Ended by a kill from outside.',
  shutdown: 'Ended with all its processes because the server stops.',
  interrupted: 'Nobody saw how it ended: its runner was killed.',
};

function outputNotices(result: AnswerParts, { mounted }: Wording): string[] {
  const { lostBytes, unread, readable } = result;
  const { id: runId, captured } = result.run;
  const streams = [
    ['stdout', result.stdout],
    ['stderr', result.stderr],
  ] as const;
  const notices = streams.flatMap(([name, { bytes, total, binary }]) => {
    const cut = `${name}: the first ${bytes} of ${total} bytes are shown.`;
    const how = mounted('derun_read_output')
      ? `derun_read_output, session_id "${runId}"`
      : `\`cuff cat ${runId}\``;
    const rest = captured ? `Read the rest with ${how}.` : 'The rest was not kept.';
    return [
      ...(bytes < total ? [`${cut} ${rest}`] : []),
      ...(binary ? [`${name} is not all UTF-8; bytes that are not are shown as U+FFFD.`] : []),
    ];
  });
  if (lostBytes > 0)
    notices.push(`${lostBytes} bytes of output could not be kept and are missing.`);
  if (unread !== undefined && result.end?.end_reason === 'interrupted') notices.push(`${unread}.`);
  if (!readable) notices.push('The output is lost: its capture is gone.');
  return notices;
}

/** What looks like an error behind the part of a stream that is shown. */
function errorNotices({ run, ended, stdout, stderr }: AnswerParts, capture?: Capture): string[] {
  if (ended === undefined || capture === undefined || !hasFailed(run, ended)) return [];
  return Object.entries({ stdout, stderr } as const).flatMap(([name, { bytes, total }]) => {
    if (bytes >= total || !run.captured) return [];
    const channel = name === 'stdout' ? 'stdout' : 'stderr';
    const output = OutputReader.of(capture);
    const firstLine = output.newlinesBefore(channel, bytes) + 1;
    const range = { firstLine, lastLine: output.totals(channel).lines };
    const more = (from: number, to: number): string =>
      `cuff cat --${channel} ${run.id} | sed -n '${from},${to}p'`;
    const lines = errorNotes(suspectsIn(capture, channel, range), more);
    return lines.length === 0 ? [] : [`${channel}: ${lines.join('; ')}`];
  });
}

function survivorNotices({ survivors, run }: AnswerParts, { mounted }: Wording): string[] {
  const { id: runId, captured } = run;
  if (survivors.length === 0) return [];
  const one = survivors.length === 1;
  const still = one ? '1 process still runs' : `${survivors.length} processes still run`;
  const prints = captured && survivors.some(({ holdsOutput }) => holdsOutput);
  const how = mounted('derun_wait_output')
    ? `derun_wait_output, session_id "${runId}"`
    : `\`cuff tail -f ${runId}\``;
  const where = prints ? ` Follow its output with ${how}.` : '';
  return [`${still} in the background.${where}`];
}

function recordingNotices(
  { receipt, end, captureTrouble }: AnswerParts,
  { quiet }: Wording,
): string[] {
  if (captureTrouble !== undefined) {
    return [`Its output is not kept: ${captureTrouble.replace(/\.$/, '')}.`];
  }
  if (receipt.recorded || quiet) return [];
  if (end === undefined) return ['Its entry is written when it has ended.'];
  return [`This command was not recorded: ${receipt.why.replace(/\.$/, '')}.`];
}

export function notStarted(why: string): string {
  return `The command could not be started: ${why}. Check execution.shell.`;
}

export function sessionAnswer(info: SessionInfo): Answer {
  const { session } = info;
  return {
    recording: info.recording,
    ...(info.why === undefined ? {} : { reason: info.why }),
    session_id: session?.session_id ?? null,
    ...(session === undefined
      ? {}
      : {
          status: session.status,
          created_at: session.created_at,
          last_updated: session.last_updated,
          entry_count: session.entry_count,
          total_duration_ms: session.total_duration_ms,
          commands_succeeded: session.commands_succeeded,
          commands_failed: session.commands_failed,
          commands_timed_out: session.commands_timed_out,
          working_directory: session.working_directory,
          agent_id: session.agent_id,
          conversation_id: session.conversation_id,
        }),
    session_mode: info.sessionMode,
    directory: info.directory,
    active_sessions: info.activeSessions,
    ...(info.earlierRuns.length === 0
      ? {}
      : {
          earlier_runs: info.earlierRuns.map(({ runId, command, state }) => ({
            run_id: runId,
            command,
            state,
          })),
        }),
  };
}

export function recentAnswer(entries: readonly Entry[]): Answer {
  return { entries: entries.map(entryRow) };
}

/** Without its output, which is long and has a tool of its own. */
export function entryRow(entry: Entry): Answer {
  return {
    entry_id: entry.entry_id,
    session_id: entry.session_id,
    timestamp: entry.timestamp,
    command: shortened(entry.command),
    description: entry.description && shortened(entry.description),
    working_directory: entry.working_directory,
    exit_code: entry.exit_code,
    timed_out: entry.timed_out,
    end_reason: entry.end_reason,
    duration_ms: entry.duration_ms,
    run_id: entry.run_id,
  };
}

/** A hundred rows must fit into one answer. */
function shortened(text: string): string {
  return text.length > TEXT_LENGTH_MAX ? `${text.slice(0, TEXT_LENGTH_MAX)}…` : text;
}
