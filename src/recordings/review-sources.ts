// The commands that are reviewed: of agents' transcripts, read in place, or of a journal.

import type { Env } from '../types.ts';
import { projectOf } from './directory.ts';
import { within } from './import-transcripts.ts';
import { Reviewer } from './review.ts';
import { sessionEntries, sessionsSince } from './sessions.ts';
import type { TranscriptAgent } from './transcripts/call.ts';
import { TranscriptTally, transcriptFacts } from './transcripts/read.ts';

export type TranscriptReview = {
  readonly agents: readonly TranscriptAgent[];
  readonly env: Env;
  readonly home: string;
  readonly since: number | undefined;
  readonly project: string | undefined;
  readonly step: () => void;
};

export function reviewTranscripts(query: TranscriptReview) {
  const reviewer = new Reviewer(query.home);
  const tally = new TranscriptTally();
  const inside = within(query.project);
  const projects = query.project === undefined ? [] : [query.project];
  for (const fact of transcriptFacts({ ...query, projects }, tally)) {
    query.step();
    if (!inside(fact.home)) continue;
    const { file, home: project } = fact;
    if (fact.kind === 'call') {
      const { call } = fact;
      const at = call.startedAt ?? file.modifiedAt;
      const denied = call.end === 'denied';
      reviewer.add({ ...call, project, at, denied, place: `${file.path}:${call.line}` });
    } else {
      const at = fact.edit.at ?? file.modifiedAt;
      reviewer.edit({ ...fact.edit, project, at, place: `${file.path}:${fact.edit.line}` });
    }
  }
  return { review: reviewer.result(), tally };
}

export function reviewJournal(query: {
  readonly directory: string;
  readonly home: string;
  readonly since: number | undefined;
  readonly step: () => void;
}) {
  const { directory, since } = query;
  const reviewer = new Reviewer(query.home);
  const damage = { lines: 0 };
  for (const id of sessionsSince(directory, since)) {
    for (const entry of sessionEntries(directory, id, damage)) {
      query.step();
      const at = Date.parse(entry.timestamp);
      if (since !== undefined && at < since) continue;
      reviewer.add({
        agent: (entry.agent_id ?? 'unknown').replace(/:.*$/s, ''),
        session: entry.conversation_id ?? id,
        command: entry.command,
        cwd: entry.working_directory,
        project: projectOf(directory) ?? entry.working_directory,
        at,
        exitCode: entry.exit_code,
        denied: entry.end_reason === 'denied',
        place: entry.entry_id,
      });
    }
  }
  return { review: reviewer.result(), damagedLines: damage.lines };
}
