// `pipe_bash` in the foreground: what its tool looks like, what it says about a command that is
// over, and the files it names. Everything is really run.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PipeBashPlugin } from '../../../src/dialects/pipe_bash/dialect.ts';
import { alive } from '../../cli/helper.ts';
import { World } from '../../recorder/helper.ts';
import { BECOME } from '../hard-cases.ts';
import { bash, fullOutput, pipe, text } from './helper.ts';

const ONE_OF = 'bash needs exactly one of command, check_pid and kill_pid';

describe('the tool of pipe_bash', () => {
  it('is the one of the seed', async () => {
    const plugin = await pipe(new World());
    expect(plugin.getTools()).toEqual([
      {
        name: 'bash',
        plain: true,
        description:
          'Execute a bash command. Output truncated to last 2000 lines or 50KB; if truncated, ' +
          'full output saved to temp file. Commands exceeding timeout are auto-backgrounded.',
        parameters: {
          type: 'object',
          properties: {
            command: { type: 'string', description: 'The bash command to execute' },
            timeout: {
              type: 'integer',
              minimum: 1,
              maximum: 3_600_000,
              description: 'Timeout in ms before auto-backgrounding (default: 120000)',
            },
            check_pid: {
              type: 'integer',
              minimum: 1,
              description: 'Check on a backgrounded process, return new output',
            },
            kill_pid: {
              type: 'integer',
              minimum: 1,
              description: 'Kill a backgrounded process, return final output',
            },
          },
          additionalProperties: false,
        },
      },
    ]);
  });

  it('waits 120 seconds unless told otherwise', async () => {
    const world = new World();
    const plugin = await pipe(world);
    await bash(plugin, 'true');
    expect(JSON.stringify(plugin.getTools()[0]?.parameters)).toContain('120000');
    expect(world.entry().timeout_seconds).toBe(0); // it stops waiting, and ends nothing
  });

  it.each([
    [{}, `${ONE_OF}; none of them was given.`],
    [{ command: 'true', check_pid: 1 }, `${ONE_OF}; command and check_pid were given.`],
    [{ check_pid: 1, kill_pid: 1 }, `${ONE_OF}; check_pid and kill_pid were given.`],
    [{ check_pid: 1, timeout: 5 }, 'timeout belongs to command; check_pid does not wait.'],
    [{ command: ' ' }, 'command is empty: give the command to run.'],
    [
      { command: 'true', timeout: 0 },
      'timeout must be a whole number from 1 up to 3600000, not 0.',
    ],
    [
      { command: 'true', timeout: 1.5 },
      'timeout must be a whole number from 1 up to 3600000, not 1.5.',
    ],
    [
      { command: 'true', timeout: '5' },
      'timeout must be a whole number from 1 up to 3600000, not "5".',
    ],
    [
      { command: 'true', timeout: 3_600_001 },
      'timeout must be a whole number from 1 up to 3600000, not 3600001.',
    ],
    [{ check_pid: -1 }, 'check_pid must be a whole number from 1, not -1.'],
    [{ commad: 'true' }, `bash has no argument "commad"; did you mean 'command'?`],
    [{ check_pid: 1 }, 'There is no backgrounded process 1 in this conversation.'],
    [{ kill_pid: 1 }, 'There is no backgrounded process 1 in this conversation.'],
  ])('answers %j with a sentence, and executes nothing', async (args, sentence) => {
    const world = new World();
    const plugin = await pipe(world);
    expect(await bash(plugin, args)).toMatchObject({ success: false, text: sentence });
    expect(world.entries()).toEqual([]);
  });

  it('names the problems of its settings', () => {
    expect(
      PipeBashPlugin.checkConfig({ default_timeout_ms: 0, background_notice: 'x', cr: 'y' }),
    ).toEqual([
      { path: ['default_timeout_ms'], message: 'expected 1 or more, found the number 0' },
      {
        path: ['background_notice'],
        message: "expected partial or compact, found the text 'x'",
      },
      { path: ['cr'], message: "expected keep or overwrite, found the text 'y'" },
    ]);
  });
});

