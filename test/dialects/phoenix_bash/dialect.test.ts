// `phoenix_bash` in the foreground: what its tool looks like, the order of a call, what it says
// about a command that is over or was killed at its deadline. Everything is really run.

import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PhoenixBashPlugin } from '../../../src/dialects/phoenix_bash/dialect.ts';
import { phoenixCall } from '../../../src/dialects/phoenix_bash/tools.ts';
import type { Shell } from '../../../src/shell/shell.ts';
import { alive } from '../../cli/helper.ts';
import { FACT_MS_MAX, withTime } from '../../pace.ts';
import { bash, newWorld, phoenix, text } from './helper.ts';

describe('the tool of phoenix_bash', () => {
  it('is the one of the seed, with the working directory at the end', async () => {
    const world = newWorld();
    const plugin = await phoenix(world);
    expect(plugin.getTools()).toEqual([
      {
        name: 'bash',
        plain: true,
        description: `Executes shell commands via bash -c, returning combined stdout/stderr.
Bash state changes (working dir, variables, aliases) don't persist between calls.

With background=true, returns immediately with output redirected to a file.
Use background for servers/demos that need to stay running.

MUST set slow_ok=true for potentially slow commands: builds, downloads,
installs, tests, or any other substantive operation.

IMPORTANT: Keep commands concise. The command input must be less than 60k tokens.
For complex scripts, write them to a file first and then execute the file.

<pwd>${world.project}</pwd>`,
        parameters: {
          type: 'object',
          required: ['command'],
          properties: {
            command: { type: 'string', description: 'Shell command to execute via bash -c' },
            slow_ok: {
              type: 'boolean',
              description: 'Use extended 15-minute timeout for builds, tests, installs',
            },
            background: {
              type: 'boolean',
              description: 'Run detached, return immediately with PID and output file',
            },
          },
          additionalProperties: false,
        },
      },
    ]);
  });

  it('has a description that follows the working directory of the settings', async () => {
    const world = newWorld();
    fs.mkdirSync(join(world.project, 'sub'));
    const plugin = await phoenix(world);
    await plugin.onConfigReload({ working_directory: 'sub' });
    const [tool] = plugin.getTools();
    expect(tool?.description.endsWith(`\n\n<pwd>${world.project}/sub</pwd>`)).toBe(true);
    expect(await text(bash(plugin, 'pwd'))).toBe(`${world.project}/sub\n`);
  });

  it.each([
    [{}, 'bash needs the argument command: Shell command to execute via bash -c.'],
    [{ command: '' }, 'command is empty: give the command to run.'],
    [{ command: 'true', slow_ok: 'yes' }, 'slow_ok must be true or false, not "yes".'],
    [{ command: 'true', background: 1 }, 'background must be true or false, not 1.'],
    [{ command: 'true', slow: true }, `bash has no argument "slow"; did you mean 'slow_ok'?`],
    [
      { command: 'true', timeout: 5 },
      'bash has no argument "timeout"; known are command, slow_ok, background.',
    ],
  ])('answers %j with a sentence, and executes nothing', async (args, sentence) => {
    const world = newWorld();
    expect(await bash(await phoenix(world), args)).toEqual({ success: false, text: sentence });
    expect(world.entries()).toEqual([]);
  });

  it('names the problems of its settings', () => {
    const given = { timeout_seconds: 0, slow_timeout_seconds: 1.5, co_author: 'a\nb' };
    expect(PhoenixBashPlugin.checkConfig(given).map(({ path }) => path)).toEqual([
      ['timeout_seconds'],
      ['slow_timeout_seconds'],
      ['co_author'],
    ]);
    expect(PhoenixBashPlugin.checkConfig({ co_author: false })).toEqual([]);
  });
});

