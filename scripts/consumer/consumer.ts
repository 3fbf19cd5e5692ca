// A stranger's program: compiled against the packed d.ts files, with nothing of ours skipped.

import type { AppError, BashTool, Command, Outcome, Run, Shell } from 'cuff';
import { createAnthropicBash, createBashTool, createShell, toAnthropicTools } from 'cuff';

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

export async function bytesOf(run: Run): Promise<number> {
  let count = 0;
  for await (const event of run) if (event.type === 'output') count += event.bytes.length;
  return count;
}

export async function ask(command: string): Promise<string> {
  const tool: BashTool = createBashTool({ dialect: 'bash_recorder', recording: false });
  const { text, isError } = await tool.call({ command }, { toolCallId: '1' });
  await tool.close();
  return isError ? text : `${toAnthropicTools([tool]).length} ${createAnthropicBash().name}`;
}

export const hintOf = (error: AppError): string | undefined => error.hint;
