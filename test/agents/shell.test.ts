// The shell that records under real agent programs: what the model is sent is what it is sent
// without cuff, byte for byte, and the journal has one entry for each call, with the command that
// the model asked for.
import { describe, expect, it } from 'vitest';
import { AgentCase } from './case.ts';
import { CLIENTS } from './clients/all.ts';
import type { AgentClient } from './clients/client.ts';
import { COMMANDS, INTERLEAVED } from './commands.ts';

const RECORDED = CLIENTS.filter(({ hasShell }) => hasShell);

function commandsFor({ name }: AgentClient): readonly string[] {
  if (name === 'claude') return [...COMMANDS, INTERLEAVED]; // both streams are one file
  // OpenCode does not notice that a shell was ended by a signal, with or without us.
  if (name === 'opencode') return COMMANDS.filter((command) => command !== 'kill -TERM $$');
  return COMMANDS;
}

/** Gemini CLI itself takes `bash -c` away, and puts a space behind a backslash at the end. */
function recordedAs({ name }: AgentClient, command: string): string {
  if (name !== 'gemini') return command;
  return command.replace(/^bash -c "(.*)"$/, '$1').replace(/\\$/, '\\ ');
}

async function worked(client: AgentClient, recorded: boolean): Promise<AgentCase> {
  const turns = commandsFor(client).map((command) => ({ calls: [client.shell(command)] }));
  const one = await AgentCase.start(client, { main: turns });
  if (recorded) one.record();
  const { code, err } = await one.agent('work [[main]]');
  expect(code, err).toBe(0);
  return one;
}

function heard(one: AgentCase): string[] {
  return one.model.results('main').map(({ text }) => one.neutral(text));
}

describe.each(RECORDED)('$name in the shell that records', (client) => {
  it('tells its model the same, and has an entry for each call', async () => {
    await using bare = await worked(client, false);
    await using recorded = await worked(client, true);
    const commands = commandsFor(client);
    expect(heard(bare)).toHaveLength(commands.length);
    // Qwen Code now and then loses the output of a short command, also without us.
    if (client.name !== 'qwen') expect(heard(recorded)).toEqual(heard(bare));
    const wanted = commands.map((command) => recordedAs(client, command));
    expect(recorded.entries().map(({ command }) => command)).toEqual(wanted);
  });
});
