// The answers of `codex`, to the letter: one file for each case.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withTime } from '../../pace.ts';
import { expectDocumented } from '../documented.ts';
import { CodexWorld, outputOf } from './helper.ts';

const SMALL = { max_output_tokens: 100 };

it('the tools are these, with these schemas', async () => {
  const codex = await CodexWorld.open();
  codex.golden('tools', JSON.stringify(codex.plugin.getTools(), null, 2));
});

describe('exec_command answers', () => {
  it.each([
    ['ok', 'printf "two\\nlines\\n"; echo and an error >&2', {}],
    ['failure', 'echo out; echo oops >&2; exit 3', {}],
    ['signal', 'echo before; kill -TERM $$', {}],
    ['empty', 'true', {}],
    ['binary', `printf '\\177ELF\\2\\1\\1\\0\\0\\0\\0\\0\\0\\0'`, {}],
    ['split-utf8', `printf 'caf\\303'; sleep 0.05; printf '\\251 \\360\\237\\230\\200\\n'`, {}],
    ['ansi', `printf '\\033[1;31mred\\033[0m \\033]0;title\\007and plain\\r\\n'`, { tty: true }],
    ['progress-bar', `for i in 1 2 3; do printf '\\r%d0%%' $i; done; printf '\\rdone\\n'`, {}],
    ['spawn-error', 'true', { shell: '/bin/not-there' }],
    ['no-directory', 'true', { workdir: 'not-there' }],
  ])('%s', async (name, command, args) => {
    const codex = await CodexWorld.open();
    codex.golden(name, (await codex.exec(command, args)).text);
  });

  it('huge, with both ends', async () => {
    const codex = await CodexWorld.open(SMALL);
    codex.golden('huge', (await codex.exec('seq 1 20000')).text);
  });

  it('one line of 10 MB', async () => {
    const codex = await CodexWorld.open(SMALL);
    const command = 'head -c 10000000 /dev/zero | tr "\\\\0" x; echo; echo end';
    codex.golden('long-line', (await codex.exec(command)).text);
  });

  it('with as much output as the call asks for, up to what the settings allow', async () => {
    const codex = await CodexWorld.open({ max_output_tokens: 200 });
    const shown = async (max_output_tokens: number): Promise<number> =>
      outputOf((await codex.exec('seq 1 20000', { max_output_tokens })).text).length;
    expect(await shown(100)).toBeLessThan(400 + 150);
    expect(await shown(5_000)).toBeLessThan(800 + 150);
    expect(await shown(5_000)).toBeGreaterThan(800);
  });
});

describe('a session', () => {
  it('is what a command becomes that is not done when the wait is over', async () => {
    const command = ({ dir }: { dir: string }) =>
      `echo ready; until [ -e ${dir}/go ]; do sleep 0.01; done; echo more; exit 7`;
    const { codex, text } = await CodexWorld.started(command, /ready\n$/);
    codex.golden('background', text);
    writeFileSync(join(codex.world.dir, 'go'), '');
    const last = await codex.write(1_000, { yield_time_ms: 30_000 });
    codex.golden('finished-later', last.text);
    codex.golden('unknown-session', (await codex.write(1_000)).text);
    expect(codex.world.entry()).toMatchObject({ exit_code: 7, end_reason: 'itself' });
  });

  it('is not ended by the end of a wait, and a look takes at least five seconds', async () => {
    const { codex, text } = await CodexWorld.started(() => 'echo started; sleep 100', /started/);
    const startedAt = performance.now();
    const look = await codex.write(1_000, { yield_time_ms: 1 });
    expect(performance.now() - startedAt).toBeGreaterThan(4_900);
    codex.golden('still-running', text, look.text);
    codex.golden('timeout', look.text);
  });

  it('with a terminal can be typed to, and interrupted', async () => {
    const command = () => 'read -p "name? " n; echo "hello $n"; sleep 100';
    const attempt = async (yield_time_ms: number) => {
      const { codex, text } = await CodexWorld.started(command, /name\? $/, { tty: true });
      const typed = await codex.write(1_000, { chars: 'you\n', yield_time_ms });
      return { codex, first: text, typed: typed.text };
    };
    const said = await withTime(3_000, attempt, ({ typed }) => /hello you\n$/.test(typed));
    const { codex, first, typed } = said;
    const interrupted = await codex.write(1_000, { chars: '\u0003', yield_time_ms: 30_000 });
    codex.golden('terminal', first, typed, interrupted.text);
  });

  it('without one cannot be typed to, but ended', async () => {
    const { codex } = await CodexWorld.started(() => 'echo working; sleep 100', /working/);
    const typed = await codex.write(1_000, { chars: 'x\n' });
    expect(typed.success).toBe(false);
    const ended = await codex.write(1_000, { chars: '\u0003', yield_time_ms: 30_000 });
    codex.golden('killed', typed.text, ended.text);
    expect(codex.world.entry()).toMatchObject({ end_reason: 'kill' });
  });
});

