// What `claude_code` does besides its answers to the letter, which are in `golden.test.ts`.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectDocumented } from '../documented.ts';
import { Claude } from './helper.ts';

describe('the tools', () => {
  it('say the limits that are in force', async () => {
    const claude = await Claude.open({ default_timeout_ms: 5, on_timeout: 'background' });
    expect(claude.plugin.getTools()[0]?.description).toContain('milliseconds, 5 if not given');
    expect(claude.plugin.getTools()[0]?.description).toContain('goes on as a background shell');
  });
});

describe('Bash answers', () => {
  it('exit code 1 of a program that answers with it, as no error', async () => {
    const claude = await Claude.open();
    const none = { success: true, text: 'Exit code 1\n[no match]' };
    expect(await claude.bash('echo a | grep b')).toEqual(none);
    expect(await claude.bash('false')).toEqual({ success: false, text: 'Exit code 1' });
  });
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
