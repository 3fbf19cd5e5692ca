// Tracing for an agent, over the protocol: what its settings say, what it is told, and what is
// found later by somebody who asks what ran.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lacking } from '../requirements.ts';
import { untraceable } from '../tracing/helper.ts';
import { CLIENTS, type TestClient } from './clients.ts';
import { Life } from './life.ts';

const noTracing = lacking(untraceable, 'runs cannot be traced here');

const [connect] = Object.values(CLIENTS);

async function server(life: Life, settings: string): Promise<TestClient> {
  if (connect === undefined) throw new Error('no client');
  life.settings(settings);
  return life.connect(connect, 'cuff');
}

function tracedAs(trace: string): string {
  return `plugins:
  bash_recorder:
    config:
      recording:
        trace: ${trace}
  cuff_shell:
  claude_code:
  codex:
`;
}

function search(life: Life, ...args: readonly string[]): ReturnType<Life['cli']['cuff']> {
  const directory = join(life.project, '.cuff', 'recordings');
  return life.cli.cuff('record', 'search', ...args, '--directory', directory);
}

describe.skipIf(noTracing)('an agent whose commands are traced', () => {
  it.each(['on', 'auto'])('is told what its pipelines hide: %s', async (trace) => {
    const life = new Life();
    const client = await server(life, tracedAs(trace));
    const native = await client.call('shell_run', { command: 'false | true' });
    expect(native.text).toContain('[the last pipeline: stage 1 of 2 (false) exited 1]');
    const killed = "sh -c 'kill -9 $$' | cat";
    const said = "[the last pipeline: stage 1 of 2 (sh -c 'kill -9 $$') died of SIGKILL]";
    expect((await client.call('shell_run', { command: killed })).text).toContain(said);
    expect((await client.call('Bash', { command: killed })).text).toBe(said);
    expect((await client.call('exec_command', { cmd: killed })).text).toMatch(
      new RegExp(`\\n${said.replace(/[[\]().$]/g, '\\$&')}$`),
    );
  });

  it('leaves what ran, which is found however deep it was, and by its capture', async () => {
    const life = new Life();
    const client = await server(life, tracedAs('on'));
    const command = `bash -c "sh -c 'ls missing; true'; true"; true`;
    const { text } = await client.call('bash_recorder_execute', { command });
    expect(JSON.parse(text)).toMatchObject({ exit_code: 0, stdout: '' });
    await client.call('bash_recorder_execute', { command: 'echo ls missing' });
    const { code, out } = await search(life, '--process', 'ls missing');
    expect([code, out.split('\n').slice(1)]).toEqual([
      0,
      [`    process+19: bash -c 'sh -c '\\''ls missing; true'\\''; true'`, ''],
    ]);
    const exact = await search(life, '--regex', '--process', '^ls missing$', '--json');
    const { hits } = JSON.parse(exact.out);
    expect(hits).toMatchObject([{ command, field: 'process', offset: 0, exit_code: 0 }]);
    expect((await search(life, '--process', 'ls nothing')).code).toBe(1);

    const { sessions } = await life.cli.json<{ sessions: { session_id: string }[] }>('ls');
    const trees = await Promise.all(
      sessions.map(async ({ session_id }) => (await life.cli.cuff('trace', session_id)).out),
    );
    expect(trees.filter((tree) => /└─ ls missing\n/.test(tree))).toHaveLength(1);
    expect(trees.find((tree) => /└─ ls missing\n/.test(tree))).toMatch(/exit 2 +err 5\d B/);
  });

  it('gets the same answers as without, from every tool', async () => {
    const answers = async (trace: string): Promise<unknown> => {
      const life = new Life();
      const client = await server(life, tracedAs(trace));
      const command = 'echo out; echo err >&2; env | grep -c PRELOAD; exit 3';
      const { text } = await client.call('bash_recorder_execute', { command });
      const { stdout, stderr, exit_code } = JSON.parse(text);
      const claude = await client.call('Bash', { command });
      const codex = await client.call('exec_command', { cmd: command });
      const output = codex.text.slice(codex.text.indexOf('Output:'));
      return { stdout, stderr, exit_code, claude: claude.text, output };
    };
    expect(await answers('on')).toEqual(await answers('off'));
  });
});

describe('an agent whose commands cannot be traced', () => {
  it('gets its answers, and the capture says why', async () => {
    const life = new Life();
    if (connect === undefined) throw new Error('no client');
    life.settings(tracedAs('auto'));
    const [file, words] = life.command('cuff');
    const client = await connect(file, words, { ...life.env, CUFF_SHIM: 'off' });
    const { text } = await client.call('bash_recorder_execute', { command: 'echo hi' });
    await client.close();
    expect(JSON.parse(text)).toMatchObject({ stdout: 'hi\n', exit_code: 0 });
    const captures = join(life.cli.root, 'sessions');
    const [id = ''] = readdirSync(captures);
    const meta = JSON.parse(readFileSync(join(captures, id, 'meta.json'), 'utf8'));
    expect(meta.trace).toEqual({ enabled: false, reason: 'CUFF_SHIM=off' });
  });

  it('is refused settings that say something else', async () => {
    const life = new Life();
    if (connect === undefined) throw new Error('no client');
    life.settings(tracedAs('sometimes'));
    const [file, words] = life.command('cuff');
    const { child, stderr } = life.start([file, words]);
    await new Promise((resolve) => child.on('close', resolve));
    expect(stderr()).toContain('plugins.bash_recorder.config.recording.trace');
  });
});
