// What a server says before it is loaded is what it says when it is. With the built server, line by
// line, because clients hide what an answer looks like.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { SHELLS } from '../../src/dialects/builtins.ts';
import { tempDir } from '../capture/helper.ts';
import { binary } from '../cli/helper.ts';
import { Life } from './life.ts';
import { clientNamed } from './policy-life.ts';

type Fact = Readonly<Record<string, unknown>>;

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 'a',
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'lines', version: '1' },
  },
};
const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' };
const LIST = { jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} };

/** A client that writes lines and reads lines. */
class Lines {
  readonly child: ChildProcess;
  readonly messages: Fact[] = [];
  readonly #told: (() => void)[] = [];
  #over = false;

  constructor(life: Life, [file, args]: readonly [string, readonly string[]]) {
    const stdio = ['pipe', 'pipe', 'pipe'] as const;
    this.child = life.track(spawn(file, args, { env: life.env, stdio: [...stdio] }));
    this.child.stderr?.resume();
    const { stdout } = this.child;
    if (stdout === null) throw new Error('no output');
    const tell = (): void => {
      for (const one of this.#told.splice(0)) one();
    };
    this.child.stdin?.on('error', () => undefined); // it ended first, which `message` says
    this.child.on('close', () => {
      this.#over = true;
      tell();
    });
    createInterface({ input: stdout }).on('line', (line) => {
      this.messages.push(JSON.parse(line) as Fact);
      tell();
    });
  }

  say(...messages: readonly (Fact | string)[]): void {
    const lines = messages.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
    this.child.stdin?.write(lines.map((line) => `${line}\n`).join(''));
  }

  /** Its server is gone then, and has written what it wants to. */
  async end(): Promise<void> {
    this.child.stdin?.end();
    if (!this.#over) await once(this.child, 'close');
  }

  async answer(id: unknown): Promise<Fact> {
    return this.message((one) => one.id === id);
  }

  async message(is: (one: Fact) => boolean): Promise<Fact> {
    for (;;) {
      const found = this.messages.find(is);
      if (found !== undefined) return found;
      if (this.#over) throw new Error('the server ended without this message');
      await new Promise<void>((resolve) => this.#told.push(resolve));
    }
  }
}

/** The first words are for no front: everything behind them is answered by the loaded server. */
async function saidByServer(life: Life, args: readonly string[]): Promise<readonly Fact[]> {
  const lines = new Lines(life, life.command('cuff', ...args));
  lines.say({ jsonrpc: '2.0', method: 'notifications/none' }, INITIALIZE, INITIALIZED, LIST);
  const said = [await lines.answer('a'), await lines.answer(2)];
  await lines.end();
  return said;
}

async function saidByFront(life: Life, args: readonly string[]): Promise<readonly Fact[]> {
  const lines = new Lines(life, life.command('cuff', ...args));
  lines.say(INITIALIZE);
  const first = await lines.answer('a');
  lines.say(INITIALIZED, LIST);
  const said = [first, await lines.answer(2)];
  await lines.end();
  return said;
}

/** In place of the server: says that it would be loaded now, and answers nothing. */
const NO_SERVER = `export async function program() {
  process.stdout.write('{"loaded":true}\\n');
  await new Promise(() => undefined);
}
`;

/** A copy of what is built without the server itself. */
function serverless(): string {
  const dist = dirname(binary('cuff'));
  const copy = tempDir();
  fs.writeFileSync(join(copy, 'package.json'), '{"type":"module"}');
  fs.writeFileSync(join(copy, 'program.js'), NO_SERVER);
  for (const name of ['cuff.cjs', 'mcp-front.cjs', 'mcp-ready.json']) {
    fs.copyFileSync(join(dist, name), join(copy, name));
  }
  return join(copy, 'cuff.cjs');
}

function without(life: Life, ...args: readonly string[]): [string, string[]] {
  const [file, words] = life.command('cuff', ...args);
  return [file, words.map((word) => (word === binary('cuff') ? serverless() : word))];
}

/** As a client starts it: nobody said that the project is trusted. */
class Untrusted extends Life {
  override command(program: 'cuff' | 'derun', ...args: readonly string[]): [string, string[]] {
    const [file, words] = super.command(program, ...args);
    return [file, words.filter((word) => word !== '--trust')];
  }
}

function userSettings(life: Life, text: string): void {
  const file = join(life.project, 'cuff', 'settings.yml');
  fs.mkdirSync(dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
}

it('a state root that keeps nothing for the next start is said once, in the log', async () => {
  const life = new Life();
  userSettings(life, 'plugins: { bash_recorder: {} }\n');
  const state = life.cli.root;
  fs.mkdirSync(state, { recursive: true });
  for (const name of ['ready', 'settings']) fs.writeFileSync(join(state, name), ''); // no directory
  await saidByFront(life, []);
  const logs = fs.readdirSync(join(state, 'logs')).map((name) => join(state, 'logs', name));
  const lines = logs.flatMap((path) => fs.readFileSync(path, 'utf8').trimEnd().split('\n'));
  const said = lines.filter((line) => line.includes('Nothing can be kept for the next start'));
  expect(said.map((line) => (JSON.parse(line) as Fact).error)).toEqual(['ENOTDIR']);
});

const CONFIGURATIONS: Readonly<Record<string, (life: Life) => void>> = {
  'no settings': () => undefined,
  'a policy': (life) => {
    fs.mkdirSync(join(life.project, 'cuff'));
    fs.writeFileSync(join(life.project, 'cuff', 'policy.yml'), 'default: allow\n');
  },
  'limits and names of its own': (life) =>
    userSettings(
      life,
      'tool_names: dotted\nplugins:\n  bash_recorder:\n    config:\n' +
        '      execution: { default_timeout: 7, max_timeout: 8 }\n  derun:\n',
    ),
  'a plugin under another name': (life) =>
    userSettings(
      life,
      'plugins:\n  mine: { module: opencuff.plugins.builtin.bash_recorder }\n  derun: \n',
    ),
  'a plugin that is turned off': (life) =>
    userSettings(life, 'plugins:\n  cuff_shell:\n  derun: { enabled: false }\n'),
  'settings of a project': (life) => life.settings('plugins:\n  cuff_shell:\n'),
  'settings that are wrong': (life) => userSettings(life, 'plugins: [\n'),
};

describe('initialize and tools/list', () => {
  it.each([undefined, ...SHELLS])(
    'are answered without a server, and as by one (dialect %s)',
    async (dialect) => {
      const life = new Life();
      const args = dialect === undefined ? [] : ['--dialect', dialect];
      const lines = new Lines(life, without(life, ...args));
      lines.say(INITIALIZE);
      const first = await lines.answer('a');
      lines.say(INITIALIZED, LIST);
      const said = [first, await lines.answer(2)];
      expect(said).toEqual(await saidByServer(life, args));
    },
  );

  it.each(Object.entries(CONFIGURATIONS))(
    'are the same as by a server with %s',
    async (_, make) => {
      const life = new Life();
      make(life);
      for (const args of [[], ['--dialect', 'codex']]) {
        const first = await saidByFront(life, args);
        expect(first).toEqual(await saidByServer(life, args));
        expect(await saidByFront(life, args)).toEqual(first);
      }
    },
  );

  it('name settings that wait for trust, and wait for no server because of them', async () => {
    const life = new Untrusted();
    const settings = join(life.project, 'settings.yml');
    const known = async (text: string): Promise<string> => {
      fs.writeFileSync(settings, text);
      const said = await saidByServer(life, []);
      const lines = new Lines(life, without(life));
      lines.say(INITIALIZE, INITIALIZED, LIST);
      expect([await lines.answer('a'), await lines.answer(2)]).toEqual(said);
      return JSON.stringify(said);
    };
    const module = 'plugins:\n  mine:\n    module: $' + '{HOME}/x.mjs\n';
    expect(await known(module)).toContain('plugins.mine.module');
    expect(await known(`plugins:\n  derun:\n${'#'.repeat(9_000_000)}`)).toContain('plugins.derun');
    fs.rmSync(settings);
    fs.symlinkSync('/dev/zero', settings);
    const said = await saidByServer(life, []);
    expect(JSON.stringify(said)).toContain('what it sets was not looked at');
    expect(await saidByFront(life, [])).toEqual(said);
  });

  it('are answered without a server when one has started with the same files', async () => {
    const life = new Life();
    const settings = (seconds: number): string =>
      `plugins: { bash_recorder: { config: { execution: { default_timeout: ${seconds} } } } }\n`;
    userSettings(life, settings(7));
    const known = await saidByServer(life, []);
    const lines = new Lines(life, without(life));
    lines.say(INITIALIZE, INITIALIZED, LIST);
    expect([await lines.answer('a'), await lines.answer(2)]).toEqual(known);
    // Another text is another matter.
    userSettings(life, settings(8));
    const other = new Lines(life, without(life));
    other.say(INITIALIZE, INITIALIZED, LIST);
    await other.message(({ loaded }) => loaded === true);
    expect(other.messages).toEqual([{ loaded: true }]);
  });

  it('are followed by a notice when the server finds other tools', async () => {
    const life = new Life();
    userSettings(life, 'plugins: { cuff_shell: }\n');
    const [, known] = await saidByServer(life, []);
    const ready = join(life.cli.root, 'ready');
    const [name = ''] = fs.readdirSync(ready);
    const record = JSON.parse(fs.readFileSync(join(ready, name), 'utf8'));
    fs.writeFileSync(join(ready, name), JSON.stringify({ ...record, tools: '{"tools":[]}' }));
    const next = new Lines(life, life.command('cuff'));
    next.say(INITIALIZE, INITIALIZED, LIST);
    expect(await next.answer(2)).toMatchObject({ result: { tools: [] } });
    await next.message(({ method }) => method === 'notifications/tools/list_changed');
    next.say({ ...LIST, id: 4 });
    expect(await next.answer(4)).toEqual({ ...known, id: 4 });
  });
});

describe('what comes before the server is loaded', () => {
  it('is answered once, in whatever pieces it comes, and calls wait for the server', async () => {
    const life = new Life();
    const lines = new Lines(life, life.command('cuff', '--dialect', 'cuff_shell'));
    const call = {
      jsonrpc: '2.0',
      id: 5,
      method: 'tools/call',
      params: { name: 'shell_run', arguments: { command: 'echo from $((40 + 2))' } },
    };
    const text = [INITIALIZE, INITIALIZED, { ...LIST, id: 1, method: 'ping' }, LIST, call, 'wrong']
      .map((one) => `${JSON.stringify(one)}\n`)
      .join('');
    for (const byte of text) lines.child.stdin?.write(byte);
    expect(JSON.stringify(await lines.answer(5))).toContain('from 42');
    expect(await lines.answer(1)).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    await lines.message(({ error }) => error !== undefined);
    const ids = lines.messages.filter((one) => 'result' in one).map(({ id }) => id);
    expect(ids.sort()).toEqual([1, 2, 5, 'a']);
  });

  it('may be all there is', async () => {
    const life = new Life();
    const lines = new Lines(life, life.command('cuff'));
    lines.say(INITIALIZE, INITIALIZED, LIST);
    lines.child.stdin?.end();
    const [code] = await once(lines.child, 'close');
    expect([code, lines.messages.map(({ id }) => id)]).toEqual([0, ['a', 2]]);
  });
});

const SLOW = `
import { existsSync } from 'node:fs';
while (!existsSync(new URL('./go', import.meta.url))) await new Promise((r) => setTimeout(r, 10));
export default class {
  static pluginVersion = '1.0.0';
  async initialize() {}
  async shutdown() {}
  async healthCheck() { return { healthy: true, reasons: [] }; }
  async onConfigReload() {}
  getTools() { return [{ name: 'late', description: 'Late.', parameters: { type: 'object' } }]; }
  async callTool() { return { success: true, text: 'here' }; }
}
`;

describe('a module that is slow to load', () => {
  it('keeps no other tools back, and its own follow', async () => {
    const life = new Life();
    const file = join(life.project, 'cuff', 'slow.mjs');
    userSettings(life, `plugins: { derun: , slow: { module: ${file} } }\n`);
    fs.writeFileSync(file, SLOW);
    const client = await life.connect(clientNamed('SDK v1'), 'cuff');
    const names = async () => (await client.listTools()).map(({ name }) => name);
    const changed = new Promise<void>((resolve) => void client.onToolsChanged(resolve));
    expect(await names()).toEqual(expect.not.arrayContaining(['slow_late']));
    expect(await names()).toContain('derun_list_sessions');
    const called = client.call('slow_late'); // waits for it
    fs.writeFileSync(join(dirname(file), 'go'), '');
    expect(await called).toMatchObject({ isError: false, text: 'here' });
    await changed;
    expect(await names()).toContain('slow_late');
  });
});