describe('the order of a call to phoenix_bash', () => {
  it('is: working directory, safety, co-author, execution', async () => {
    const world = newWorld();
    const plugin = await phoenix(world, { working_directory: 'gone' });
    const gone = join(world.project, 'gone');
    for (const command of ['exit; rm -rf /', 'true']) {
      for (const background of [false, true]) {
        expect(await bash(plugin, { command, background })).toEqual({
          success: false,
          text: `Working directory does not exist: ${gone} (conversation may need to be recreated)`,
        });
      }
    }
    fs.mkdirSync(gone);
    expect(await bash(plugin, 'exit; rm -rf / && git commit')).toEqual({
      success: false,
      text: 'Command contains dangerous pattern: rm -rf /',
    });
    expect(await text(bash(plugin, 'pwd'))).toBe(`${gone}\n`);
    fs.rmdirSync(gone);
    expect((await bash(plugin, 'pwd')).text).toContain('Working directory does not exist');
  });

  it('says of a file that it is no directory', async () => {
    const world = newWorld();
    fs.writeFileSync(join(world.project, 'file'), '');
    const plugin = await phoenix(world, { working_directory: 'file' });
    expect(await bash(plugin, 'true')).toEqual({
      success: false,
      text: `Working directory is not a directory: ${join(world.project, 'file')}`,
    });
  });

  it.each([
    ['rm -rf /', 'rm -rf /'],
    ['rm -rf /*', 'rm -rf /*'],
    ['echo x > /dev/sda', '> /dev/sda'],
    ['mkfs.ext4 /dev/sda1', 'mkfs.'],
    ['dd if=/dev/zero of=/dev/sda', 'dd if=.* of=/dev/'],
  ])('does not execute %s, in the background neither', async (command, pattern) => {
    // Should it be executed all the same, `exit` comes first.
    const world = newWorld();
    const plugin = await phoenix(world);
    for (const background of [false, true]) {
      const answer = await bash(plugin, { command: `touch ran; exit; ${command}`, background });
      expect(answer).toEqual({
        success: false,
        text: `Command contains dangerous pattern: ${pattern}`,
      });
    }
    expect(fs.existsSync(join(world.project, 'ran'))).toBe(false);
    const denied = { command: `touch ran; exit; ${command}`, end_reason: 'denied', run_id: null };
    expect(world.entries()).toMatchObject([denied, denied]);
  });

  it('executes what only looks dangerous', async () => {
    const world = newWorld();
    const plugin = await phoenix(world);
    expect(await text(bash(plugin, 'echo "rm -rf /"'))).toBe('rm -rf /\n');
    fs.mkdirSync(join(world.project, 'x'));
    await text(bash(plugin, `rm -rf ${world.project}/x`));
    expect(fs.existsSync(join(world.project, 'x'))).toBe(false);
  });
});

describe('a command of phoenix_bash that is over', () => {
  it('is told by its output, both streams in their order', async () => {
    const plugin = await phoenix(newWorld());
    const command = 'for i in 1 2 3; do echo out$i; echo err$i >&2; done';
    expect(await bash(plugin, command)).toEqual({
      success: true,
      text: 'out1\nerr1\nout2\nerr2\nout3\nerr3\n',
    });
    expect(await bash(plugin, 'true')).toEqual({ success: true, text: '' });
    expect(await text(bash(plugin, 'cat; printf "\\e[1mx"'))).toBe('\x1b[1mx');
  });

  it('is an error with its exit code and its output when that is not 0', async () => {
    const plugin = await phoenix(newWorld());
    expect(await bash(plugin, 'echo out; echo err >&2; exit 3')).toEqual({
      success: false,
      text: '[command failed: exit code 3]\nout\nerr\n',
    });
    expect((await bash(plugin, 'false')).text).toBe('[command failed: exit code 1]\n');
  });

  it('has exit code -1 when a signal killed it', async () => {
    const plugin = await phoenix(newWorld());
    expect(await bash(plugin, 'echo x; kill -SEGV $$')).toEqual({
      success: false,
      text: '[command failed: exit code -1]\nx\n',
    });
  });

  it('is told apart from one that could not be started', async () => {
    const plugin = await phoenix(newWorld(), { env_overrides: { BIG: 'x'.repeat(200_000) } });
    const { success, text } = await bash(plugin, 'true');
    expect(success).toBe(false);
    expect(text).toMatch(/^\[command could not be started: .*\]$/);
    const later = await bash(plugin, { command: 'true', background: true });
    expect(later).toEqual({ success, text });
  });

  it('gets no secrets and editors that fail, also in the background', async () => {
    const secrets = { ANTHROPIC_API_KEY: 'a', OPENAI_KEY: 'b', PHOENIX_X: 'c', PLAIN: 'yes' };
    const plugin = await phoenix(newWorld(secrets));
    const command = `env | grep -E '^(ANTHROPIC|OPENAI|PHOENIX|PLAIN|EDITOR|VISUAL)' | sort`;
    const seen = 'EDITOR=/bin/false\nPLAIN=yes\nVISUAL=/bin/false\n';
    expect(await text(bash(plugin, command))).toBe(seen);
    const { text: answer } = await bash(plugin, { command, background: true });
    const path = /<output_file>(.*)</.exec(answer)?.[1] ?? '';
    await expect
      .poll(() => fs.readFileSync(path, 'utf8'), { timeout: FACT_MS_MAX })
      .toBe(`${seen}\n\n[background process completed]\n`);
  });
});

