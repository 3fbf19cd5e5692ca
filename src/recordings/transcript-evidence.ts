// What agents' own transcripts tell of one project, as evidence to try a policy on. They are read
// where they are, and nothing is written.

import { type Backtest, backtest } from '../policy/backtest/index.ts';
import type { Evidence } from '../policy/generate/evidence.ts';
import type { LoadedPolicy } from '../policy/policy.ts';
import type { Env } from '../types.ts';
import { within } from './import-transcripts.ts';
import { TRANSCRIPT_AGENTS } from './transcripts/agents.ts';
import { TranscriptTally, transcriptFacts } from './transcripts/read.ts';

export type TranscriptQuery = {
  readonly project: string;
  readonly env: Env;
  readonly home: string;
  readonly since: number | undefined;
  readonly step: () => void;
};

/** What the policy would have said about everything that agents ran in the project. */
export function testOnTranscripts(
  policy: LoadedPolicy,
  { project, env, home, since, step }: TranscriptQuery,
): { readonly result: Backtest; readonly tally: TranscriptTally } {
  const tally = new TranscriptTally();
  const inside = within(project);
  const evidence: Evidence[] = [];
  const query = { agents: TRANSCRIPT_AGENTS, env, since, projects: [project] };
  for (const fact of transcriptFacts(query, tally)) {
    step();
    if (fact.kind !== 'call' || !inside(fact.home)) continue;
    const { agent, session, command, cwd } = fact.call;
    const sessionId = `${agent}\0${session}`;
    evidence.push({ command, cwd: cwd ?? project, project, sessionId, imported: true });
  }
  return { result: backtest(policy, evidence, home), tally };
}
