// A project with a policy, the built server in it, and a person at a terminal beside it.
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { until } from '../cli/helper.ts';
import { CLIENTS, type Connect, type TestClient } from './clients.ts';
import { Life } from './life.ts';
import type { AskedClient, AskedConnect, Person, Said } from './policy-clients.ts';

export type Fact = Readonly<Record<string, unknown>>;

export class Guarded extends Life {
  constructor(policy?: string) {
    super();
    mkdirSync(join(this.project, '.cuff'));
    if (policy !== undefined) this.policy(policy);
  }

  policy(text: string): void {
    writeFileSync(join(this.project, '.cuff', 'new'), text);
    renameSync(join(this.project, '.cuff', 'new'), join(this.project, '.cuff', 'policy.yml'));
  }

  get policyText(): string {
    return readFileSync(join(this.project, '.cuff', 'policy.yml'), 'utf8');
  }

  /** What the servers of this state root have logged. */
  get log(): string {
    const file = join(this.cli.root, 'logs', 'cuff.log');
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }

  async asked(connect: AskedConnect, person: Person, dialect = 'cuff_shell'): Promise<AskedClient> {
    const command = this.command('cuff', '--dialect', dialect);
    return connect(command, this.env, person);
  }

  /** The same server for clients that come by HTTP. */
  async http(): Promise<{ readonly url: string; readonly token: string }> {
    const server = this.start(this.command('cuff', '--dialect', 'cuff_shell', '--http', '0'));
    await until(() => /the token is/.test(server.stderr()), 'the server says its token');
    const url = /serving (\S+)/.exec(server.stderr())?.[1] ?? '';
    return { url, token: /token is (\S+)/.exec(server.stderr())?.[1] ?? '' };
  }

  made(name: string): boolean {
    return existsSync(join(this.project, name));
  }

  /** As a person at a terminal. */
  cuff(...args: readonly string[]) {
    const { HOME = '', XDG_CONFIG_HOME = '' } = this.env;
    return this.cli.start([process.execPath, this.command('cuff')[1][4] ?? '', ...args], {
      env: { HOME, XDG_CONFIG_HOME },
    }).result;
  }

  async entries(): Promise<readonly Fact[]> {
    const directory = join(this.project, '.cuff', 'recordings');
    const args = ['record', 'export', 'all', '--format', 'jsonl', '--directory', directory];
    const { out } = await this.cuff(...args);
    return out
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  }
}

export const run = (client: AskedClient | TestClient, command: string) =>
  client.call('shell_run', { command });

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** The server reads the new policy a moment after it was written. */
export async function answers(call: () => Promise<Said>, isError: boolean): Promise<void> {
  const end = Date.now() + 40_000;
  while ((await call()).isError !== isError) {
    if (Date.now() > end) throw new Error('the policy is not followed');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** One of the clients that cannot be asked anything. */
export function clientNamed(name: string): Connect {
  const connect = CLIENTS[name];
  if (connect === undefined) throw new Error(`no client ${name}`);
  return connect;
}
