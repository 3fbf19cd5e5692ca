// The part of the tour in which an agent works: a client of our own server, in the protocol's own
// words, one JSON object per line.

import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';

type Answer = { readonly id?: number; readonly result?: unknown; readonly error?: unknown };

export type Agent = {
  /** The text of a tool's answer. */
  call(tool: string, args: Readonly<Record<string, unknown>>): Promise<string>;
  /** Hangs up; the server ends by itself. */
  leave(): void;
};

/** `server` is a `cuff mcp` with pipes for stdin and stdout. */
export async function connectAgent(server: ChildProcess): Promise<Agent> {
  const { stdin, stdout } = server;
  if (stdin === null || stdout === null) throw new Error('The server has no pipes.');
  const waiting = new Map<number, (answer: Answer) => void>();
  createInterface({ input: stdout }).on('line', (line) => {
    const answer: Answer = JSON.parse(line);
    waiting.get(answer.id ?? -1)?.(answer);
  });
  let last = 0;
  const send = (message: object): void => {
    stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  };
  const ask = (method: string, params: object): Promise<Answer> => {
    last += 1;
    send({ id: last, method, params });
    return new Promise((resolve) => waiting.set(last, resolve));
  };
  await ask('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'demo-agent', version: '1' },
  });
  send({ method: 'notifications/initialized' });
  return {
    async call(name, args) {
      const { result } = await ask('tools/call', { name, arguments: args });
      const { content } = result as { content: readonly { readonly text: string }[] };
      return content.map(({ text }) => text).join('\n');
    },
    leave: () => stdin.end(),
  };
}
