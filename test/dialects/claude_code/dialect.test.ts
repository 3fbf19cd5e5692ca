// The answers of `claude_code`, to the letter: one file for each case.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../../cli/helper.ts';
import { withTime } from '../../pace.ts';
import { expectDocumented } from '../documented.ts';
import { BECOME } from '../hard-cases.ts';
import { Claude, pathIn } from './helper.ts';

const SMALL = { max_output_chars: 1_000 };
const SOON_MS = 3_000;

async function said(command: string, config: unknown = {}, args = {}): Promise<[Claude, string]> {
  const claude = await Claude.open(config);
  return [claude, (await claude.bash(command, args)).text];
}

describe('the tools', () => {
  it('are these, with these schemas', async () => {
    const claude = await Claude.open();
    claude.golden('tools', JSON.stringify(claude.plugin.getTools(), null, 2));
  });

  it('say the limits that are in force', async () => {
    const claude = await Claude.open({ default_timeout_ms: 5, on_timeout: 'background' });
    expect(claude.plugin.getTools()[0]?.description).toContain('milliseconds, 5 if not given');
    expect(claude.plugin.getTools()[0]?.description).toContain('goes on as a background shell');
  });
});

describe('Bash answers', () => {
  it.each([
    ['ok', 'printf "two\\nlines\\n"; echo and an error >&2'],
    ['failure', 'echo out; echo oops >&2; exit 3'],
    ['signal', 'echo before; kill -TERM $$'],
    ['empty', 'true'],
    ['binary', `printf '\\177ELF\\2\\1\\1\\0\\0\\0\\0\\0\\0\\0'`],
    [
      'split-utf8',
      `printf 'caf\\303'; sleep 0.05; printf '\\251 \\360\\237'; printf '\\230\\200\\n'`,
    ],
    [
      'ansi',
      `printf '\\033[1;31mred\\033[0m \\033]0;title\\007and \\033[38:2::1:2:3mplain\\033[m\\r\\n'`,
    ],
    [
      'progress-bar',
      `for i in 1 2 3; do printf '\\r%d0%%' $i; done; printf '\\rdone\\033[K\\nok\\n'`,
    ],
  ])('%s', async (name, command) => {
    const [claude, text] = await said(command);
    claude.golden(name, text);
  });

  it('timeout, with what was printed before', async () => {
    const attempt = async (timeout: number) =>
      [...(await said('echo before; sleep 100', {}, { timeout })), timeout] as const;
    const printed = ([, text]: readonly [Claude, string, number]) => text.includes('before');
    const [claude, text, ms] = await withTime(SOON_MS, attempt, printed);
    claude.golden('timeout', text);
    const timeout_seconds = ms / 1000;
    expect(claude.world.entry()).toMatchObject({ timed_out: true, timeout_seconds });
  });

  it('huge, with both ends and the file', async () => {
    const [claude, text] = await said('seq 1 20000', SMALL);
    claude.golden('huge', text);
  });

  it('one line of 10 MB', async () => {
    const command = 'head -c 10000000 /dev/zero | tr "\\\\0" x; echo; echo end';
    const [claude, text] = await said(command, SMALL);
    claude.golden('long-line', text);
  });

  it('what is left running', async () => {
    const [claude, text] = await said(`sleep 100 >/dev/null & ${BECOME}; echo started`);
    claude.golden('survivor', text);
  });

  it('spawn error', async () => {
    const claude = await Claude.open({ working_directory: 'not-there' });
    claude.golden('spawn-error', (await claude.bash('true')).text);
    expect(claude.world.entries()).toEqual([]);
  });

  it('exit code 1 of a program that answers with it, as no error', async () => {
    const claude = await Claude.open();
    expect(await claude.bash('echo a | grep b')).toEqual({ success: true, text: 'Exit code 1' });
    expect(await claude.bash('false')).toEqual({ success: false, text: 'Exit code 1' });
  });
});

describe('a background shell', () => {
  it('is started, looked at, and over', async () => {
    const claude = await Claude.open();
    const go = join(claude.world.dir, 'go');
    const command = `echo ready; until [ -e ${go} ]; do sleep 0.01; done; echo more; exit 7`;
    claude.golden('background', await claude.background(command, 'ready'));
    claude.golden('still-running', (await claude.tool('BashOutput', { bash_id: 'bash_1' })).text);
    const task = await claude.tool('TaskOutput', { task_id: 'bash_1', block: false });
    claude.golden('task-output', task.text);
    await claude.bash(`touch ${go}`);
    await claude.ended('bash_1');
    claude.golden('finished-later', (await claude.tool('BashOutput', { bash_id: 'bash_1' })).text);
  });

  it('is killed', async () => {
    const claude = await Claude.open();
    await claude.background('echo working; sleep 100', 'working');
    await claude.background('sleep 100');
    const killed = await claude.tool('KillShell', { shell_id: 'bash_1' });
    const after = await claude.tool('BashOutput', { bash_id: 'bash_1' });
    const again = await claude.tool('KillShell', { shell_id: 'bash_1' });
    const unknown = await claude.tool('KillShell', { shell_id: 'bash_9' });
    const stopped = await claude.tool('TaskStop', { task_id: 'bash_2' });
    const all = [killed, after, again, unknown, stopped];
    expect(all.map(({ success }) => success)).toEqual([true, true, false, false, true]);
    claude.golden('killed', ...all.map(({ text }) => text));
    expect(claude.world.entries().map(({ end_reason }) => end_reason)).toEqual(['kill', 'kill']);
  });

  it('is what a command becomes whose time is over, where the settings say so', async () => {
    const claude = await Claude.open({ on_timeout: 'background' });
    const { success, text } = await claude.bash('echo a; sleep 100', { timeout: SOON_MS });
    expect(success).toBe(true);
    claude.golden('moved-to-background', text);
    await until(() => readFileSync(pathIn(text), 'utf8') === 'a\n', 'it has printed');
    const { text: output } = await claude.tool('BashOutput', { bash_id: 'bash_1' });
    expect(output).toContain('<status>running</status>\n\n<stdout>\na\n\n</stdout>');
  });
});

