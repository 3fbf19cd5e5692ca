// OpenAI's `shell_call` and `local_shell_call`, carried out.
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listCaptures } from '../../src/capture/store.ts';
import { createOpenAIShell, type OpenAIShellOptions } from '../../src/index.ts';
import { findRunner } from '../../src/run/binary.ts';
import { openStore } from '../../src/shell/store.ts';
import { until } from '../cli/helper.ts';
import { withTime } from '../pace.ts';
import { lacking } from '../requirements.ts';
import { closing, home } from './home.ts';

const noRunner = lacking(findRunner().kind === 'none', 'there is no native runner here');

function shell(options: OpenAIShellOptions = {}) {
  const { dir, options: house } = home();
  const made = closing(createOpenAIShell({ ...house, ...options }));
  const run = (commands: readonly string[], limits = {}) =>
    made.run({ type: 'shell_call', call_id: 'c1', action: { commands, ...limits } });
  return { dir, made, run };
}

/** Its pids, once it has printed. */
async function firstRun(stateRoot: string): Promise<{ runner: number; child: number }> {
  const store = openStore(stateRoot);
  const look = () => listCaptures(store)[0];
  const indexed = () => statSync(join(look()?.dir ?? '', 'index.jsonl')).size > 0;
  const printed = () => look()?.meta?.child !== undefined && indexed();
  await until(printed, 'the command has printed');
  const { runner, child } = look()?.meta ?? {};
  if (runner === undefined || child === undefined) throw new Error('no runner');
  return { runner: runner.pid, child: child.pid };
}

const exit = (exit_code: number) => ({ type: 'exit', exit_code });

describe('shell_call', () => {
  it('every command has its streams and its end, in order, in a shell of its own', async () => {
    const { run } = shell();
    const commands = [
      'x=1; echo out; echo err >&2',
      'echo "[$x]"; exit 7',
      'kill -KILL $$',
      'true',
    ];
    expect(await run(commands)).toEqual({
      type: 'shell_call_output',
      call_id: 'c1',
      output: [
        { stdout: 'out\n', stderr: 'err\n', outcome: exit(0) },
        { stdout: '[]\n', stderr: '', outcome: exit(7) },
        { stdout: '', stderr: '[ended by SIGKILL]', outcome: exit(137) },
        { stdout: '', stderr: '', outcome: exit(0) },
      ],
    });
  });

  it.skipIf(noRunner)('does not call what was lost a command that did not start', async () => {
    const { dir, run } = shell();
    const answering = run(['echo printed; sleep 100']);
    const { runner, child } = await firstRun(join(dir, 'state'));
    process.kill(runner, 'SIGKILL');
    const { output } = await answering;
    process.kill(-child, 'SIGKILL'); // without its runner nothing ends it
    expect(output).toEqual([
      {
        stdout: 'printed\n',
        stderr:
          '[how it ended is not known: its runner was killed]\n' +
          '[Up to 64 KiB of each stream may be missing at the end: its runner was killed]',
        outcome: exit(-1),
      },
    ]);
  });

  it('the time of a call is for all its commands; what is left of them does not run', async () => {
    const { run } = shell();
    const commands = ['echo one', 'echo so far; sleep 100', 'echo never'];
    const attempt = async (timeout_ms: number) => (await run(commands, { timeout_ms })).output;
    const output = await withTime(
      3_000,
      attempt,
      ([, second]) => second?.stdout !== undefined && second.stdout !== '',
    );
    expect(output).toEqual([
      { stdout: 'one\n', stderr: '', outcome: exit(0) },
      {
        stdout: 'so far\n',
        stderr: expect.stringMatching(
          /^\[timed out after [\d.]+m?s; every process of it was ended\]$/,
        ),
        outcome: { type: 'timeout' },
      },
    ]);
  });

  it('gives back the length that was asked for, and cuts to it', async () => {
    const { run } = shell();
    const answer = await run(['seq 1 10000'], { max_output_length: 200 });
    expect(answer.max_output_length).toBe(200);
    expect(answer.output[0]?.stdout).toMatch(/^1\n2\n.*bytes left out.*\n10000\n$/s);
    expect(answer.output[0]?.stdout.length).toBeLessThan(500);
  });

  it('withholds the keys of model providers', async () => {
    const { run } = shell({ env: { PATH: process.env.PATH, OPENAI_API_KEY: 'k', OTHER: 'o' } });
    const { output } = await run(['echo "[$OPENAI_API_KEY][$OTHER]"']);
    expect(output[0]?.stdout).toBe('[][o]\n');
  });

  it('ends with its signal, and not after its closing', async () => {
    const { made } = shell();
    const call = { type: 'shell_call', call_id: 'c', action: { commands: ['true'] } } as const;
    const signal = AbortSignal.abort();
    await expect(made.run(call, { signal })).rejects.toMatchObject({ code: 'cancelled' });
    await made.close();
    await expect(made.run(call)).rejects.toMatchObject({ code: 'closed' });
  });
});

describe('local_shell_call', () => {
  it('runs the words as they are, with their environment and directory', async () => {
    const { dir, made } = shell();
    mkdirSync(join(dir, 'sub'));
    const command = ['printf', '%s|%s\n', "it's $HOME", '*; exit 3'];
    const words = { type: 'exec', command, env: {} } as const;
    const first = await made.runLocal({ type: 'local_shell_call', call_id: 'c1', action: words });
    expect(first).toEqual({
      type: 'local_shell_call_output',
      id: 'c1',
      output: JSON.stringify({ stdout: "it's $HOME|*; exit 3\n", stderr: '', outcome: exit(0) }),
    });
    const action = {
      command: ['bash', '-lc', 'echo $FOO; pwd'],
      env: { FOO: 'bar' },
      working_directory: join(dir, 'sub'),
      timeout_ms: null,
    };
    const second = await made.runLocal({ type: 'local_shell_call', call_id: 'c2', action });
    expect(JSON.parse(second.output).stdout).toBe(`bar\n${dir}/sub\n`);
    const gone = { ...action, working_directory: join(dir, 'none') };
    const third = await made.runLocal({ type: 'local_shell_call', call_id: 'c3', action: gone });
    expect(JSON.parse(third.output)).toEqual({
      stdout: '',
      stderr: expect.stringContaining(`${dir}/none`),
      outcome: exit(126),
    });
  });
});
