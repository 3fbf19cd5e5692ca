// `cuff record export`: a session, all of them, or one run, in a format for other programs. To
// stdout unless a file is named; a database needs one.

import { AppError } from '../../errors.ts';
import { shortId } from '../../journal/ids.ts';
import { castOfRun, castOfSession } from '../../recordings/cast.ts';
import { exportText, type TextFormat, writeDatabase } from '../../recordings/export.ts';
import { sealsOf } from '../../recordings/seals.ts';
import { type Selection, sessionNamed, sessionsSince } from '../../recordings/sessions.ts';
import { captureNamed, storeOf } from '../../shell/captures.ts';
import type { CastVersion } from '../../text/asciicast.ts';
import { printable } from '../../text/printable.ts';
import { say } from '../output.ts';
import { confirmed } from './confirm.ts';
import type { Flags } from './flags.ts';
import { Progress } from './progress.ts';
import { realFile, replacedBy, replacing, write } from './sink.ts';
import { sayUnreadable } from './unreadable.ts';
import { damagedLines, NO_RECORDINGS, sequenceWords } from './words.ts';

const ALL = 'all';

export async function exportRecordings(flags: Flags): Promise<void> {
  const { directory, exists } = await flags.journal();
  const format = flags.format();
  const output = flags.text('--output');
  if (flags.on('--since') && flags.operand() !== ALL) {
    throw new AppError('usage', '--since is for all sessions', {
      hint: 'Hint: Use cuff record export all --since ...',
    });
  }
  if (output !== undefined && !(await mayWrite(output, flags.on('--force')))) {
    say('Nothing was written.');
    process.exitCode = 1;
    return;
  }
  const progress = new Progress('entries', { beside: output === undefined });
  const step = (): void => progress.step();
  const damage = { lines: 0 };
  try {
    if (format === 'asciicast') await write(output, await castFor(directory, flags), step);
    else {
      const faulty: Selection['faulty'] = (id, faults) =>
        say(sequenceWords(printable(shortId(id)), faults));
      const selection = { directory, ids: idsFor(directory, flags), damage, faulty };
      if (format === 'sqlite') await database(selection, output, step);
      else {
        const options = { raw: flags.on('--raw'), sealOf: sealsOf(directory, selection.ids) };
        await write(output, exportText(selection, format as TextFormat, options), step);
      }
    }
  } finally {
    progress.end();
  }
  if (!exists) say(NO_RECORDINGS.trimEnd());
  if (flags.operand() === ALL) sayUnreadable(directory);
  if (damage.lines > 0) say(damagedLines(damage.lines));
  if (output !== undefined) say(`Wrote ${printable(realFile(output))}`);
}

/** A file that exists is overwritten only when a person agrees. */
async function mayWrite(output: string, force: boolean): Promise<boolean> {
  const there = replacedBy(output);
  if (there === undefined || force) return true;
  return confirmed(`Overwrite ${printable(there)}?`, {
    message: `${printable(there)} exists`,
    hint: 'Hint: Use --force to overwrite it',
  });
}

function idsFor(directory: string, flags: Flags): readonly string[] {
  if (flags.operand() !== ALL) return [sessionNamed(directory, flags.operand())];
  return sessionsSince(directory, flags.since());
}

async function database(
  selection: Selection,
  output: string | undefined,
  step: () => void,
): Promise<void> {
  if (output === undefined) {
    throw new AppError('usage', 'A database cannot go to stdout', {
      hint: 'Hint: Use --output FILE',
    });
  }
  await replacing(output, (temp) => writeDatabase(temp, selection, step));
}

/** The session with that id; else the run, while its capture is kept. */
async function castFor(directory: string, flags: Flags): Promise<Iterable<string>> {
  const version: CastVersion = flags.text('--cast-version') === '3' ? 3 : 2;
  const name = flags.operand();
  if (name === ALL) {
    throw new AppError('usage', 'An asciicast is one session or one run', {
      hint: 'Hint: Name one of `cuff record list` or `cuff ls`',
    });
  }
  const store = storeOf(process.env);
  // Captures have every byte as it was; where secrets are to be taken out, the copies must do.
  const { redact } = await flags.settings();
  try {
    const id = sessionNamed(directory, name);
    return castOfSession({ directory, id }, redact ? undefined : store, version);
  } catch (error) {
    const missing = error instanceof AppError && error.code === 'journal_session_not_found';
    if (!missing) throw error;
    const capture = runNamed(store, name);
    if (capture === undefined) throw error;
    return castOfRun(capture, version);
  }
}

function runNamed(store: ReturnType<typeof storeOf>, name: string) {
  try {
    return captureNamed(store, name);
  } catch (error) {
    if (error instanceof AppError && error.code === 'session_not_found') return undefined;
    throw error;
  }
}