it('a call that cannot be meant is told in a sentence, and nothing runs', async () => {
  const claude = await Claude.open();
  const calls: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
    ['Bash', {}],
    ['Bash', { command: ' ' }],
    ['Bash', { comand: 'ls' }],
    ['Bash', { command: 'ls', timeout: '5' }],
    ['Bash', { command: 'ls', timeout: 0 }],
    ['Bash', { command: 'ls', timeout: 1.5 }],
    ['Bash', { cmd: 'ls' }],
    ['Bash', { command: 'ls', run_in_background: 'yes' }],
    ['Bash', { command: 'ls', dangerouslyDisableSandbox: true }],
    ['BashOutput', { shell_id: 'bash_1' }],
    ['BashOutput', { bash_id: 'bash_1' }],
    ['BashOutput', { bash_id: 'bash_1', filter: '(' }],
    ['TaskOutput', { task_id: 'bash_1' }],
    ['TaskOutput', { task_id: 'bash_1', timeout: 600_001 }],
    ['TaskStop', {}],
  ];
  const told: string[] = [];
  for (const [tool, args] of calls) {
    const { success, text } = await claude.tool(tool, args);
    expect(success).toBe(false);
    told.push(`${tool} ${JSON.stringify(args)}\n${text}`);
  }
  claude.golden('bad-arguments', ...told);
  expect(claude.world.entries()).toEqual([]);
});

describe('the directory', () => {
  it('a command ends in is where the next one of the conversation starts', async () => {
    const claude = await Claude.open();
    const { project } = claude.world;
    const one = { meta: { conversation_id: 'one' } };
    await claude.bash('mkdir -p "a b/c" && cd "a b/c"', {}, one);
    expect((await claude.bash('pwd; X=1', {}, one)).text).toBe(join(project, 'a b/c'));
    expect((await claude.bash('echo "[$X]"; cd ..; exit 1', {}, one)).text).toBe('Exit code 1\n[]');
    await claude.bash('cd /; sleep 60', { timeout: 200 }, one);
    expect((await claude.bash('pwd', {}, one)).text).toBe(join(project, 'a b/c'));
    expect((await claude.bash('(cd /); cd .. | cat; pwd', {}, one)).text).toBe(
      join(project, 'a b/c'),
    );
    expect((await claude.bash('pwd')).text).toBe(project);
    const entries = claude.world.entries();
    expect(entries.filter(({ command }) => command === 'pwd; X=1')[0]?.working_directory).toBe(
      join(project, 'a b/c'),
    );
  });

  it('is the first one again when it is gone, and that is said', async () => {
    const claude = await Claude.open();
    await claude.bash('mkdir gone && cd gone');
    rmSync(join(claude.world.project, 'gone'), { recursive: true });
    claude.golden('directory-gone', (await claude.bash('pwd')).text);
    expect((await claude.bash('pwd')).text).toBe(claude.world.project);
  });

  it('is told without a trace in output, exit code, or environment', async () => {
    const claude = await Claude.open();
    expect((await claude.bash('set -x; cd /; true')).text).toBe('+ cd /\n+ true');
    expect((await claude.bash('env | grep -c "^BASH_ENV="')).text).toBe('Exit code 1\n0');
    expect((await claude.bash('trap "echo mine" EXIT; cd /tmp; exit 4')).text).toBe(
      'Exit code 4\nmine',
    );
    expect((await claude.bash('exec pwd')).text).toBe('/');
    expect((await claude.bash(': cd; ulimit -f 0; echo hi')).text).toBe('hi');
    expect((await claude.bash(': cd; set -v; echo hi')).text).toBe('hi');
    expect((await claude.bash('trap -p; cd /tmp')).text).toBe('(Bash completed with no output)');
    expect((await claude.bash('pwd')).text).toBe('/');
  });

  it('stays where it is when the name of the next one is no text', async () => {
    const claude = await Claude.open();
    await claude.bash(`mkdir $'x\\xff' && cd $'x\\xff'`);
    expect((await claude.bash('pwd')).text).toBe(claude.world.project);
  });

  it('stays where it is, where the settings say so', async () => {
    const claude = await Claude.open({ keep_directory: false });
    await claude.bash('cd /');
    expect((await claude.bash('pwd')).text).toBe(claude.world.project);
  });
});

it('the document shows these answers, and names every parameter', async () => {
  const path = 'docs/dialects/claude_code.md';
  expect(expectDocumented(path, 'claude_code').length).toBeGreaterThan(12);
  const text = readFileSync(join(import.meta.dirname, '../../..', path), 'utf8');
  const { plugin } = await Claude.open();
  for (const { name, parameters } of plugin.getTools()) {
    const row = text.split('\n').find((line) => line.startsWith(`| \`${name}\` |`)) ?? '';
    const named = [...row.matchAll(/`(\w+)\??`/g)].map(([, one]) => one).slice(1);
    expect(named).toEqual(Object.keys(parameters.properties as object));
  }
});
