// A run whose entry another server was to write: whether it can lack one, and the entry that its
// capture tells of. Reads only.

import { hasReach } from '../capture/entry-marks.ts';
import { readMetadata } from '../journal/reader.ts';
import { endedWhole } from '../journal/writer.ts';
import type { Capture } from '../shell/captures.ts';
import { OutputReader, type Streams } from '../shell/output/reader.ts';
import type { Redactor } from '../text/redact.ts';
import { entryProcesses, UNTRACED } from '../tracing/entry.ts';
import type { EntryDraft, JournalIntent } from '../types.ts';
import { bytesWanted, type EntryEnd, entryEnd, NO_OUTPUT, storedOutput } from './ending.ts';
import { survivorsField } from './entry.ts';

export type FoundRun = {
  readonly capture: Capture;
  readonly intent: JournalIntent;
  /** Undefined while it has none, because the journal could not be written. */
  readonly sessionId: string | undefined;
  /** This server has answered it. */
  readonly own: boolean;
};

/** `open`: it is over, and processes that it left may still print. */
export type Stage = 'running' | 'open' | 'closed';

export function stageOf({ state, outputOpen }: Capture): Stage {
  if (state === 'running' || state === 'starting') return 'running';
  return outputOpen ? 'open' : 'closed';
}

/**
 * Whether the journal can lack something of a run. A session that was ended in order has the
 * entries of all that ended before; looking them up would mean to read it. One that was
 * interrupted, or got entries later, may get them in any order, and is looked at.
 */
export function mayLack(directory: string): (found: FoundRun) => boolean {
  const endedAt = new Map<string, number>();
  return ({ capture, sessionId }) => {
    if (sessionId === undefined || hasReach(capture.dir)) return true;
    let ended = endedAt.get(sessionId);
    if (ended === undefined) {
      const metadata = readMetadata(directory, sessionId);
      const whole = metadata !== undefined && endedWhole(metadata);
      ended = whole ? Date.parse(metadata.last_updated) : 0;
      endedAt.set(sessionId, ended);
    }
    return capture.final === undefined || capture.final.at >= ended;
  };
}

/** Its secrets are not known any more, unless this server keeps them out, too. */
export function isUnsafe(intent: JournalIntent, redact: Redactor | undefined): boolean {
  return intent.redact && redact === undefined;
}

/** The output that its entry may tell of; undefined when there is none. */
export function streamsFor(
  { capture, intent }: FoundRun,
  redact: Redactor | undefined,
): Streams | undefined {
  if (!intent.captureOutput || isUnsafe(intent, redact)) return undefined;
  try {
    return OutputReader.of(capture).heads(bytesWanted(intent.outputBytesMax, redact));
  } catch {
    return undefined; // a capture that cannot be read: the command was run all the same
  }
}

/** What the capture can tell; how a run ended whose runner was killed is not known. */
export function entryOf(
  { capture, intent }: FoundRun,
  streams: Streams | undefined,
  redact: Redactor | undefined,
  secrets: Redactor,
): EntryDraft {
  const { final, meta } = capture;
  const { draft, outputBytesMax } = intent;
  const startedAt = meta?.startedAt ?? meta?.createdAt ?? 0;
  const traced = meta?.trace?.enabled === true;
  return {
    ...draft,
    ...(final === undefined ? UNSEEN_END : entryEnd(final)),
    ...(streams === undefined ? NO_OUTPUT : storedOutput(streams, outputBytesMax, redact)),
    ...(traced ? entryProcesses(capture.dir, draft.command, secrets) : UNTRACED),
    ...survivorsField(final?.survivors ?? [], secrets),
    duration_ms: final === undefined ? 0 : final.at - startedAt,
    run_id: capture.id,
  };
}

const UNSEEN_END: EntryEnd = {
  timed_out: false,
  exit_code: null,
  end_reason: 'interrupted',
  signal: null,
};
