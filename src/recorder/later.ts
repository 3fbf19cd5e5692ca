// What becomes of the processes that a command left running: its entry names them, and what they
// print goes to the file beside the session when the last of them is gone. How far the entry
// reaches is noted in the capture before the entry is written, so that the next server can finish
// this when the one that answered is gone.

import { type EntryReach, forgetReach, noteReach, reachOf } from '../capture/entry-marks.ts';
import { totalsOf, withSnapshot } from '../capture/snapshot.ts';
import type { Capture } from '../capture/store.ts';
import { keptUntil, streamBytes, streamTotals } from '../capture/stream.ts';
import { messageOf } from '../errors.ts';
import { hasRoom } from '../ops/health.ts';
import type { Redactor } from '../text/redact.ts';
import type { Entry, LaterOutput, Log, Survivor } from '../types.ts';
import type { RecorderJournal } from './journal.ts';
import { bytesWanted, type StreamHead, type Streams, storedOutput } from './output.ts';

/** The field of an entry; no field for a command that left nothing. */
export function survivorsField(
  survivors: readonly Survivor[],
  redact: Redactor,
): Pick<Entry, 'survivors'> {
  if (survivors.length === 0) return {};
  return { survivors: survivors.map(({ pid, command }) => ({ pid, command: redact(command) })) };
}

/** Notes what an entry will tell of a run that may still print. Never throws. */
export function noteEntryReach(dir: string, { stdout, stderr }: Streams, log: Log): void {
  try {
    noteReach(dir, { stdout: stdout.total, stderr: stderr.total });
  } catch (error) {
    // Then only this server can record what comes later.
    log('warn', 'Reach of an entry not noted', { dir, error: messageOf(error) });
  }
}

/** How much of each stream is kept, and without which secrets. */
type Keep = { readonly outputBytesMax: number; readonly redact: Redactor | undefined };

/**
 * Writes what came behind the entry of a run that has closed. True when nothing is left to do;
 * what could not be written stays noted in the capture.
 */
export async function recordLater(
  open: () => Capture,
  entry: Pick<LaterOutput, 'entry_id' | 'survivors'> & { readonly session_id: string },
  keep: Keep & { readonly directory: string; readonly reach?: EntryReach },
  { journal, log }: { readonly journal: Pick<RecorderJournal, 'later'>; readonly log: Log },
): Promise<boolean> {
  const { entry_id, session_id, survivors } = entry;
  try {
    const capture = open();
    const reach = reachOf(capture.dir) ?? keep.reach;
    if (reach === undefined) return true;
    const output = laterOutput(capture, reach, keep);
    const later = { entry_id, survivors, output };
    const { length } = output.stdout + output.stderr;
    if (!hasRoom(keep.directory, length)) throw new Error('the disk has no room for it');
    if (length > 0) await journal.later(keep.directory, session_id, later);
    forgetReach(capture.dir);
    return true;
  } catch (error) {
    log('warn', 'Later output not recorded', { session_id, entry_id, error: messageOf(error) });
    return false;
  }
}

/** Throws when the capture cannot be read. */
function laterOutput(
  capture: Capture,
  reach: EntryReach,
  { outputBytesMax, redact }: Keep,
): LaterOutput['output'] {
  const wanted = bytesWanted(outputBytesMax, redact);
  const streams = withSnapshot(capture, (snapshot) => {
    const all = totalsOf(snapshot);
    const behind = (stream: 'stdout' | 'stderr'): StreamHead => {
      const from = reach[stream];
      const { bytes: total } = streamTotals(all, stream);
      const to = Math.min(total, from + wanted, keptUntil(snapshot, stream, from));
      const bytes = to <= from ? new Uint8Array() : streamBytes(snapshot, stream, from, to);
      return { bytes, total: Math.max(0, total - from) };
    };
    return { stdout: behind('stdout'), stderr: behind('stderr') };
  });
  const { stdout, stderr, output_truncated: cut } = storedOutput(streams, outputBytesMax, redact);
  const missing = [streams.stdout, streams.stderr].some(({ bytes, total }) => bytes.length < total);
  return { stdout: stdout ?? '', stderr: stderr ?? '', truncated: cut || missing };
}
