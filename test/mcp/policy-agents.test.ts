// Rules for one agent, where it comes by MCP: the name that the client gives when it connects.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { until } from '../cli/helper.ts';
import { Guarded } from './policy-life.ts';

const POLICY = `
default: deny
policies:
  - name: rules
    commands:
      - pattern: "echo *"
        agents: [claude-code]
      - pattern: touch a
      - pattern: touch a
        decision: deny
        agents: [codex]
`;

type Answers = (method: string, params: object) => Promise<string>;

/** A client with this name: the text of an answer for each request. */
function client(life: Guarded, name: string, env: Readonly<Record<string, string>> = {}): Answers {
  const [file, words] = life.command('cuff', '--dialect', 'cuff_shell');
  const child = life.track(spawn(file, words, { env: { ...life.env, ...env } }));
  const answers = new Map<number, string>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, result } = JSON.parse(line);
    if (id !== undefined) answers.set(id, result?.content?.[0]?.text ?? '');
  });
  let last = 0;
  const request: Answers = async (method, params) => {
    last += 1;
    const id = last;
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    await until(() => answers.has(id), `the answer to ${method}`);
    return answers.get(id) ?? '';
  };
  const clientInfo = { name, version: '1' };
  const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  const begun = request('initialize', hello).then(() => {
    child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  });
  return async (command, meta) => {
    await begun;
    return request('tools/call', { name: 'shell_run', arguments: { command }, _meta: meta });
  };
}

it('a client is known by the name it connects with, and by nothing else', async () => {
  const life = new Guarded(POLICY);
  const claude = client(life, 'claude-code');
  expect(await claude('echo one', {})).toMatch(/^one\n\[exit 0/);
  expect(await claude('touch a', {})).toMatch(/\[exit 0/);

  const claims = { agent_id: 'claude-code', conversation_id: 'c' };
  const other = client(life, 'some-client', { CLAUDECODE: '1', CUFF_AGENT: 'claude' });
  expect(await other('echo two', claims)).toMatch(/^cuff policy: denied \(default\.deny\)/);
  // No name that is known: it may be the one that the rule is about.
  expect(await other('touch a', claims)).toContain('`touch a` of rules, for codex, denies');
  expect(await client(life, 'codex-mcp-client')('touch a', claims)).toContain('denies `touch a`');
});