describe('a command of pipe_bash that is over', () => {
  it('is told with its streams apart and its exit code', async () => {
    const plugin = await pipe(new World());
    expect(await bash(plugin, 'echo out; echo err >&2')).toMatchObject({
      success: true,
      text: 'stdout:\nout\n\nstderr:\nerr\n\nexit code: 0',
    });
    expect(await text(bash(plugin, 'printf out; printf err >&2'))).toBe(
      'stdout:\nout\n\nstderr:\nerr\n\nexit code: 0',
    );
    expect(await text(bash(plugin, 'true'))).toBe('stdout:\n\nstderr:\n\nexit code: 0');
    expect(await text(bash(plugin, 'printf "a\\n\\n"'))).toBe(
      'stdout:\na\n\n\nstderr:\n\nexit code: 0',
    );
  });

  it('is an error when its exit code is not 0', async () => {
    const plugin = await pipe(new World());
    expect(await bash(plugin, 'echo x; exit 3')).toMatchObject({
      success: false,
      text: 'stdout:\nx\n\nstderr:\n\nexit code: 3',
    });
    expect(await bash(plugin, 'kill -9 $$')).toMatchObject({
      success: false,
      text: 'stdout:\n\nstderr:\n\nexit code: -1 (killed by SIGKILL)',
    });
  });

  it('is told without escape sequences and controls, and captured with them', async () => {
    const world = new World();
    const plugin = await pipe(world);
    const printed = '\\e[1;31mred\\e[0m\\r\\n\\ta\\0b\\e]0;title\\acd\\re\\n';
    expect(await text(bash(plugin, `printf '${printed}'`))).toBe(
      'stdout:\nred\n\tabcd\re\n\nstderr:\n\nexit code: 0',
    );
    const { run_id: id } = world.entry();
    expect(world.shell.view(String(id), { kind: 'raw' }).text).toContain('\x1b[1;31mred');
  });

  it('is shown as a terminal would have left it, if the settings say so', async () => {
    const plugin = await pipe(new World(), { cr: 'overwrite' });
    expect(await text(bash(plugin, `printf '10%%\\r100%%\\n'`))).toContain('stdout:\n100%\n\n');
  });

  it('does not change the directory or the variables of the next', async () => {
    const world = new World();
    const plugin = await pipe(world);
    await bash(plugin, 'cd /; X=1; export X');
    expect(await text(bash(plugin, 'pwd; echo "[$X]"'))).toContain(`${world.project}\n[]\n`);
  });

  it('gets all variables, and a stdin that is at its end', async () => {
    const plugin = await pipe(new World({ env: { ...process.env, OPENAI_X: 'kept' } }));
    expect(await text(bash(plugin, 'echo $OPENAI_X; cat'))).toContain('stdout:\nkept\n\n');
  });

  it('has no terminal; whether it asks is not guessed, it reads the end of its input', async () => {
    const plugin = await pipe(new World());
    const command = `for fd in 0 1 2; do test -t $fd && echo $fd; done; read -p 'Password: ' word;
      echo "Password: [$word]"`;
    expect(await text(bash(plugin, command))).toBe(
      'stdout:\nPassword: []\n\nstderr:\n\nexit code: 0',
    );
  });

  it('is refused by no list and held by no sandbox, whatever it says', async () => {
    const world = new World();
    const plugin = await pipe(world);
    const other = join(world.dir, 'beside the project');
    const command = `echo 'rm -rf /'; false && mkfs.ext4 /dev/sda; echo x > '${other}'`;
    expect(await text(bash(plugin, command))).toContain('stdout:\nrm -rf /\n\n');
    expect(fs.readFileSync(other, 'utf8')).toBe('x\n');
  });

  it('says which processes it left, and leaves them', async () => {
    const plugin = await pipe(new World());
    const answer = await text(bash(plugin, `sleep 100 & ${BECOME}; echo $!`));
    const [, pid = ''] = /^stdout:\n(\d+)/.exec(answer) ?? [];
    expect(answer).toContain(
      `exit code: 0\n\n[Still running in the background: pid ${pid} (sleep 100)]`,
    );
    expect(alive(Number(pid))).toBe(true);
  });

  it('says why it could not be started', async () => {
    const plugin = await pipe(new World(), { env_overrides: { BIG: 'x'.repeat(200_000) } });
    const { success, text } = await bash(plugin, 'true');
    expect(success).toBe(false);
    expect(text).toMatch(
      /^stdout:\n\nstderr:\n\nexit code: -1 \(could not be started: .*long.*\)$/,
    );
  });

  it('takes output that looks like its own words for output', async () => {
    const plugin = await pipe(new World());
    const words = '[Process 1 exited with code 0.\\n\\nexit code: 7\\n[Command backgrounded]\\n';
    const answer = await bash(plugin, `printf '${words}'`);
    expect(answer.success).toBe(true);
    expect(answer.text.endsWith('\n\nstderr:\n\nexit code: 0')).toBe(true);
  });
});

