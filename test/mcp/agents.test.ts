// A stand-in for a model works on a small real task in every dialect, over MCP: it clones a
// repository, finds its test failing, repairs it, watches something in the background, and commits.
// It knows nothing but the names and arguments of its tools. The journal shows every command.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { journalSessionIds, readSession } from '../../src/journal/reader.ts';
import { until } from '../cli/helper.ts';
import { CLIENTS, type TestClient } from './clients.ts';
import { Life } from './life.ts';

/** How the same three wishes are said in a dialect. */
type Speech = {
  readonly tool: string;
  readonly args: (command: string) => Readonly<Record<string, unknown>>;
  /** Starts it and comes back; gives the words that end it again. */
  readonly background: (
    client: TestClient,
    command: string,
  ) => Promise<{ readonly end: () => Promise<string> }>;
};

function found(text: string, pattern: RegExp): string {
  const [, group] = pattern.exec(text) ?? [];
  if (group === undefined) throw new Error(`no ${pattern} in: ${text}`);
  return group;
}

const SPEECHES: Readonly<Record<string, Speech>> = {
  pipe_bash: {
    tool: 'bash',
    args: (command) => ({ command }),
    async background(client, command) {
      const { text } = await client.call('bash', { command, timeout: 300 });
      const kill_pid = Number(found(text, /\(pid (\d+)\)/));
      return { end: async () => (await client.call('bash', { kill_pid })).text };
    },
  },
  phoenix_bash: {
    tool: 'bash',
    args: (command) => ({ command, slow_ok: true }),
    async background(client, command) {
      const { text } = await client.call('bash', { command, background: true });
      const stop = found(text, /To stop: (kill -9 -\d+)/);
      const file = found(text, /<output_file>(.*)<\/output_file>/);
      return {
        async end() {
          await client.call('bash', { command: stop });
          await until(() => spawnSync('grep', ['-q', 'SIGKILL', file]).status === 0, 'it is over');
          return (await client.call('bash', { command: `cat ${file}` })).text;
        },
      };
    },
  },
  cuff_shell: {
    tool: 'shell_run',
    args: (command) => ({ command, wait_ms: 120_000 }),
    async background(client, command) {
      const { text } = await client.call('shell_run', { command, wait_ms: 300 });
      const id = found(text, /"id": ?"([^"]+)"/);
      const end = async () => {
        const killed = await client.call('shell_kill', { id });
        return text + killed.text + (await client.call('shell_read', { id })).text;
      };
      return { end };
    },
  },
  claude_code: {
    tool: 'Bash',
    args: (command) => ({ command, description: 'as the task says' }),
    async background(client, command) {
      const { text } = await client.call('Bash', { command, run_in_background: true });
      const shell_id = found(text, /ID: (bash_\d+)/);
      return {
        async end() {
          let heard = '';
          // What it has printed may still be on its way into the capture.
          for (let i = 0; i < 1_000 && !heard.includes('watching'); i += 1) {
            heard += (await client.call('BashOutput', { bash_id: shell_id })).text;
          }
          return heard + (await client.call('KillShell', { shell_id })).text;
        },
      };
    },
  },
  codex: {
    tool: 'exec_command',
    args: (cmd) => ({ cmd, login: false, yield_time_ms: 30_000 }),
    async background(client, cmd) {
      const first = await client.call('exec_command', { cmd, tty: true, yield_time_ms: 400 });
      const session_id = Number(found(first.text, /session ID (\d+)/));
      // It comes back with the end of the command, and then all is told that it printed.
      const stop = { session_id, chars: '\u0003', yield_time_ms: 30_000 };
      return { end: async () => first.text + (await client.call('write_stdin', stop)).text };
    },
  },
};

const GIT = 'git -c user.name=Agent -c user.email=agent@example.org';

/** A repository with a bug and a test that shows it. */
function repository(life: Life): string {
  const path = join(life.cli.root, 'origin');
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'price.sh'), '#!/bin/sh\necho $(($1 * $2 + 1))\n');
  writeFileSync(join(path, 'test.sh'), '#!/bin/sh\ntest "$(sh price.sh 2 250)" = 500 || exit 1\n');
  const make = `git init -q . && git add . && ${GIT} commit -qm first`;
  const { status, stderr } = spawnSync('sh', ['-c', make], { cwd: path });
  if (status !== 0) throw new Error(String(stderr));
  return path;
}

/** A dialect may name a co-author in a commit; the rest is what was asked for. */
function withoutTrailer(command: string): string {
  return command.replace(/ -c trailer\.\S+( commit) --trailer '[^']*'/, '$1');
}

describe.each(Object.entries(SPEECHES))('an agent that speaks %s', (dialect, speech) => {
  it('does its task, and the journal has every command', async () => {
    const life = new Life();
    const origin = repository(life);
    const client = await life.connect(
      CLIENTS['SDK v2, 2025'] as never,
      'cuff',
      '--dialect',
      dialect,
    );
    const names = (await client.listTools()).map(({ name }) => name);
    expect(names).toContain(speech.tool);
    expect(names).not.toContain('bash_recorder_execute');

    const asked: string[] = [];
    const run = async (command: string) => {
      asked.push(command);
      return client.call(speech.tool, speech.args(command));
    };
    await run(`git clone -q ${origin} shop`);
    const failing = await run('(cd shop && sh test.sh); echo "status: $?"');
    expect(failing.text).toContain('status: 1');
    expect((await run('cat shop/price.sh')).text).toContain('$(($1 * $2 + 1))');
    await run("sed -i 's/ + 1//' shop/price.sh");
    expect((await run('(cd shop && sh test.sh); echo "status: $?"')).text).toContain('status: 0');
    const watcher = 'echo watching; touch printed; sleep 300';
    asked.push(watcher);
    const background = await speech.background(client, watcher);
    await until(() => existsSync(join(life.project, 'printed')), 'it watches');
    expect(await background.end()).toContain('watching');
    const commit = await run(
      `(cd shop && ${GIT} commit -qam 'price: no tip' && git log -1 --format=%s)`,
    );
    expect(commit.text).toContain('price: no tip');
    const missing = await run('cat no-such-file');
    expect(missing.text).toContain('No such file');

    const journal = join(life.project, '.cuff', 'recordings');
    const found = () =>
      journalSessionIds(journal).flatMap((id) => readSession(journal, id)?.entries ?? []);
    const commands = () => found().map(({ command }) => withoutTrailer(command));
    // A client that hangs up kills a server that takes more than a few seconds to end.
    await until(() => asked.every((one) => commands().includes(one)), 'all have their entry');
    await client.close();
    expect(commands()).toEqual(expect.arrayContaining(asked));
    const entries = found();
    expect(entries.find(({ command }) => command === watcher)?.end_reason).not.toBe('timeout');
    expect(entries.find(({ command }) => command === 'cat no-such-file')?.exit_code).toBe(1);
  });
});
