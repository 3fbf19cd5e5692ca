// In a sandbox where nothing can be written the answer has the output, from memory, and says that
// it is not recorded.
import { mkdtempSync } from 'node:fs';
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

type Calls = (name: string, args: Readonly<Record<string, unknown>>) => Promise<string>;

/** A server in a sandbox where nothing can be written, for some calls. */
async function inSandbox<T>(dialect: string, work: (call: Calls) => Promise<T>): Promise<T> {
  const project = mkdtempSync(join(cli.root, `${dialect}-`));
  const words = [process.execPath, binary('cuff'), 'mcp', '--dialect', dialect];
  const env = { CUFF_STATE_ROOT: join(project, 'state') };
  const { child, result } = cli.start([...readOnly(project), ...words], { env });
  const waiting = new Map<number, (text: string) => void>();
  let rest = '';
  child.stdout?.on('data', (piece) => {
    const lines = `${rest}${piece}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const { id, result: answer } = JSON.parse(line);
      waiting.get(id)?.(answer.content?.[0].text);
    }
  });
  const send = (message: object): void => {
    child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  };
  const client = { clientInfo: { name: 't', version: '1' }, capabilities: {} };
  send({ id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18', ...client } });
  send({ method: 'notifications/initialized' });
  let id = 0;
  const call: Calls = (name, args) => {
    id += 1;
    const answered = new Promise<string>((resolve) => waiting.set(id, resolve));
    send({ id, method: 'tools/call', params: { name, arguments: args } });
    return answered;
  };
  const got = await work(call);
  child.stdin?.end();
  await result;
  return got;
}

const UNRECORDED = '[not in the journal: read-only file system]';

describe.skipIf(skip)('where nothing can be written', () => {
  it.each([
    ['claude_code', 'Bash', 'command'],
    ['codex', 'exec_command', 'cmd'],
    ['cuff_shell', 'shell_run', 'command'],
    ['phoenix_bash', 'bash', 'command'],
    ['pipe_bash', 'bash', 'command'],
  ])('%s answers with the output', async (dialect, tool, key) => {
    await inSandbox(dialect, async (call) => {
      const text = await call(tool, { [key]: 'echo out; sleep 0.1; echo err >&2; exit 3' });
      expect(text).toMatch(/^out$/m);
      expect(text).toMatch(/^err$/m);
      expect(text).toMatch(/3/);
      expect(text).toContain(UNRECORDED);
      const long = await call(tool, { [key]: 'seq 100000' });
      expect(long).toMatch(dialect === 'pipe_bash' ? /^100000$/m : /^1$/m);
      expect(long.length).toBeLessThan(60_000);
      expect(long).not.toMatch(/"output\.bin|could not be read/);
      const failed = await call(tool, { [key]: 'seq 40000; echo error: it >&2; seq 40000; false' });
      expect(failed).not.toContain('could not be read');
    });
  });

  type Ask = readonly [tool: string, args: Readonly<Record<string, unknown>>];
  const background: readonly {
    readonly dialect: string;
    readonly start: (command: string) => Ask;
    readonly id: RegExp;
    readonly more: (id: string) => Ask;
  }[] = [
    {
      dialect: 'claude_code',
      start: (command: string) => ['Bash', { command, run_in_background: true }],
      id: /with ID: (\w+)/,
      more: (bash_id: string) => ['BashOutput', { bash_id }],
    },
    {
      dialect: 'codex',
      start: (cmd: string) => ['exec_command', { cmd, yield_time_ms: 250 }],
      id: /session ID (\d+)/,
      more: (id: string) => ['write_stdin', { session_id: Number(id) }],
    },
    {
      dialect: 'cuff_shell',
      start: (command: string) => ['shell_run', { command, wait_ms: 0 }],
      id: /"id":"([^"]+)"/,
      more: (id: string) => ['shell_wait', { id }],
    },
    {
      dialect: 'pipe_bash',
      start: (command: string) => ['bash', { command, timeout: 100 }],
      id: /PID:? (\d+)/i,
      more: (pid: string) => ['bash', { check_pid: Number(pid) }],
    },
  ];
  it.each(background)(
    '$dialect tells what a background run prints',
    async ({ dialect, start, id, more }) => {
      await inSandbox(dialect, async (call) => {
        let told = await call(...start('echo alpha; sleep 1; echo omega; exit 3'));
        const handle = id.exec(told)?.[1] ?? told;
        while (!/omega/.test(told) || !told.includes(UNRECORDED)) {
          told += `\n${await call(...more(handle))}`;
          expect(told).not.toMatch(/could not be read|no longer|[Uu]nknown/);
        }
        expect(told).toMatch(/^alpha$/m);
        expect(told).toMatch(/^omega$/m);
      });
    },
  );
});