describe('the deadline of phoenix_bash', () => {
  it('is 30 seconds, and 900 with slow_ok', async () => {
    const world = newWorld();
    const plugin = await phoenix(world);
    await bash(plugin, 'true');
    await bash(plugin, { command: 'true', slow_ok: true });
    await bash(plugin, { command: 'true', slow_ok: false });
    const deadlines = world.shell.list().map(({ meta }) => meta?.killAfterMs);
    expect(deadlines.sort()).toEqual([30_000, 30_000, 900_000]);
    expect(world.entries().map((entry) => entry.timeout_seconds)).toEqual([30, 900, 30]);
  });

  it('is what the settings say', () => {
    const settings = { timeout_seconds: 7, slow_timeout_seconds: 70 };
    const call = (args: Record<string, unknown>) =>
      phoenixCall({ command: 'x', ...args }, settings);
    expect(call({})).toEqual({ command: 'x', background: false, timeoutSeconds: 7 });
    expect(call({ slow_ok: true }).timeoutSeconds).toBe(70);
    expect(call({ background: true }).background).toBe(true);
  });

  it('kills everything and gives what was printed until then', async () => {
    const killed = async (ms: number) => {
      const world = newWorld();
      const plugin = await phoenix(world, { timeout_seconds: ms / 1000 });
      const answer = await bash(
        plugin,
        `trap '' TERM; (trap '' TERM; echo $BASHPID; sleep 100) & setsid sleep 101 & echo $!; wait`,
      );
      const head = `[command timed out after ${ms / 1000}s]\n`;
      const printed = answer.text.startsWith(head) ? answer.text.slice(head.length) : '';
      const pids = /^(\d+)\n(\d+)\n$/.exec(printed)?.slice(1).map(Number) ?? [];
      return { world, success: answer.success, pids };
    };
    const said = await withTime(3_000, killed, ({ pids }) => pids.length > 0);
    const { world, success, pids } = said;
    expect(success).toBe(false);
    expect(pids).toHaveLength(2);
    expect(pids.filter(alive)).toEqual([]);
    expect(world.entry()).toMatchObject({ timed_out: true, end_reason: 'timeout' });
  });

  it('is told in seconds, 30 and 900, by a clock that goes a thousand times as fast', async () => {
    const world = newWorld();
    const graces: unknown[] = [];
    const fast: Shell = {
      ...world.shell,
      start(command, { killAfterMs = 0, ...options } = {}) {
        graces.push(options.graceMs);
        return world.shell.start(command, { ...options, killAfterMs: killAfterMs / 1000 });
      },
    };
    const config = { environment: 'inherit' }; // the shell that is lent
    const plugin = new PhoenixBashPlugin(config, { ...world.services, shell: () => fast });
    await plugin.initialize();
    const [soon, late] = await Promise.all([
      bash(plugin, 'sleep 100'),
      bash(plugin, { command: 'sleep 100', slow_ok: true }),
    ]);
    await plugin.shutdown();
    expect(soon).toEqual({ success: false, text: '[command timed out after 30s]' });
    expect(late).toEqual({ success: false, text: '[command timed out after 900s]' });
    expect(graces).toEqual([0, 0]); // so that it is killed at once
  });

  it('is told alone when nothing was printed', async () => {
    const plugin = await phoenix(newWorld(), { slow_timeout_seconds: 1 });
    expect(await bash(plugin, { command: 'sleep 100', slow_ok: true })).toEqual({
      success: false,
      text: '[command timed out after 1s]',
    });
  });
});
