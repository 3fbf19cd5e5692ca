// `cuff ui` as a person starts it: the link, the port of the last time, the browser, the end; and
// what a process inside of a run gets.

import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AGENT_VARIABLES } from '../../src/text/agents.ts';
import { binary, Cli, type Live, until } from './helper.ts';

const cli = new Cli();
const project = join(cli.root, 'project');
beforeAll(async () => {
  mkdirSync(project, { recursive: true });
  await cli.run('there', 'echo', 'there');
});
afterAll(() => cli.close());

const NONE = [...AGENT_VARIABLES, 'CI', 'DISPLAY', 'WAYLAND_DISPLAY', 'XDG_RUNTIME_DIR'];

type Ui = Live & { readonly url: string; readonly code: string };

function start(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Live {
  const without = NONE.filter((name) => !(name in env)).flatMap((name) => ['-u', name]);
  const command = ['env', ...without, process.execPath, binary('cuff'), 'ui', ...args];
  return cli.start(command, { cwd: project, env });
}

async function started(...args: Parameters<typeof start>): Promise<Ui> {
  const live = start(...args);
  const text = await live.seen(/#code=\S+\n/);
  const [, url = '', code = ''] = /(http:\/\/127\.0\.0\.1:\d+)\/#code=(\S+)/.exec(text) ?? [];
  return { ...live, url, code };
}

async function stopped(ui: Live, signal: NodeJS.Signals = 'SIGINT') {
  ui.child.kill(signal);
  return ui.result;
}

async function ask(url: string, path: string, token: string, body?: unknown) {
  const response = await fetch(`${url}/api/${path}`, {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: what it is, is what a test looks at
  const json: any = await response.json();
  return { status: response.status, json };
}

async function trade({ url, code }: Pick<Ui, 'url' | 'code'>): Promise<string> {
  return (await ask(url, 'token', '', { code })).json.token;
}

it('prints a link that is good once, answers it, and ends with Ctrl-C', async () => {
  const ui = await started();
  const token = await trade(ui);
  expect((await ask(ui.url, 'token', '', { code: ui.code })).status).toBe(401);
  const { json } = await ask(ui.url, 'hello', token);
  expect(json).toMatchObject({ read_only: false, project, state_root: cli.root });
  expect((await ask(ui.url, 'pin', token, { run: 'there', pinned: true })).status).toBe(200);
  expect((await ask(ui.url, 'pin', token, { run: 'there', pinned: false })).status).toBe(200);
  const { code, err } = await stopped(ui);
  expect([code, err]).toEqual([
    0,
    'Open it in a browser within a minute. Enter makes a new link, Ctrl-C ends the server.\n',
  ]);
});

it('takes the port of the last time, also after it was killed; its tokens are gone', async () => {
  const first = await started();
  const file = join(cli.root, 'ui.json');
  expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
  const token = await trade(first);
  expect((await stopped(first, 'SIGKILL')).signal).toBe('SIGKILL');
  const second = await started();
  expect(second.url).toBe(first.url);
  expect((await ask(second.url, 'hello', token)).status).toBe(401);
  expect((await ask(second.url, 'hello', await trade(second))).status).toBe(200);
  await stopped(second);
});

it('runs a second time on another port, and says where the first one is', async () => {
  const first = await started();
  const second = await started();
  expect(second.url).not.toBe(first.url);
  const { err } = await stopped(second);
  expect(err).toContain(`cuff ui runs already at ${first.url} (process ${first.child.pid}).\n`);
  // The port that is kept is still that of the first.
  await stopped(first);
  const third = await started();
  expect(third.url).toBe(first.url);
  await stopped(third);
});

it('takes the port that it is told to, or says why not', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  const refused = await start(['--port', String(port)]).result;
  expect([refused.code, refused.out, refused.err]).toEqual([
    2,
    '',
    `cuff: Port ${port} is taken.\nName another with --port, or none.\n`,
  ]);
  other.close();
  await once(other, 'close');
  const ui = await started(['--port', String(port)]);
  expect(ui.url).toBe(`http://127.0.0.1:${port}`);
  await stopped(ui);
  for (const wrong of ['0', '65536', 'x', '-1', '1e3']) {
    expect((await start([`--port=${wrong}`]).result).code).toBe(2);
  }
});

it.each([
  [['--read-only'], {}, 'It was started with --read-only.'],
  [[], { CI: 'true' }, 'It was started in CI.'],
  [[], { CLAUDECODE: '1' }, 'An agent started it: CLAUDECODE is set.'],
])('only reads with %j %j', async (args, env, why) => {
  const ui = await started(args, env as Record<string, string>);
  const token = await trade(ui);
  expect((await ask(ui.url, 'hello', token)).json).toMatchObject({
    read_only: true,
    read_only_reason: why,
  });
  expect((await ask(ui.url, 'pin', token, { run: 'there', pinned: true })).status).toBe(403);
  const { err } = await stopped(ui);
  expect(err).toContain(`Nothing can be changed from the page. ${why}\n`);
});

it('only reads when it was started inside of a run', async () => {
  const without = NONE.flatMap((name) => ['-u', name]);
  const command = [process.execPath, binary('cuff')];
  const ui = cli.start(
    [...command, 'run', '--', 'env', ...without, ...command, 'ui', '--no-open'],
    { cwd: project },
  );
  const text = await ui.seen(/#code=\S+\n/);
  const [, url = '', code = ''] = /(http:\S+)\/#code=(\S+)/.exec(text) ?? [];
  const token = await trade({ url, code });
  expect((await ask(url, 'hello', token)).json.read_only_reason).toBe(
    'It was started inside of a run.',
  );
  expect((await ask(url, 'pin', token, { run: 'there', pinned: true })).status).toBe(403);
  await stopped(ui);
});

it('gives a process inside of a run reading only, whatever token it has', async () => {
  const ui = await started();
  const mine = await trade(ui);
  const program = `
    const [url, code, other, stolen] = process.argv.slice(1);
    const ask = async (at, path, token, body) => {
      const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' };
      const answer = await fetch(at + '/api/' + path, body
        ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers });
      return [answer.status, await answer.json()];
    };
    const [, { token }] = await ask(url, 'token', '', { code });
    const pin = { run: 'there', pinned: true };
    console.log(JSON.stringify([
      (await ask(url, 'hello', token))[0],
      (await ask(url, 'pin', token, pin))[0],
      (await ask(other, 'runs/there', stolen))[0],
      (await ask(other, 'pin', stolen, pin))[0],
    ]));`;
  const second = await started();
  const inside = await cli.cuff(
    ...['run', '--session-id', 'inside', '--', process.execPath, '--input-type=module', '-e'],
    ...[program, '--', second.url, second.code, ui.url, mine],
  );
  expect(inside.out).toBe('[200,403,200,403]\n');
  expect((await ask(ui.url, 'pin', mine, { run: 'there', pinned: true })).status).toBe(200);
  await stopped(second);
  await stopped(ui);
});

it('starts a browser with a file of its own, in which the address is', async () => {
  const bin = join(cli.root, 'bin');
  const runtime = join(cli.root, 'runtime');
  const seen = join(cli.root, 'seen');
  for (const folder of [bin, runtime]) mkdirSync(folder, { mode: 0o700 });
  const script = `#!/bin/sh\n{ echo "$@"; stat -c %a "$1"; cat "$1"; } > '${seen}.new'\n`;
  writeFileSync(join(bin, 'xdg-open'), `${script}mv '${seen}.new' '${seen}'\n`);
  chmodSync(join(bin, 'xdg-open'), 0o755);
  const env = { PATH: `${bin}:${process.env.PATH}`, DISPLAY: ':9', XDG_RUNTIME_DIR: runtime };
  const ui = await started([], env);
  await until(() => existsSync(seen), 'the browser is started');
  const [args = '', mode, html = ''] = readFileSync(seen, 'utf8').split('\n');
  expect(args).toMatch(new RegExp(`^${runtime}/cuff-ui-[0-9a-f]{16}\\.html$`));
  expect([mode, args.includes(ui.code)]).toEqual(['600', false]);
  expect(html).toContain(`content="0; url=${ui.url}/#code=${ui.code}"`);
  await trade(ui);
  await until(() => readdirSync(runtime).length === 0, 'the file is removed');
  const { err } = await stopped(ui);
  expect(err).toBe('Opened in your browser. Enter makes a new link, Ctrl-C ends the server.\n');
  const quiet = await started(['--no-open'], env);
  expect(readdirSync(runtime)).toEqual([]);
  await stopped(quiet);
});
