// What an agent is told of the policy beforehand, over MCP: in the instructions, in the description
// of the tool, and again when the policy is another one.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { until } from '../cli/helper.ts';
import { Guarded } from './policy-life.ts';

const policy = (pattern: string): string =>
  `default: deny\npolicies: [{name: r, commands: [{pattern: ${pattern}}]}]\n`;

it.each(['cuff_shell', 'bash_recorder'])('%s', async (dialect) => {
  const life = new Guarded(policy('git log *'));
  const [file, words] = life.command('cuff', '--dialect', dialect);
  const child = life.track(spawn(file, words, { env: life.env }));
  const answers = new Map<number, Record<string, unknown>>();
  let changes = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, method, result } = JSON.parse(line);
    if (method === 'notifications/tools/list_changed') changes += 1;
    else if (id !== undefined) answers.set(id, result);
  });
  let last = 0;
  const request = async (method: string, params: object) => {
    last += 1;
    const id = last;
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    await until(() => answers.has(id), `the answer to ${method}`);
    return answers.get(id) as { instructions: string; tools: { description: string }[] };
  };
  const about = { capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  const { instructions } = await request('initialize', { protocolVersion: '2025-06-18', ...about });
  child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  const runs = 'These run, with arguments that change nothing else:';
  expect(instructions).toContain(`${runs} git log *.\nEverything else is refused.`);
  const described = async (): Promise<string> =>
    (await request('tools/list', {})).tools.map(({ description }) => description).join('\n');
  // The words of other tools are those that models were trained on.
  if (dialect !== 'cuff_shell') return expect(await described()).not.toContain(runs);
  expect(await described()).toContain(`${runs} git log *.`);
  life.policy(policy('git show *'));
  await until(() => changes > 0, 'the client is told of other tools');
  expect(await described()).toContain(`${runs} git show *.`);
});