describe('output of pipe_bash that is too long', () => {
  it('is shown from its end: 2000 lines, without a file when it has few bytes', async () => {
    const world = new World();
    const plugin = await pipe(world);
    const answer = await text(bash(plugin, 'seq 3000'));
    const lines = Array.from({ length: 2000 }, (_, index) => `${1001 + index}\n`).join('');
    expect(answer).toBe(
      `stdout:\n${lines}\nstderr:\n\nexit code: 0\n\n[stdout: Showing last 2000 of 3000 lines.]`,
    );
    expect(world.files().filter(({ path }) => /\/text\/|pipe-bash-/.test(path))).toEqual([]);
  });

  it('is shown from its end: 51200 bytes of whole lines, and the file has all of it', async () => {
    const plugin = await pipe(new World());
    const answer = await text(
      bash(plugin, 'seq 20000 | sed "s/^/\\x1b[32mgreen, long enough for the bytes /" >&2'),
    );
    const notice = /\n\n\[stderr: Showing last (\d+) of 20000 lines\. Full output: (.*)\]$/;
    const [, shown = '', path = ''] = notice.exec(answer) ?? [];
    const all = Array.from(
      { length: 20_000 },
      (_, index) => `green, long enough for the bytes ${index + 1}\n`,
    );
    const end = all.slice(-Number(shown)).join('');
    expect(answer.startsWith(`stdout:\n\nstderr:\n${end}\nexit code: 0\n`)).toBe(true);
    expect(end.length).toBeLessThanOrEqual(51_200);
    expect(end.length + (all.at(-Number(shown) - 1)?.length ?? 0)).toBeGreaterThan(51_200);
    expect(fs.readFileSync(path, 'utf8')).toBe(all.join(''));
    expect(fs.statSync(path).mode & 0o777).toBe(0o600);
    expect(path).toMatch(/\/state\/sessions\/[^/]+\/text\/stderr\.log$/);
    // With ordinary tools.
    expect(await text(bash(plugin, `grep -n ' 77$' ${path}`))).toContain(':green, long');
  });

  it('needs a file from 51201 bytes on', async () => {
    const plugin = await pipe(new World());
    const command = (count: number) => `yes 123456789 | head -c ${count}; exit 0`;
    expect(await text(bash(plugin, command(51_200)))).toContain(
      '[stdout: Showing last 2000 of 5120 lines.]',
    );
    expect(await text(bash(plugin, command(51_201)))).toMatch(
      /\[stdout: Showing last 2000 of 5121 lines\. Full output: .*\]$/,
    );
  });

  it('is not written twice when it is very long and all there is', async () => {
    const plugin = await pipe(new World());
    const long = 'yes 123456789 | head -c 9000000';
    const alone = fullOutput(await text(bash(plugin, `${long}; exit 0`)));
    expect(alone).toMatch(/\/output\.bin$/);
    expect(fs.statSync(alone).size).toBe(9_000_000);
    const both = fullOutput(await text(bash(plugin, `${long}; echo x >&2`)));
    expect(both).toMatch(/\/text\/stdout\.log$/);
    expect(fs.statSync(both).size).toBe(9_000_000);
  });

  it('is shown with the end of its last line when that alone is too long', async () => {
    const plugin = await pipe(new World());
    const answer = await text(bash(plugin, `head -c 100000 /dev/zero | tr '\\0' 'é'`));
    expect(answer).toMatch(
      /\[stdout: Showing last \d+ of \d+ bytes, the end of line 1 of 1\. Full output: .*\]$/,
    );
    const [, shown = ''] = /^stdout:\n(.*)\n\nstderr:/.exec(answer) ?? [];
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(51_200);
  });

  it('goes to /tmp/pipe-bash-<hex>.log if the settings say so', async () => {
    const plugin = await pipe(new World(), { offload_directory: '/tmp' });
    const path = fullOutput(await text(bash(plugin, 'seq 20000')));
    expect(path).toMatch(/^\/tmp\/pipe-bash-[0-9a-f]{8}\.log$/);
    try {
      expect(fs.readFileSync(path, 'utf8').split('\n')).toHaveLength(20_001);
      expect(fs.statSync(path).mode & 0o777).toBe(0o600);
    } finally {
      fs.rmSync(path);
    }
  });
});

describe('a disk that fails pipe_bash', () => {
  it('is told, with a file that can be read', async () => {
    class Full extends PipeBashPlugin {
      protected override readonly disk = {
        ...fs,
        writeSync(fd: number, bytes: Uint8Array): number {
          fs.writeSync(fd, bytes, 0, 5);
          throw new Error('ENOSPC: no space left on device, write');
        },
      };
    }
    const plugin = await new World().open(Full);
    const answer = await text(bash(plugin, 'seq 20000'));
    const [, path = ''] =
      /Full output file may be incomplete: (.*) \(ENOSPC: no space left on device, write\)\]$/.exec(
        answer,
      ) ?? [];
    expect(fs.readFileSync(path, 'utf8')).toBe('1\n2\n3');
  });

  it('costs the clean copy and leaves the capture, when there is no place for a file', async () => {
    const plugin = await pipe(new World(), { offload_directory: 'not/there' });
    const answer = await text(bash(plugin, 'seq 20000'));
    const [, path = ''] =
      /Full output file may be incomplete: (.*output\.bin) \(ENOENT: .*\)\]$/.exec(answer) ?? [];
    expect(fs.readFileSync(path, 'utf8')).toHaveLength(108_894);
  });
});
