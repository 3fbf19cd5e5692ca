// What `claude_code` and `codex` tell beside the output of a run: who is left of it, what of its
// output was lost, and that it runs, even if its output cannot be read.
import { appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ClaudeCode } from '../../src/dialects/claude_code/dialect.ts';
import { Codex } from '../../src/dialects/codex/dialect.ts';
import type { Plugin, PluginClass } from '../../src/host/plugin.ts';
import { createShell } from '../../src/shell/shell.ts';
import { FACT_MS_MAX } from '../pace.ts';
import { call, World } from '../recorder/helper.ts';
import { Claude } from './claude_code/helper.ts';
import { CodexWorld, outputOf } from './codex/helper.ts';
import { alive, BECOME, becomes } from './hard-cases.ts';

/** A dialect whose captures take ten bytes. */
async function onSmallDisk(of: PluginClass): Promise<Plugin> {
  const world = new World();
  const { stateRoot, project: cwd } = world;
  const small = createShell({ stateRoot, cwd, env: process.env, outputBytesMax: 10 });
  const plugin = new of({}, { ...world.services, shell: () => small });
  await plugin.initialize();
  onTestFinished(async () => {
    await plugin.shutdown();
    small.close();
  });
  return plugin;
}

/** As the runner writes it when there is room again on a disk that was full. */
function lose({ stateRoot }: World, lost_bytes: number, reason = 'ENOSPC'): void {
  const [id = ''] = readdirSync(join(stateRoot, 'sessions'));
  const gap = { type: 'gap', timestamp: new Date().toISOString(), offset: 0, lost_bytes, reason };
  const events = join(stateRoot, 'sessions', id, 'events.jsonl');
  appendFileSync(events, `${JSON.stringify(gap)}\n`);
}

