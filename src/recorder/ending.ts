// How a command ended, read once: its capture is opened and its output read here, for the entry and
// for the answer alike. Both keep the heads of the streams, cut on a character, and say what was
// cut off. The findings are for the calls that waited for the end; only the facts without them may
// be kept for long.

import { isUtf8 } from 'node:buffer';
import { readOnce } from '../capture/open-source.ts';
import { type Capture, missingBytes } from '../shell/captures.ts';
import { OutputReader, type StreamHead, type Streams } from '../shell/output/reader.ts';
import type { Run } from '../shell/run.ts';
import type { Shell } from '../shell/shell.ts';
import { unreadText } from '../text/missing.ts';
import type { Redactor } from '../text/redact.ts';
import { decodeUtf8, utf8End } from '../text/utf8.ts';
import type { Failure } from '../tracing/failures.ts';
import type { Ended, EndReason, EntryDraft, Survivor } from '../types.ts';
import type { EntryReceipt } from './journal.ts';

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
  /** Protected files that became others while it ran in a sandbox: `new CLAUDE.md`. */
  readonly changed?: readonly string[];
  /** Variables whose secret values are in its output. */
  readonly leaked?: readonly string[];
  /** Only for a call that waited for the end. */
  readonly findings?: Findings;
};

/** The server stopped and left the run behind. */
export type OpenEnding = Ending<undefined>;

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

/** What is needed of a run that is over, and of the shell that can read it. */
export type EndedRun = Pick<Run, 'id' | 'recording' | 'memory' | 'silent'>;
export type ReadingShell = Pick<Shell, 'open'>;

/** If the capture is gone or unreadable we lose its output, nothing else. */
export function readOutputOf(shell: ReadingShell, run: EndedRun, headBytes: number): RunOutput {
  if (run.silent) return SILENT;
  const memory = run.memory && OutputReader.ofMemory(run.memory).heads(headBytes);
  try {
    const opened = shell.open(run.id);
    const files = opened.files ?? readOnce(opened.dir, IN_MEMORY_BYTES_MAX, opened.decrypt);
    const capture = { ...opened, files };
    const { final } = capture;
    const nothing = final?.outputBytes === 0 && final.lostBytes === 0;
    const found = { ...SILENT, capture, survivors: final?.survivors ?? [] };
    if (memory !== undefined || nothing) {
      const lostBytes = opened.files === undefined ? 0 : (final?.lostBytes ?? 0);
      return { ...found, lostBytes, heads: memory ?? NO_HEADS };
    }
    return {
      ...found,
      heads: OutputReader.of(capture).heads(headBytes),
      lostBytes: final?.lostBytes ?? missingBytes(capture).bytes,
      unread: final === undefined ? unreadOf(capture) : undefined,
    };
  } catch {
    return { ...SILENT, heads: memory ?? NO_HEADS, readable: memory !== undefined };
  }
}

function unreadOf(capture: Capture): string {
  return unreadText(capture.meta?.transport, OutputReader.of(capture).unknownBytes());
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

/** What an agent gets of each stream at most. */
export const SHOWN_BYTES_MAX = 1024 * 1024;

// An answer is JSON inside of JSON, where a control character takes seven bytes. Clients hang up at
// 10 MiB and the protocol's door cuts at 4, so two streams and what is said about them fit in that.
const SHOWN_JSON_MAX = 1_900_000;
const ESCAPED_BYTES_MAX = 7;

// An entry is one line, which its writer and each of its readers hold in memory as a whole.
const STORED_BYTES_MAX = 16 * 1024 * 1024;

export type { StreamHead, Streams };

export type ShownHead = {
  readonly text: string;
  readonly bytes: number;
  readonly total: number;
  /** Some bytes are no UTF-8 and shown as U+FFFD. */
  readonly binary: boolean;
};

/** What the agent sees of a stream. */
export function shownStream(head: StreamHead): ShownHead {
  let end = headEnd(head, SHOWN_BYTES_MAX);
  let text = decodeUtf8(head.bytes.subarray(0, end));
  for (let length = jsonLength(text); length > SHOWN_JSON_MAX; length = jsonLength(text)) {
    end = headEnd(head, Math.floor((end * SHOWN_JSON_MAX) / length) - 1);
    text = decodeUtf8(head.bytes.subarray(0, end));
  }
  return { text, bytes: end, total: head.total, binary: !isUtf8(head.bytes.subarray(0, end)) };
}

/** How long a text is in an answer; of one that cannot be too long, the most it can be. */
function jsonLength(text: string): number {
  const most = text.length * ESCAPED_BYTES_MAX;
  return most <= SHOWN_JSON_MAX ? most : Buffer.byteLength(JSON.stringify(JSON.stringify(text)));
}

type StoredOutput = Pick<
  EntryDraft,
  'stdout' | 'stderr' | 'output_truncated' | 'output_truncated_bytes'
>;

/** What an entry says when it is to hold no output. */
export const NO_OUTPUT: StoredOutput = {
  stdout: null,
  stderr: null,
  output_truncated: false,
  output_truncated_bytes: null,
};

/** How much of each stream must be read for `storedOutput` to be as large as it may be. */
export function bytesWanted(outputBytesMax: number, redact: Redactor | undefined): number {
  return Math.min(outputBytesMax, STORED_BYTES_MAX) + (redact?.lengthMax ?? 0);
}

/** An entry that may hold this much has all of an output of fewer bytes. */
export function wholeBelow(outputBytesMax: number): number {
  return Math.min(outputBytesMax, STORED_BYTES_MAX) + 1;
}

/** The copy in the entry: the head of each stream, without secrets if there is a redactor. */
export function storedOutput(
  { stdout, stderr }: Streams,
  outputBytesMax: number,
  redact: Redactor | undefined,
): StoredOutput {
  const bytesMax = Math.min(outputBytesMax, STORED_BYTES_MAX);
  const truncated = stdout.total > bytesMax || stderr.total > bytesMax;
  return {
    stdout: storedStream(stdout, bytesMax, redact),
    stderr: storedStream(stderr, bytesMax, redact),
    output_truncated: truncated,
    output_truncated_bytes: truncated ? stdout.total + stderr.total : null,
  };
}

function storedStream(head: StreamHead, bytesMax: number, redact: Redactor | undefined): string {
  if (redact === undefined) return decodeUtf8(head.bytes.subarray(0, headEnd(head, bytesMax)));
  const text = redact(decodeUtf8(head.bytes));
  if (head.total <= bytesMax) return text;
  // A head that is not the whole stream may end inside of a secret, which then is not known as one.
  const unsure = head.total > head.bytes.length ? redact.lengthMax : 0;
  const bytes = Buffer.from(text.slice(0, Math.max(0, text.length - unsure)));
  return decodeUtf8(bytes.subarray(0, headEnd({ bytes, total: Infinity }, bytesMax)));
}

/** Where a head of at most `bytesMax` bytes ends, so that no character is cut in two. */
function headEnd({ bytes, total }: StreamHead, bytesMax: number): number {
  const end = Math.min(bytes.length, Math.max(0, bytesMax));
  return end === total ? end : utf8End(bytes, end);
}
