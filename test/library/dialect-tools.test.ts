// `createBashTool` and `createBashTools`: a dialect without a server around it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SHELLS } from '../../src/dialects/builtins.ts';
import {
  type BashToolOptions,
  createBashTool,
  createBashTools,
  DIALECT_NAMES,
  isAppError,
} from '../../src/index.ts';
import { closing, home } from './home.ts';

/** What settings may not be without, and what each is asked to run. */
const MAIN: Readonly<Record<string, { readonly name: string; readonly key: string }>> = {
  bash_recorder: { name: 'bash_recorder_execute', key: 'command' },
  pipe_bash: { name: 'bash', key: 'command' },
  phoenix_bash: { name: 'bash', key: 'command' },
  cuff_shell: { name: 'shell_run', key: 'command' },
  claude_code: { name: 'Bash', key: 'command' },
  codex: { name: 'exec_command', key: 'cmd' },
};

function codeOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return isAppError(error) ? error.code : String(error);
  }
}

it('offers every dialect that a server has', () => {
  expect([...DIALECT_NAMES].sort()).toEqual([...SHELLS].sort());
});

describe.each(DIALECT_NAMES)('the dialect %s', (dialect) => {
  it('has a main tool that runs commands, and others that share it', async () => {
    const { options } = home();
    const tool = closing(createBashTool({ dialect, ...options }));
    const { name = '', key = '' } = MAIN[dialect] ?? {};
    expect(tool.name).toBe(name);
    const properties = { [key]: { type: 'string' } };
    expect(tool.inputSchema).toMatchObject({ type: 'object', properties });
    expect(await tool.execute({ [key]: 'echo "it $((40 + 2))"' })).toContain('it 42');
    const answer = await tool.call({ [key]: 'true', no_such_argument: 1 });
    expect(answer).toMatchObject({ isError: true });
    const names = createBashTools({ dialect, ...options }).map((one) => one.name);
    expect(names).toContain(name);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('the tools of a dialect', () => {
  const recorder = (given: Partial<BashToolOptions> = {}) => {
    const { dir, options } = home();
    const tools = createBashTools({ dialect: 'bash_recorder', ...options, ...given });
    const [execute, info, recent] = tools;
    if (!execute || !info || !recent) throw new Error('a tool is missing');
    return { dir, execute: closing(execute), info, recent };
  };

  it('start nothing and write nothing before the first call', async () => {
    const { dir, execute } = recorder();
    expect(readdirSync(dir)).toEqual([]);
    await execute.close();
    expect(readdirSync(dir)).toEqual([]);
  });

  it('share what they remember, and give facts as facts', async () => {
    const { execute, recent } = recorder();
    await execute.execute({ command: 'echo one' });
    const { structured } = await recent.call({});
    expect(structured).toMatchObject({ entries: [{ command: 'echo one' }] });
  });

  it('give the streams and the exit code of pipe_bash apart', async () => {
    const tool = closing(createBashTool({ dialect: 'pipe_bash', ...home().options }));
    const command = 'echo out; echo err >&2; exit 3';
    expect(await tool.call({ command })).toMatchObject({
      isError: true,
      structured: { stdout: 'out\n', stderr: 'err\n', exitCode: 3 },
    });
  });

  it('journal with the agent, the conversation and the call that was named', async () => {
    const { dir, execute } = recorder({
      agentId: 'my-agent',
      conversationId: 'talk-1',
      recording: { directory: 'log' },
    });
    await execute.call({ command: 'echo one' }, { toolCallId: 'call-7' });
    await execute.close();
    const files = readdirSync(join(dir, 'log'), { recursive: true }).map(String);
    const texts = files
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => readFileSync(join(dir, 'log', name), 'utf8'));
    const line =
      texts
        .join('')
        .split('\n')
        .find((text) => text.includes('echo one')) ?? '{}';
    expect(JSON.parse(line)).toMatchObject({
      command: 'echo one',
      agent_id: 'my-agent',
      conversation_id: 'talk-1',
      tool_call_id: 'call-7',
    });
  });

  it('journal where and whether they are told', async () => {
    const off = recorder({ recording: false });
    await off.execute.execute({ command: 'true' });
    expect(readdirSync(off.dir)).toEqual(['state']);
    const there = recorder({ recording: { directory: 'log' }, config: { execution: {} } });
    await there.execute.execute({ command: 'true' });
    expect(readdirSync(join(there.dir, 'log'))).not.toEqual([]);
  });

  it('end a command when their signal is aborted', async () => {
    const { dir, execute } = recorder();
    const controller = new AbortController();
    const call = execute.call({ command: 'touch on; sleep 100' }, { signal: controller.signal });
    while (!existsSync(join(dir, 'on'))) await new Promise((next) => setTimeout(next, 5));
    controller.abort();
    const { text } = await call;
    expect(JSON.parse(text)).toMatchObject({ exit_code: null });
    await expect(
      execute.call({ command: 'true' }, { signal: controller.signal }),
    ).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('are closed together, once, and end what they run', async () => {
    const { dir, execute, info } = recorder();
    const call = execute.call({ command: 'touch on; sleep 100' });
    while (!existsSync(join(dir, 'on'))) await new Promise((next) => setTimeout(next, 5));
    await Promise.all([execute.close(), info.close(), info[Symbol.asyncDispose]()]);
    expect(JSON.parse((await call).text)).toMatchObject({ exit_code: null });
    await expect(execute.execute({ command: 'true' })).rejects.toMatchObject({ code: 'closed' });
  });

  it('take whatever a model sends for its arguments', async () => {
    const { execute } = recorder();
    for (const input of [undefined, null, 'ls', [1], 3]) {
      expect(await execute.call(input as unknown as Record<string, unknown>)).toEqual({
        text: 'command is required: the bash command to execute.',
        isError: true,
      });
    }
  });

  it('are refused for an unknown dialect and for a config it does not take', () => {
    const { options } = home();
    const unknown = { ...options, dialect: 'zsh' as 'bash_recorder' };
    expect(codeOf(() => createBashTool(unknown))).toBe('usage');
    const wrong = { ...options, dialect: 'bash_recorder', config: { no: 1 } } as const;
    expect(codeOf(() => createBashTool(wrong))).toBe('settings_invalid');
  });
});