async function eventually(fact: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + FACT_MS_MAX;
  while (!(await fact())) {
    if (performance.now() > deadline) throw new Error('it never came true');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

it('a shell that is left is named by what it runs, in both', async () => {
  const command = '{ sleep 654; exit; } & echo started';
  const named = /\[Still running: pid \d+: bash -c \{ sleep 654; exit; \} & echo started[;\]]/;
  expect((await (await Claude.open()).bash(command)).text).toMatch(named);
  expect((await (await CodexWorld.open()).exec(command)).text).toMatch(named);
});

describe('what a background shell of claude_code leaves running', () => {
  it('is named, and can be killed', async () => {
    const claude = await Claude.open();
    await claude.background('sleep 654 & echo started', 'started');
    await claude.ended('bash_1');
    await becomes(claude.world, 'sleep 654');
    const output = await claude.tool('BashOutput', { bash_id: 'bash_1' });
    const task = await claude.tool('TaskOutput', { task_id: 'bash_1' });
    const pid = Number(/\[Still running: pid (\d+): sleep 654\]/.exec(output.text)?.[1]);
    expect(alive(pid)).toBe(true);
    const killed = await claude.tool('KillShell', { shell_id: 'bash_1' });
    expect(alive(pid)).toBe(false);
    const after = await claude.tool('BashOutput', { bash_id: 'bash_1' });
    const again = await claude.tool('KillShell', { shell_id: 'bash_1' });
    const all = [output, task, killed, after, again];
    expect(all.map(({ success }) => success)).toEqual([true, true, true, true, false]);
  });

  it('is no more than what is alive now', async () => {
    const claude = await Claude.open();
    const go = join(claude.world.dir, 'go');
    await claude.background(`(until [ -e ${go} ]; do sleep 0.01; done) & echo started`, 'started');
    await claude.ended('bash_1');
    const output = async (): Promise<string> =>
      (await claude.tool('BashOutput', { bash_id: 'bash_1' })).text;
    expect(await output()).toContain('[Still running: pid ');
    appendFileSync(go, '');
    await eventually(async () => !(await output()).includes('Still running'));
    const { success } = await claude.tool('TaskStop', { task_id: 'bash_1' });
    expect(success).toBe(false);
  });
});

describe('what a command of codex leaves running', () => {
  it('is named when its session ends, in few words', async () => {
    const codex = await CodexWorld.open();
    const go = join(codex.world.dir, 'go');
    const sleeps = `for i in 1 2 3 4 5; do sleep ${'0'.repeat(200)}100 & ${BECOME}; done`;
    await codex.start(`until [ -e ${go} ]; do sleep 0.01; done; ${sleeps}`);
    appendFileSync(go, '');
    const { text } = await codex.write(1_000, { yield_time_ms: 30_000 });
    expect(text).toContain('Process exited with code 0');
    expect(outputOf(text)).toMatch(/^\[Still running: (pid \d+: sleep 0{54}…; ){3}and 2 more\]$/);
  });
});

describe('output that could not be kept', () => {
  it('is told by claude_code, of what is new and of all', async () => {
    const claude = await onSmallDisk(ClaudeCode);
    const args = { command: 'echo 0123456789abcdef', run_in_background: true };
    await call(claude, 'Bash', args);
    const task = await call(claude, 'TaskOutput', { task_id: 'bash_1' });
    expect(task.text).toMatch(/<\/output>\n\n\[7 bytes of output could not be kept\]$/);
    const first = await call(claude, 'BashOutput', { bash_id: 'bash_1' });
    expect(first.text).toContain('</stdout>\n\n[7 bytes of output could not be kept]\n\n');
    const second = await call(claude, 'BashOutput', { bash_id: 'bash_1' });
    expect(second.text).not.toContain('could not be kept');
    const again = await call(claude, 'TaskOutput', { task_id: 'bash_1' });
    expect(again.text).toBe(task.text);
  });

  it('is told by codex', async () => {
    const codex = await onSmallDisk(Codex);
    const { text } = await call(codex, 'exec_command', { cmd: 'echo 0123456789abcdef' });
    expect(outputOf(text)).toBe('0123456789\n[7 bytes of output could not be kept]');
  });

  it('is told while the command goes on', async () => {
    const claude = await Claude.open();
    await claude.background('echo a; sleep 60', 'a');
    const output = async (): Promise<string> =>
      (await claude.tool('BashOutput', { bash_id: 'bash_1' })).text;
    expect(await output()).not.toContain('could not be kept');
    lose(claude.world, 5);
    expect(await output()).toContain('\n\n[5 bytes of output could not be kept]\n\n');
    expect(await output()).not.toContain('could not be kept');
    lose(claude.world, 2);
    expect(await output()).toContain('[7 bytes of output could not be kept]');
    const task = await claude.tool('TaskOutput', { task_id: 'bash_1', block: false });
    expect(task.text).toMatch(/\[7 bytes of output could not be kept\]$/);
  });

  it('is not what was typed and not taken', async () => {
    const codex = await CodexWorld.open();
    await codex.start('read a; read b', { tty: true });
    lose(codex.world, 9, 'stdin');
    const first = await codex.write(1_000, { chars: 'a\n' });
    expect(first.text).not.toContain('could not be kept');
    lose(codex.world, 5);
    const second = await codex.write(1_000, { chars: 'b\n', yield_time_ms: 30_000 });
    expect(second.text).toMatch(/\[5 bytes of output could not be kept\]$/);
  });
});

describe('a run whose output cannot be read', () => {
  /** Takes away the file of the only run there is, once it is there. */
  const spoil = ({ stateRoot }: World): string =>
    `(\\cd ${stateRoot}/sessions/*/; until rm output.bin; do :; done 2>/dev/null;` +
    ' mkdir output.bin)';

  it('is a session of codex all the same', async () => {
    const spoilt = (world: World): string => `${spoil(world)}; sleep 100`;
    const { codex, text } = await CodexWorld.started(spoilt, /could not be read/);
    expect(text).toMatch(/\nProcess running with session ID 1000\n.*\nOutput:\n/);
    expect(outputOf(text)).toMatch(/^\[The output of run \S+ could not be read: .+\]$/);
    const ended = await codex.write(1_000, { chars: '\u0003', yield_time_ms: 30_000 });
    expect(ended.text).toContain('\nProcess exited with code 130\n');
  });

  it('tells codex how it came out', async () => {
    const codex = await CodexWorld.open();
    const { text } = await codex.exec(`${spoil(codex.world)}; echo said; exit 3`);
    expect(text).toContain('\nProcess exited with code 3\n');
    expect(outputOf(text)).toMatch(/^\[The output of run \S+ could not be read: .+\]$/);
  });

  it('tells claude_code how it came out', async () => {
    const claude = await Claude.open();
    const { text } = await claude.bash(`${spoil(claude.world)}; echo said; exit 3`);
    expect(text).toMatch(/^Exit code 3\n\[The output could not be read: .+\]$/);
  });

  it('is a background shell of claude_code all the same', async () => {
    const claude = await Claude.open();
    const args = { command: `${spoil(claude.world)}; sleep 60`, run_in_background: true };
    const { text: started } = await claude.tool('Bash', args);
    expect(started).toMatch(/^Command running in background with ID: bash_1\./);
    const output = async (): Promise<string> =>
      (await claude.tool('BashOutput', { bash_id: 'bash_1' })).text;
    await eventually(async () => (await output()).includes('could not be read'));
    expect(await output()).toMatch(/^<status>running<\/status>\n\n\[The output could not be read/);
    const task = await claude.tool('TaskOutput', { task_id: 'bash_1', block: false });
    expect(task.text).toContain('<status>running</status>\n\n[The output could not be read');
    expect((await claude.tool('KillShell', { shell_id: 'bash_1' })).success).toBe(true);
  });
});
