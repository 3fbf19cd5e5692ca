// In a sandbox where nothing can be written the answer has the output, from memory, and says that
// it is not recorded.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { binary, Cli } from '../cli/helper.ts';
import { lacking } from '../requirements.ts';
import { endSandboxes, noBwrap, noFilter, readOnly } from '../run/sandboxed.ts';

const cli = new Cli();
afterAll(async () => {
  await cli.close();
  endSandboxes();
});

const skip = lacking((noFilter ?? noBwrap) !== undefined, 'there is no sandbox to be had here');

async function answerOf(dialect: string, name: string, command: string): Promise<string> {
  const project = join(cli.root, `${dialect}-${Date.now()}`);
  mkdirSync(project);
  const words = [process.execPath, binary('cuff'), 'mcp', '--dialect', dialect];
  const env = { CUFF_STATE_ROOT: join(project, 'state') };
  const { child, result } = cli.start([...readOnly(project), ...words], { env });
  const send = (message: object): void => {
    child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  };
  const client = { clientInfo: { name: 't', version: '1' }, capabilities: {} };
  send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', ...client } });
  send({ method: 'notifications/initialized' });
  send({ id: 2, method: 'tools/call', params: { name, arguments: { command } } });
  let out = '';
  const answered = new Promise<string>((resolve) => {
    child.stdout?.on('data', (piece) => {
      out += piece;
      const line = out.split('\n').find((one) => one.includes('"id":2'));
      if (line?.endsWith('}')) resolve(line);
    });
  });
  const line = await answered;
  child.stdin?.end();
  await result;
  return JSON.parse(line).result.content[0].text;
}

describe.skipIf(skip)('where nothing can be written', () => {
  it.each([
    ['claude_code', 'Bash'],
    ['cuff_shell', 'shell_run'],
  ])('%s answers with the output', async (dialect, tool) => {
    const text = await answerOf(dialect, tool, 'echo out; echo err >&2; exit 3');
    expect(text).toMatch(/^out$/m);
    expect(text).toMatch(/^err$/m);
    expect(text).toMatch(/3/);
    expect(text).toContain('[not in the journal: read-only file system]');
    const long = await answerOf(dialect, tool, 'seq 100000');
    expect(long).toMatch(/^1$/m);
    expect(long.length).toBeLessThan(40_000);
  });
});
