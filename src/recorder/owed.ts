// The entries of captures that came home from a sandbox, for a process that is no server: what the
// recovery does at the start of one, for these captures alone. Decisions that the sandbox wrote
// down do not count: the policy in force is asked.

import * as fs from 'node:fs';
import { join } from 'node:path';
import { isSessionId } from '../capture/paths.ts';
import { openCapture, type Store } from '../capture/store.ts';
import { namesIn } from '../directories.ts';
import { isThere } from '../places.ts';
import { policyPlaces } from '../policies/places.ts';
import { thisProcess } from '../run/processes.ts';
import { owedDir } from '../shell/spool-look.ts';
import { commandRedactor, redactor } from '../text/redact.ts';
import type { EntryDecision, Env, JournalIntent } from '../types.ts';
import { Recovery } from './recovery.ts';
import type { RecordingSettings } from './settings.ts';
import { NO_METRICS, singleJournal } from './single.ts';

const AT_ONCE_MAX = 1_000; // the next process takes the rest

export type OwedOptions = {
  readonly store: Store;
  readonly recording: RecordingSettings;
  readonly project: string;
  readonly env: Env;
};

/** Those of this project's journal; a journal that cannot be written keeps them owed. */
export async function settleOwed(options: OwedOptions): Promise<void> {
  const { store, recording, project, env } = options;
  const { directory, enabled } = recording;
  const names = namesIn(owedDir(store.root)).filter(isSessionId).slice(0, AT_ONCE_MAX);
  const journals = new Map(names.map((id) => [id, journalOf(store, id)]));
  const own = names.filter((id) => journals.get(id) === directory);
  const owed = new Set<string>();
  if (own.length > 0 && enabled) {
    const journal = singleJournal({ store, recording, project, env });
    const secrets = redactor(env);
    const recovery = new Recovery({
      store,
      directory,
      owner: thisProcess(),
      env: { now: store.now },
      log: () => undefined,
      redact: recording.redact ? secrets : undefined,
      secrets: commandRedactor(secrets),
      owed,
      journal,
      judge: (draft) => judged(draft, project, env),
      only: own,
    });
    await recovery.first;
    await recovery.close();
    await journal.close('shutdown', 'shutdown');
  }
  const settled = own.filter((id) => enabled && !owed.has(id));
  for (const id of [...settled, ...names.filter((one) => journals.get(one) === undefined)]) {
    fs.rmSync(join(owedDir(store.root), id), { force: true });
  }
}

/** Which journal the capture belongs to; undefined if it is gone, or of none. */
function journalOf(store: Store, id: string): string | undefined {
  try {
    return openCapture(store, id).meta?.journal?.directory;
  } catch {
    return undefined; // swept away
  }
}

async function judged(
  { command, working_directory: cwd }: JournalIntent['draft'],
  project: string,
  env: Env,
): Promise<EntryDecision | null> {
  const places = policyPlaces({ project, env });
  if (!places.some(({ path, named }) => named || isThere(path))) return null;
  const [{ openPolicy }, { Guard }, { stateRoot }] = await Promise.all([
    import('../policies/engine.ts'),
    import('../guard/guard.ts'),
    import('../capture/paths.ts'),
  ]);
  const engine = await openPolicy({ project, env, stateRoot: stateRoot(env), watch: false });
  const guard = new Guard(engine, NO_METRICS);
  try {
    return await guard.judge({ command, cwd });
  } finally {
    await guard.close();
    engine.close();
  }
}