describe('the shell', () => {
  it('reads the login files only when it is told to', async () => {
    const codex = await CodexWorld.open();
    writeFileSync(join(codex.world.dir, '.bash_profile'), 'export FROM_PROFILE=yes\n');
    const command = 'echo "[$FROM_PROFILE]"; env | grep -c ^BASH_ENV=';
    const env_overrides = { HOME: codex.world.dir };
    const home = async (config: object, args: object): Promise<string> => {
      const plugin = await codex.world.open(
        codex.plugin.constructor as Parameters<typeof codex.world.open>[0],
        { env_overrides, ...config },
      );
      const context = { meta: {}, client: undefined, signal: new AbortController().signal };
      return outputOf(
        (await plugin.callTool('exec_command', { cmd: command, ...args }, context)).text,
      );
    };
    expect(await home({}, {})).toBe('[]\n0\n');
    expect(await home({}, { login: true })).toMatch(/\[yes\]\n0\n$/);
    expect(await home({ login: true }, {})).toMatch(/\[yes\]\n0\n$/);
    expect(await home({ login: true }, { login: false })).toBe('[]\n0\n');
  });

  it('can be another one, in another directory', async () => {
    const codex = await CodexWorld.open();
    const { text } = await codex.exec('echo "$0 $PWD $TERM $PAGER"', {
      shell: '/bin/sh',
      workdir: '/',
    });
    expect(outputOf(text)).toBe('/bin/sh / dumb cat\n');
    expect(codex.world.entry()).toMatchObject({ shell: '/bin/sh', working_directory: '/' });
  });
});

it('a call that cannot be meant is told in a sentence, and nothing runs', async () => {
  const codex = await CodexWorld.open();
  const calls: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
    ['exec_command', {}],
    ['exec_command', { cmd: '' }],
    ['exec_command', { command: 'ls' }],
    ['exec_command', { cmd: ['ls'] }],
    ['exec_command', { cmd: 'ls', yield_time: 5 }],
    ['exec_command', { cmd: 'ls', yield_time_ms: '5' }],
    ['exec_command', { cmd: 'ls', yield_time_ms: 0.5 }],
    ['exec_command', { cmd: 'ls', yield_time_ms: -1 }],
    ['exec_command', { cmd: 'ls', max_output_tokens: 1.5 }],
    ['exec_command', { cmd: 'ls', max_output_tokens: 0 }],
    ['exec_command', { cmd: 'ls', tty: 'yes' }],
    ['exec_command', { cmd: 'ls', shell: '' }],
    ['write_stdin', { chars: 'x' }],
    ['write_stdin', { session_id: '1000' }],
    ['write_stdin', { session_id: 7, chars: 'x' }],
  ];
  const told: string[] = [];
  for (const [tool, args] of calls) {
    const { success, text } = await codex.tool(tool, args);
    expect(success).toBe(false);
    told.push(`${tool} ${JSON.stringify(args)}\n${text}`);
  }
  codex.golden('bad-arguments', ...told);
  expect(codex.world.entries()).toEqual([]);
});

it('the document shows these answers, and names every parameter', async () => {
  const path = 'docs/dialects/codex.md';
  expect(expectDocumented(path, 'codex').length).toBeGreaterThan(8);
  const text = readFileSync(join(import.meta.dirname, '../../..', path), 'utf8');
  const { plugin } = await CodexWorld.open();
  for (const { name, parameters } of plugin.getTools()) {
    const row = text.split('\n').find((line) => line.startsWith(`| \`${name}\` |`)) ?? '';
    const named = [...row.matchAll(/`(\w+)\??`/g)].map(([, one]) => one).slice(1);
    expect(named).toEqual(Object.keys(parameters.properties as object));
  }
});
