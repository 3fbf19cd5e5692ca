// How a command ended, read once: its capture is opened, its output read and its trace decoded
// here, for the entry and for the answer alike. The findings are for the calls that waited for the
// end; only the facts without them may be kept for long.

import { readOnce } from '../capture/byte-source.ts';
import { type Capture, missingBytes, unknownBytes } from '../shell/captures.ts';
import type { Run } from '../shell/run.ts';
import type { Shell } from '../shell/shell.ts';
import { unreadText } from '../text/missing.ts';
import type { Failure } from '../tracing/failures.ts';
import type { Ended, EndReason, EntryDraft, Survivor } from '../types.ts';
import type { EntryReceipt } from './journal.ts';
import { memoryStreams, readStreams, type Streams } from './output.ts';

/** How a command ended, with its entry on the disk or the reason why there is none. */
export type Ending<E extends Ended | undefined = Ended> = {
  readonly ended: E;
  readonly durationMs: number;
  /** Processes that were still there when the shell was done. */
  readonly survivors: readonly Survivor[];
  /** Bytes that were printed and could not be kept. */
  readonly lostBytes: number;
  /** Why its output is not kept where captures are kept. */
  readonly captureTrouble: string | undefined;
  readonly receipt: EntryReceipt;
  /** Only for a call that waited for the end. */
  readonly findings?: Findings;
};

/** The server stopped and left the run behind. */
export type Left = Ending<undefined>;

type Findings = {
  /** As it was at the end; a small output is in memory. Undefined if nothing need be read of it. */
  readonly capture: Capture | undefined;
  /** The head of each stream. */
  readonly heads: Streams;
  /** Processes that failed inside of it, as its trace tells. */
  readonly failures: readonly Failure[];
  /** False when the capture is gone, and the output with it. */
  readonly readable: boolean;
  /** That its end may be missing, where the runner did not say how it ended. */
  readonly unread: string | undefined;
};

const NO_HEADS: Streams = {
  stdout: { bytes: new Uint8Array(), total: 0 },
  stderr: { bytes: new Uint8Array(), total: 0 },
};

// More than an entry holds by default; whatever is larger is read from its file again.
const IN_MEMORY_BYTES_MAX = 262_144;

export type RunOutput = Pick<Ending, 'survivors' | 'lostBytes'> & Omit<Findings, 'failures'>;

const SILENT: RunOutput = {
  capture: undefined,
  heads: NO_HEADS,
  survivors: [],
  lostBytes: 0,
  readable: true,
  unread: undefined,
};

/** If the capture is gone or unreadable we lose its output, nothing else. */
export function readOutputOf(shell: Shell, run: Run, headBytes: number): RunOutput {
  if (run.silent) return SILENT;
  const memory = run.memory && memoryStreams(run.memory);
  try {
    const opened = shell.open(run.id);
    const capture = { ...opened, files: readOnce(opened.dir, IN_MEMORY_BYTES_MAX) };
    const { final } = capture;
    const nothing = final?.outputBytes === 0 && final.lostBytes === 0;
    const found = { ...SILENT, capture, survivors: final?.survivors ?? [] };
    if (memory !== undefined || nothing) return { ...found, heads: memory ?? NO_HEADS };
    return {
      ...found,
      heads: readStreams(capture, headBytes),
      lostBytes: final?.lostBytes ?? missingBytes(capture).bytes,
      unread: final === undefined ? unreadOf(capture) : undefined,
    };
  } catch {
    return { ...SILENT, heads: memory ?? NO_HEADS, readable: memory !== undefined };
  }
}

function unreadOf(capture: Capture): string {
  return unreadText(capture.meta?.transport, unknownBytes(capture));
}

/** The part of an entry that tells how a command ended. */
export type EntryEnd = Pick<EntryDraft, 'timed_out' | 'exit_code' | 'end_reason' | 'signal'>;

export const DENIED: EntryEnd = {
  timed_out: false,
  exit_code: null,
  end_reason: 'denied',
  signal: null,
};

/** A command that did not end by itself has no exit code of its own. */
export function entryEnd({ outcome, endedBy }: Pick<Ended, 'outcome' | 'endedBy'>): EntryEnd {
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
