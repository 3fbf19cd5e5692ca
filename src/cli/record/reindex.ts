// `cuff record reindex`: everything that is derived from the session files is made anew.

import { reindexJournal } from '../../recordings/catalog.ts';
import { countText } from '../../text/dates.ts';
import { put, putJson } from '../output.ts';
import type { Flags } from './flags.ts';
import { working } from './progress.ts';
import { NO_RECORDINGS } from './words.ts';

/** `--json`: {"sessions","entries","catalog"}; `catalog` is null where there is no SQLite. */
export async function reindex(flags: Flags): Promise<void> {
  const { directory, exists } = await flags.journal();
  if (!exists && !flags.on('--json')) return put(NO_RECORDINGS);
  const done = await working('Reading every session', () => reindexJournal(directory));
  if (flags.on('--json')) return putJson(done);
  const { sessions, entries, catalog } = done;
  const without = catalog === null ? ', without a catalog: there is no SQLite' : '';
  await put(
    `Indexed ${countText(entries)} commands in ${countText(sessions)} sessions${without}.\n`,
  );
}
