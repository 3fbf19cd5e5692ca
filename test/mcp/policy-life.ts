// A project with a policy, the built server in it, and a person at a terminal beside it.
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { binary, until } from '../cli/helper.ts';
import { atOwnTerminal, type Ended } from '../cli/terminal.ts';
import { FACT_MS_MAX } from '../pace.ts';
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

  override get env(): Record<string, string> {
    return { ...super.env, CUFF_METRICS_TOKEN: METRICS_TOKEN };
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

  /** In the settings of the user. With 0, the persons of these tests may answer at once. */
  askMinMs(ms: number): void {
    mkdirSync(join(this.project, 'cuff'), { recursive: true });
    writeFileSync(join(this.project, 'cuff', 'settings.yml'), `ask: { min_ms: ${ms} }\n`);
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
  cuff(...args: readonly string[]): Promise<Ended> {
    const { HOME = '', XDG_CONFIG_HOME = '' } = this.env;
    const env = { ...this.cli.env, HOME, XDG_CONFIG_HOME };
    return atOwnTerminal([process.execPath, binary('cuff'), ...args], { cwd: process.cwd(), env });
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

const METRICS_TOKEN = 'a-token-to-read-metrics';

/** What shows the metrics of these servers. */
export const METRICS = { authorization: `Bearer ${METRICS_TOKEN}` };

export type Ran = Said & { readonly refused: boolean };

export async function run(client: AskedClient | TestClient, command: string): Promise<Ran> {
  const said = await client.call('shell_run', { command });
  return { ...said, refused: /^cuff policy: (denied|needs approval)/.test(said.text) };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** The server reads the new policy a moment after it was written. */
export async function answers(call: () => Promise<Ran>, refused: boolean): Promise<void> {
  const end = Date.now() + FACT_MS_MAX;
  while ((await call()).refused !== refused) {
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
