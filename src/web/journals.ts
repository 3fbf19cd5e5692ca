// The journals that the page shows: the one where the server was started, those of servers that are
// alive, and those that the ledger knows, as long as they are there.

import { stateRoot } from '../capture/paths.ts';
import { findSessionFiles } from '../journal/files.ts';
import { isJournalId } from '../journal/ids.ts';
import { placeTrouble } from '../journal/place.ts';
import { aliveServers } from '../ops/servers.ts';
import { projectOf } from '../recordings/directory.ts';
import { knownJournals } from '../sealing/journals.ts';
import type { Env } from '../types.ts';
import { notFound } from './fault.ts';

export type Journal = {
  readonly directory: string;
  /** Its project's directory; the journal's own where it lies elsewhere. */
  readonly project: string;
};

/** `here` comes first. */
export function journalsOf(here: string, env: Env): readonly Journal[] {
  const root = stateRoot(env);
  const directories = new Set([
    here,
    ...aliveServers(root).map(({ directory }) => directory),
    ...knownJournals(root).map(({ directory }) => directory),
  ]);
  return [...directories]
    .filter((one) => one === here || (one !== '' && placeTrouble(one) === undefined))
    .map((directory) => ({ directory, project: projectOf(directory) ?? directory }));
}

/** Those of one project, or all. Throws where the project has none. */
export function journalsFor(
  all: readonly Journal[],
  project: string | undefined,
): readonly Journal[] {
  if (project === undefined) return all;
  const found = all.filter((one) => one.project === project || one.directory === project);
  if (found.length === 0) throw notFound('journal of this project');
  return found;
}

/** The journal that has this session; only ids of sessions that are there name any. */
export function journalWith(
  all: readonly Journal[],
  session: string,
  wanted: string | undefined,
): Journal {
  const found = isJournalId(session)
    ? journalsFor(all, wanted).find(
        ({ directory }) => findSessionFiles(directory, session) !== undefined,
      )
    : undefined;
  if (found === undefined) throw notFound('session of this id');
  return found;
}
