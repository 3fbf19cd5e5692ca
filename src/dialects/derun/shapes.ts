// A capture as derun's tools describe it, in the names of the files it comes from. On this wire a
// capture is a session. What a capture does not say is null, never left out.

import {
  type Capture,
  type CaptureSummary,
  missingBytes,
  unreadNote,
} from '../../shell/captures.ts';
import { quoteWords } from '../../text/printable.ts';

type Shape = Readonly<Record<string, unknown>>;

const COMMAND_SHOWN_MAX = 200; // in a list a command is there to be recognised
const COMMAND_BYTES_MAX = 65_536; // a command line may have megabytes

/** One line of a list. */
export function sessionRow(capture: CaptureSummary): Shape {
  const { meta, final } = capture;
  return {
    session_id: capture.id,
    state: capture.state,
    command: meta === undefined ? null : shortened(commandText(meta)),
    working_directory: meta?.cwd ?? null,
    created_at: time(capture.createdAt),
    ended_at: final === undefined ? null : time(final.at),
    ...exitOf(final),
    transport_mode: meta?.transportMode ?? null,
    output_bytes: capture.outputBytes,
    output_open: capture.outputOpen,
    ...unreadOf(capture),
  };
}

/** Everything about one session but its output. */
export function sessionDetails(capture: Capture, outputBytes: number): Shape {
  return {
    session_id: capture.id,
    state: capture.state,
    lifecycle: lifecycleOf(capture),
    execution: executionOf(capture),
    transport: {
      transport_mode: capture.meta?.transportMode ?? null,
      tty_attached: capture.meta?.ttyAttached ?? null,
    },
    retention: retentionOf(capture),
    output: {
      output_bytes: outputBytes,
      lost_bytes: missingBytes(capture).bytes,
      ...unreadOf(capture),
    },
  };
}

/** Only where it is so: that the end of the output may be missing, and why. */
export function unreadOf(capture: Parameters<typeof unreadNote>[0]): { readonly unread?: string } {
  const unread = unreadNote(capture);
  return unread === undefined ? {} : { unread };
}

function lifecycleOf({ meta, final, state, reason, outputOpen }: Capture): Shape {
  return {
    state,
    reason: reason ?? null,
    created_at: meta === undefined ? null : time(meta.createdAt),
    started_at: meta?.startedAt === undefined ? null : time(meta.startedAt),
    ended_at: final === undefined ? null : time(final.at),
    ...exitOf(final),
    ended_by: final?.endedBy ?? null,
    output_open: outputOpen,
    survivors: (final?.survivors ?? []).map(({ pid, command, holdsOutput }) => ({
      pid,
      command,
      holds_output: holdsOutput,
    })),
  };
}

function executionOf({ meta }: Capture): Shape {
  const { words, cut } = commandWords(meta?.argv ?? []);
  const text = meta?.command.kind === 'shell' ? meta.command.text : undefined;
  return {
    command: meta === undefined ? null : words,
    shell_text: text?.slice(0, COMMAND_BYTES_MAX) ?? null,
    command_truncated: cut || (text?.length ?? 0) > COMMAND_BYTES_MAX,
    working_directory: meta?.cwd ?? null,
    pid: meta?.child?.pid ?? null,
    runner_pid: meta?.runner?.pid ?? null,
  };
}

function retentionOf({ meta, final, pinned }: Capture): Shape {
  const seconds = meta?.retentionSeconds;
  const over = seconds === undefined || final === undefined || pinned;
  return {
    retention_seconds: seconds ?? null,
    expires_at: over ? null : time(final.at + seconds * 1000),
    pinned,
  };
}

function exitOf(final: Capture['final']): { exit_code: number | null; signal: string | null } {
  const outcome = final?.outcome;
  return {
    exit_code: outcome?.kind === 'exited' ? outcome.code : null,
    signal: outcome?.kind === 'signaled' ? outcome.signal : null,
  };
}

function commandText(meta: NonNullable<Capture['meta']>): string {
  return meta.command.kind === 'shell' ? meta.command.text : quoteWords(meta.command.argv);
}

function shortened(text: string): string {
  const characters = [...text.slice(0, COMMAND_SHOWN_MAX * 2)];
  if (text.length <= COMMAND_SHOWN_MAX || characters.length <= COMMAND_SHOWN_MAX) return text;
  return `${characters.slice(0, COMMAND_SHOWN_MAX - 3).join('')}...`;
}

function commandWords(argv: readonly string[]): { words: readonly string[]; cut: boolean } {
  let left = COMMAND_BYTES_MAX;
  const words: string[] = [];
  for (const word of argv) {
    if (word.length > left) return { words: [...words, word.slice(0, left)], cut: true };
    left -= word.length + 1;
    words.push(word);
  }
  return { words, cut: false };
}

function time(at: number): string {
  return new Date(at).toISOString();
}
