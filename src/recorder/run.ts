// One command as a run: started, watched while it lasts, and its end in the words of the journal.

import { decodeFinal } from '../capture/format.ts';
import { readTextIn } from '../capture/paths.ts';
import { type Capture, missingBytes, unknownBytes } from '../shell/captures.ts';
import type { Run } from '../shell/run.ts';
import type { Shell } from '../shell/shell.ts';
import { unreadText } from '../text/missing.ts';
import { printable } from '../text/printable.ts';
import type { Ended, EndReason, EntryDraft, Survivor } from '../types.ts';
import { memoryStreams, readStreams, type Streams } from './output.ts';

/** What was seen of a run when its shell was done. */
export type Seen = {
  readonly streams: Streams;
  readonly survivors: readonly Survivor[];
  /** Bytes that were printed and could not be kept. */
  readonly lostBytes: number;
  /** That its end may be missing, where the runner did not say how it ended. */
  readonly unread?: string;
  /** False when the capture is gone, and the output with it. */
  readonly readable: boolean;
};

const NOTHING: Streams = {
  stdout: { bytes: new Uint8Array(), total: 0 },
  stderr: { bytes: new Uint8Array(), total: 0 },
};

const HEARTBEAT_MS = 5_000; // well below the patience of any client

const LINE_BYTES_MAX = 400; // of the last line, in a message about progress

export type End = Pick<EntryDraft, 'timed_out' | 'exit_code' | 'end_reason' | 'signal'>;

export const DENIED: End = {
  timed_out: false,
  exit_code: null,
  end_reason: 'denied',
  signal: null,
};

/** A command that was ended by somebody has no exit code of its own. */
export function endOf({ outcome, endedBy }: Pick<Ended, 'outcome' | 'endedBy'>): End {
  return {
    timed_out: endedBy === 'timeout',
    exit_code: outcome.kind === 'exited' && endedBy === 'itself' ? outcome.code : null,
    end_reason: outcome.kind === 'failed' ? failure(outcome.error) : endedBy,
    signal: outcome.kind === 'signaled' ? outcome.signal : null,
  };
}

function failure(error: string): EndReason {
  return error === 'runner_lost' ? 'interrupted' : 'failed';
}

function unreadOf(capture: Capture): string {
  return unreadText(capture.meta?.transport, unknownBytes(capture));
}

/** A capture that somebody removed meanwhile, or cannot be read, costs the output and no more. */
export function seenOf(shell: Shell, run: Run, bytesMax: number): Seen {
  const memory = run.memory && memoryStreams(run.memory);
  if (run.silent) return { streams: NOTHING, survivors: [], lostBytes: 0, readable: true };
  try {
    // Most of a capture need not be opened when there is nothing in it.
    const final = decodeFinal(readTextIn(run.recording.dir, 'final.json') ?? '');
    const survivors = final?.survivors ?? [];
    const silent = final?.outputBytes === 0 && final.lostBytes === 0;
    if (memory !== undefined || silent) {
      return { streams: memory ?? NOTHING, survivors, lostBytes: 0, readable: true };
    }
    const capture = shell.open(run.id);
    const streams = readStreams(capture, bytesMax);
    const lostBytes = final?.lostBytes ?? missingBytes(capture).bytes;
    const unread = final === undefined ? { unread: unreadOf(capture) } : {};
    return { streams, survivors, lostBytes, ...unread, readable: true };
  } catch {
    const readable = memory !== undefined;
    return { streams: memory ?? NOTHING, survivors: [], lostBytes: 0, readable };
  }
}

/** Tells every now and then how it goes; gives what stops that. */
export function heartbeat(
  shell: Shell,
  run: Run,
  tell: ((line: string) => void) | undefined,
  everyMs: number = HEARTBEAT_MS,
): () => void {
  if (tell === undefined) return () => undefined;
  const startedAt = performance.now();
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    const line = lastLine(shell, run);
    tell(line === '' ? `${seconds}s, no output yet` : `${seconds}s: ${line}`);
  }, everyMs);
  return () => clearInterval(timer);
}

/** The last line a live run has printed; empty when there is none. */
function lastLine(shell: Shell, run: Run): string {
  const text = run.memory
    ? Buffer.from(run.memory.stdout()).subarray(-LINE_BYTES_MAX).toString()
    : tail(shell, run.id);
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return printable(lines.at(-1)?.trim() ?? '');
}

function tail(shell: Shell, id: string): string {
  try {
    return shell.view(id, { kind: 'tail', linesMax: 2, bytesMax: LINE_BYTES_MAX }).text;
  } catch {
    return ''; // nothing is captured yet
  }
}

/** An order that cannot be given is no reason to end the server: the run has a timeout, too. */
export async function kill(run: Run, cause: 'cancelled' | 'shutdown'): Promise<void> {
  await run.kill({ cause }).catch(() => undefined);
}
