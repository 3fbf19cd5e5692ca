// A stranger's program: compiled against the packed d.ts files, with nothing of ours skipped.

import type { AppError, Command, Outcome, Run, Shell } from 'cuff';
import { createShell } from 'cuff';

export const command: Command = { kind: 'argv', argv: ['echo', 'hi'] };

export function describe(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'exited':
      return `exit code ${outcome.code}`;
    case 'signaled':
      return outcome.signal;
    case 'failed':
      return outcome.error;
  }
}

export async function tail(text: string): Promise<string> {
  const shell: Shell = createShell({ environment: 'agent', durability: 'group' });
  const run: Run = shell.start(text, { killAfterMs: 1_000, transport: 'merged' });
  const ended = await run.wait(500);
  const why = ended === undefined ? 'still running' : describe(ended.outcome);
  return `${shell.view(run.id, { kind: 'tail', linesMax: 10 }).text}\n${why}`;
}

export const hintOf = (error: AppError): string | undefined => error.hint;
