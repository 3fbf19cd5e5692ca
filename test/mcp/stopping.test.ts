// How clients end their servers: two signals within milliseconds, or SIGKILL right behind the end
// of input. What was answered is in the journal, and the session says how it ended.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readdirSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { journalSessionIds, readSession } from '../../src/journal/reader.ts';
import type { Entry, SessionMetadata } from '../../src/types.ts';
import { until } from '../cli/helper.ts';
import { LineClient } from './clients.ts';
import { Life } from './life.ts';

type Read = { readonly metadata: SessionMetadata; readonly entries: readonly Entry[] };

class Machine {
  readonly life = new Life();

  get journal(): string {
    return join(this.life.project, '.cuff', 'recordings');
  }

  async server(dialect: string): Promise<LineClient> {
    const { life } = this;
    const client = new LineClient(...life.command('cuff', '--dialect', dialect), life.env);
    life.track(client.child);
    await client.initialize();
    return client;
  }

  /** A command that goes on until the test opens this FIFO. */
  fifo(): string {
    const path = join(this.life.project, 'held');
    execFileSync('mkfifo', [path]);
    return path;
  }

  sessions(): Read[] {
    return journalSessionIds(this.journal).flatMap((id) => readSession(this.journal, id) ?? []);
  }

  entries(): readonly Entry[] {
    return this.sessions().flatMap(({ entries }) => entries);
  }

  temporaries(): string[] {
    const names = readdirSync(this.journal, { recursive: true }).map(String);
    return names.filter((name) => name.endsWith('.tmp'));
  }
}

function execute(client: LineClient, command: string) {
  return client.request('tools/call', { name: 'bash_recorder.execute', arguments: { command } });
}

function kill(client: LineClient, ...signals: readonly NodeJS.Signals[]): Promise<unknown> {
  const exited = once(client.child, 'exit');
  for (const signal of signals) client.child.kill(signal);
  return exited;
}

describe('a server that is told to stop', () => {
  it('takes two signals in a row for one, and ends its session', async () => {
    const machine = new Machine();
    const client = await machine.server('bash_recorder');
    await execute(client, 'echo kept').answer;
    expect(await kill(client, 'SIGINT', 'SIGTERM', 'SIGINT')).toEqual([0, null]);
    expect(machine.sessions()).toMatchObject([
      {
        metadata: { status: 'shutdown', end_reason: 'shutdown', entry_count: 1 },
        entries: [{ command: 'echo kept', exit_code: 0 }],
      },
    ]);
    expect(machine.temporaries()).toEqual([]);
  });

  it('has written the end of its session before it waits for commands', async () => {
    const machine = new Machine();
    const client = await machine.server('bash_recorder');
    await execute(client, 'echo kept').answer;
    const held = machine.fifo();
    const started = join(machine.life.project, 'started');
    // It does not die of the first signal, so that the server has to wait for it.
    execute(client, `trap '' TERM; echo > ${started}; read x < ${held}`);
    await until(() => existsSync(started), 'the command runs');
    client.child.stdin?.end();
    const ended = ({ metadata }: Read): boolean => metadata.status === 'shutdown';
    await until(() => machine.sessions().some(ended), 'the session has its end');
    await kill(client, 'SIGKILL');
    expect(machine.entries()[0]).toMatchObject({ command: 'echo kept' });
    const next = await machine.server('bash_recorder');
    // For reading and writing, which does not wait for the other side.
    const writing = openSync(held, 'r+');
    writeSync(writing, 'go\n');
    await until(() => machine.entries().length === 2, 'the next server wrote its entry');
    closeSync(writing);
    await next.close();
    expect(machine.sessions()[0]?.metadata.status).toBe('shutdown');
  });

  it('killed at any moment after the end of its input has lost nothing', async () => {
    const machine = new Machine();
    const count = 8;
    for (let n = 0; n < count; n += 1) {
      const client = await machine.server('bash_recorder');
      await execute(client, `echo ${n}`).answer;
      client.child.stdin?.end();
      const exited = once(client.child, 'exit');
      setTimeout(() => client.child.kill('SIGKILL'), 2 * n);
      await exited;
    }
    const last = await machine.server('bash_recorder');
    await until(() => machine.temporaries().length === 0, 'temporary files are gone');
    await last.close();
    // One session, which every server went on with. The last may end before it has looked for what
    // those before it left.
    const end_reason = expect.stringMatching(/^shutdown(?:, late entries)?$/);
    expect(machine.sessions()).toMatchObject([
      { metadata: { status: 'shutdown', end_reason, entry_count: count } },
    ]);
    const numbers = machine.entries().map((entry) => entry.sequence_number);
    expect(numbers).toEqual(numbers.map((_, i) => i + 1));
  });

  it('cancels the command that its client was waiting for', async () => {
    const machine = new Machine();
    const client = await machine.server('bash_recorder');
    const held = machine.fifo();
    const started = join(machine.life.project, 'started');
    execute(client, `echo > ${started}; read x < ${held}`);
    await until(() => existsSync(started), 'the command runs');
    const exited = once(client.child, 'exit');
    client.child.stdin?.end(); // Ctrl-C in the client: it is gone
    await exited;
    expect(machine.entries()).toMatchObject([{ end_reason: 'cancelled', exit_code: null }]);
    const session = machine.sessions()[0]?.metadata;
    expect(session).toMatchObject({ status: 'shutdown', end_reason: 'shutdown' });
  });

  it('ends with itself what runs for no caller', async () => {
    const machine = new Machine();
    const client = await machine.server('cuff_shell');
    const held = machine.fifo();
    const args = { command: `read x < ${held}`, wait_ms: 0 };
    const { answer } = client.request('tools/call', { name: 'shell_run', arguments: args });
    await answer;
    expect(await kill(client, 'SIGINT', 'SIGTERM')).toEqual([0, null]);
    expect(machine.entries()).toMatchObject([{ end_reason: 'shutdown' }]);
  });
});
