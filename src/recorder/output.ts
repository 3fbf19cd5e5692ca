// The output of one run for its two readers: what the agent is shown, and the copy that an entry
// keeps. Both are heads of the streams, cut on a character; what was cut off is said.

import { isUtf8 } from 'node:buffer';
import { type ReadResult, readOutput } from '../capture/reader.ts';
import { totalsOf, withSnapshot } from '../capture/snapshot.ts';
import type { Capture } from '../capture/store.ts';
import { keptUntil, streamBytes, streamTotals } from '../capture/stream.ts';
import { READ_BYTES_DEFAULT } from '../limits.ts';
import type { MemoryOutput } from '../shell/run.ts';
import type { Redactor } from '../text/redact.ts';
import { decodeUtf8, utf8End } from '../text/utf8.ts';
import type { Channel, EntryDraft } from '../types.ts';

/** What an agent gets of each stream at most. */
export const SHOWN_BYTES_MAX = 1024 * 1024;

// An answer is JSON inside of JSON, where a control character takes seven bytes. Clients hang up at
// 10 MiB and the protocol's door cuts at 4, so two streams and what is said about them fit in that.
const SHOWN_JSON_MAX = 1_900_000;
const ESCAPED_BYTES_MAX = 7;

// An entry is one line, which its writer and each of its readers hold in memory as a whole.
const STORED_BYTES_MAX = 16 * 1024 * 1024;

/** The head of a stream, and how many bytes there were. */
export type StreamHead = { readonly bytes: Uint8Array; readonly total: number };

export type Streams = { readonly stdout: StreamHead; readonly stderr: StreamHead };

const TOO_MUCH: Pick<ReadResult, 'chunks' | 'eof'> = { chunks: [], eof: false };

/** Of each stream at least `bytesMax` bytes, as far as there are so many. */
export function readStreams(capture: Capture, bytesMax: number): Streams {
  const { outputBytes = 0, hole } = capture.final ?? {};
  const small = outputBytes <= READ_BYTES_DEFAULT && hole === undefined;
  const { chunks, eof } = small ? readOutput(capture, 0, READ_BYTES_DEFAULT) : TOO_MUCH;
  if (eof) {
    const of = (wanted: (channel: Channel) => boolean): StreamHead => {
      const bytes = Buffer.concat(
        chunks.filter(({ chunk }) => wanted(chunk.channel)).map((piece) => piece.bytes),
      );
      return { bytes, total: bytes.length };
    };
    return { stdout: of((one) => one !== 'stderr'), stderr: of((one) => one === 'stderr') };
  }
  return withSnapshot(capture, (snapshot) => {
    const all = totalsOf(snapshot);
    const head = (stream: 'stdout' | 'stderr'): StreamHead => {
      const { bytes: total } = streamTotals(all, stream);
      const end = Math.min(total, bytesMax, keptUntil(snapshot, stream, 0));
      return { bytes: streamBytes(snapshot, stream, 0, end), total };
    };
    return { stdout: head('stdout'), stderr: head('stderr') };
  });
}

export function memoryStreams(memory: MemoryOutput): Streams {
  return {
    stdout: { bytes: memory.stdout(), total: memory.totals.stdout },
    stderr: { bytes: memory.stderr(), total: memory.totals.stderr },
  };
}

export type Shown = {
  readonly text: string;
  readonly bytes: number;
  readonly total: number;
  /** Some bytes are no UTF-8 and shown as U+FFFD. */
  readonly binary: boolean;
};

/** What the agent sees of a stream. */
export function shownStream(head: StreamHead): Shown {
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

/** How much `readStreams` must give for `storedOutput` to be as large as it may be. */
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
