// What becomes of the processes that a command left running: its entry names them, and what they
// print goes to the file beside the session when the last of them is gone.

import { totalsOf, withSnapshot } from './capture/snapshot.ts';
import { streamBytes, streamTotals } from './capture/stream.ts';
import { appendLater } from './journal/later.ts';
import type { PluginLog } from './plugin.ts';
import type { Terms } from './recorder-admission.ts';
import type { Streams } from './recorder-output.ts';
import type { Seen } from './recorder-run.ts';
import type { Run } from './running.ts';
import type { Shell } from './shell.ts';
import type { Redactor } from './text/redact.ts';
import { decodeUtf8 } from './text/utf8.ts';
import type { Entry, LaterOutput, Survivor } from './types.ts';

/** The field of an entry; no field for a command that left nothing. */
export function survivorsField(
  survivors: readonly Survivor[],
  redact: Redactor,
): Pick<Entry, 'survivors'> {
  if (survivors.length === 0) return {};
  return { survivors: survivors.map(({ pid, command }) => ({ pid, command: redact(command) })) };
}

/** Resolves when the run has closed and the rest is written, or the server leaves it. */
export async function recordLater(
  about: {
    readonly shell: Shell;
    readonly run: Run;
    readonly seen: Seen;
    readonly terms: Terms;
    readonly log: PluginLog;
  },
  entry: Entry,
  closed: Promise<true | undefined>,
): Promise<void> {
  const { shell, run, seen, terms, log } = about;
  const { directory } = terms.recording;
  if ((await closed) === undefined) return;
  try {
    const output = laterOutput(shell, run, seen.streams, terms);
    const { entry_id, session_id, survivors = [] } = entry;
    if (output !== undefined) appendLater(directory, session_id, { entry_id, survivors, output });
  } catch (error) {
    // The capture has it, as long as that is kept.
    const words = error instanceof Error ? error.message : String(error);
    const { entry_id, session_id } = entry;
    log('warn', 'Later output not recorded', { session_id, entry_id, error: words });
  }
}

/** Undefined when nothing came. Throws when the capture cannot be read. */
function laterOutput(
  shell: Shell,
  run: Run,
  before: Streams,
  { recording, redact }: Terms,
): LaterOutput['output'] | undefined {
  return withSnapshot(shell.open(run.id), (snapshot) => {
    const all = totalsOf(snapshot);
    const behind = (stream: 'stdout' | 'stderr') => {
      const from = before[stream].total;
      const { bytes: total } = streamTotals(all, stream);
      const to = Math.min(total, from + recording.outputBytesMax);
      const text = to <= from ? '' : decodeUtf8(streamBytes(snapshot, stream, from, to));
      return { text: recording.redact ? redact(text) : text, cut: total > to };
    };
    const [stdout, stderr] = [behind('stdout'), behind('stderr')];
    if (stdout.text === '' && stderr.text === '') return undefined;
    const truncated = stdout.cut || stderr.cut;
    return { stdout: stdout.text, stderr: stderr.text, truncated };
  });
}
