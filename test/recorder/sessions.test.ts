// Sessions as the plugin keeps them: how calls are grouped, who they say they are from, the life of
// the plugin, and what new settings do to it.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RecorderPlugin } from '../../src/dialects/bash_recorder/dialect.ts';
import type { SessionMetadata } from '../../src/types.ts';
import { until } from '../cli/helper.ts';
import { call, conversation, execute, World } from './helper.ts';

function summary(world: World, directory?: string): unknown[] {
  return world.sessions(directory).map(({ metadata }) => ({
    conversation: metadata.conversation_id,
    entries: metadata.entry_count,
    status: metadata.status,
    reason: metadata.end_reason,
  }));
}

function only(world: World, directory?: string): SessionMetadata {
  const sessions = world.sessions(directory);
  expect(sessions).toHaveLength(1);
  return sessions[0]?.metadata as SessionMetadata;
}

const DAY = 86_400_000;

describe('sessions', () => {
  it('are conversations', async () => {
    const world = new World();
    const plugin = await world.plugin();
    const meta = { agent_id: 'claude-code', conversation_id: 'a', tool_call_id: 'tc_1' };
    await execute(plugin, 'echo 1', {}, { meta });
    await execute(plugin, 'echo 2', {}, conversation('b'));
    await execute(plugin, 'echo 3', {}, conversation('a'));
    await world.stop(plugin);
    expect(summary(world)).toEqual(
      expect.arrayContaining([
        { conversation: 'a', entries: 2, status: 'shutdown', reason: 'shutdown' },
        { conversation: 'b', entries: 1, status: 'shutdown', reason: 'shutdown' },
      ]),
    );
    expect(world.sessions()).toHaveLength(2);
    expect(world.entries()[0]).toMatchObject({
      agent_id: 'claude-code',
      conversation_id: 'a',
      tool_call_id: 'tc_1',
      context_source: 'self-reported',
    });
  });

  it('say how the repository stood when they began, and nothing outside of one', async () => {
    const world = new World();
    const git = (...args: string[]): string =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], {
        cwd: world.project,
        encoding: 'utf8',
      }).trim();
    const plugin = await world.plugin();
    const vcs = () => world.sessions().map(({ metadata }) => metadata.vcs);
    await execute(plugin, 'true', {}, conversation('outside'));
    git('init', '-q', '-b', 'work');
    git('commit', '-q', '--allow-empty', '-m', 'first');
    const head = git('rev-parse', 'HEAD');
    await execute(plugin, 'git commit -q --allow-empty -m x; true', {}, conversation('inside'));
    await world.stop(plugin);
    expect(vcs().filter((one) => one !== undefined)).toEqual([
      { head, branch: 'work', dirty: false },
    ]);
    expect(vcs()).toHaveLength(2);
  });

  it('are days where no conversation is known', async () => {
    let now = Date.UTC(2026, 0, 18, 12);
    const world = new World({ now: () => now });
    const plugin = await world.plugin();
    await execute(plugin, 'true');
    now += DAY;
    await execute(plugin, 'true');
    await execute(plugin, 'true');
    await until(() => world.sessions()[0]?.metadata.status === 'complete', 'the day is over');
    expect(summary(world)).toEqual([
      { conversation: null, entries: 1, status: 'complete', reason: 'day_change' },
      { conversation: null, entries: 2, status: 'active', reason: null },
    ]);
  });

  it('are days, whatever conversation it is', async () => {
    const world = new World();
    const plugin = await world.plugin({ recording: { session_mode: 'per_day' } });
    await execute(plugin, 'true', {}, conversation('a'));
    await execute(plugin, 'true', {}, conversation('b'));
    expect(only(world)).toMatchObject({ entry_count: 2 });
  });

  it('are the life of a server', async () => {
    let now = Date.UTC(2026, 0, 18, 12);
    const world = new World({ now: () => now });
    const plugin = await world.plugin({ recording: { session_mode: 'continuous' } });
    await execute(plugin, 'true', {}, conversation('a'));
    now += 3 * DAY;
    await execute(plugin, 'true', {}, conversation('b'));
    expect(only(world)).toMatchObject({ entry_count: 2, status: 'active' });
    await world.stop(plugin);
    await world.plugin({ recording: { session_mode: 'continuous' } });
    expect(world.sessions()).toHaveLength(2);
  });

  it('are told about by their own tool', async () => {
    const world = new World();
    const plugin = await world.plugin();
    await execute(plugin, 'false', {}, conversation('a'));
    await execute(plugin, 'true', {}, conversation('b'));
    const { structured } = await call(plugin, 'session_info', {}, conversation('a'));
    expect(structured).toMatchObject({
      recording: true,
      conversation_id: 'a',
      entry_count: 1,
      commands_failed: 1,
      status: 'active',
      directory: world.journal,
      session_mode: 'per_conversation',
    });
    expect(structured?.active_sessions).toHaveLength(2);
  });

  it('keep what they hold to the owner', async () => {
    const world = new World();
    const plugin = await world.plugin();
    await execute(plugin, 'echo plain-text');
    await world.stop(plugin);
    const mode = (path: string): number => fs.statSync(path).mode & 0o777;
    const sessions = join(world.journal, 'sessions');
    expect([mode(world.journal), mode(sessions)]).toEqual([0o700, 0o700]);
    const files = fs.readdirSync(sessions).map((name) => join(sessions, name));
    expect(files).toHaveLength(2);
    for (const file of [...files, join(world.journal, 'index.json')])
      expect(mode(file)).toBe(0o600);
    expect(world.filesWith('plain-text')).toContainEqual(expect.stringMatching(/\.jsonl$/));
  });
});

describe('the life of the plugin', () => {
  it('begins with a directory and a session, and ends with its end on the disk', async () => {
    const world = new World();
    expect(RecorderPlugin.pluginVersion).toBe('1.0.0');
    const plugin = await world.plugin();
    const { session_id } = only(world);
    expect(await plugin.healthCheck()).toMatchObject({
      healthy: true,
      recording_enabled: true,
      current_session: session_id,
      entries_recorded: 0,
    });
    await Promise.all([execute(plugin, 'true'), execute(plugin, 'false')]);
    await world.stop(plugin);
    const path = join(world.journal, 'sessions', `${session_id}.meta.json`);
    expect(JSON.parse(fs.readFileSync(path, 'utf8'))).toMatchObject({
      session_id,
      status: 'shutdown',
      entry_count: 2,
      commands_succeeded: 1,
      commands_failed: 1,
    });
    const [started] = world.log('Session started');
    expect(started).toEqual({
      level: 'info',
      message: 'Session started',
      fields: { plugin: 'bash_recorder', session_id, working_directory: world.project },
    });
    const [ended] = world.log('Session finalized');
    expect(ended?.fields).toEqual({
      plugin: 'bash_recorder',
      session_id,
      entry_count: 2,
      total_duration_ms: expect.any(Number),
      status: 'shutdown',
    });
  });

  it('writes nothing when recording is off, and executes all the same', async () => {
    const world = new World();
    const plugin = await world.plugin({ recording: { enabled: false } });
    const answer = await execute(plugin, 'echo still');
    expect(answer).toMatchObject({ stdout: 'still\n', recording_id: null });
    expect(answer.notices).toEqual([
      'This command was not recorded: recording is turned off in the settings.',
    ]);
    expect(fs.existsSync(world.journal)).toBe(false);
    expect(await plugin.healthCheck()).toMatchObject({
      recording_enabled: false,
      current_session: null,
      entries_recorded: 0,
    });
  });

  it('can be without a beginning', async () => {
    const plugin = new RecorderPlugin({}, new World().services);
    expect(await plugin.healthCheck()).toMatchObject({ healthy: false });
    expect((await call(plugin, 'execute', { command: 'true' })).success).toBe(false);
    await plugin.shutdown();
  });
});

describe('new settings', () => {
  it('with another directory end the session and start one there', async () => {
    const world = new World();
    const plugin = await world.plugin();
    await execute(plugin, 'echo here');
    await plugin.onConfigReload({ recording: { directory: 'elsewhere' } });
    await execute(plugin, 'echo there');
    const elsewhere = join(world.project, 'elsewhere');
    expect(summary(world)).toEqual([
      { conversation: null, entries: 1, status: 'complete', reason: 'config_reload' },
    ]);
    expect(only(world, elsewhere)).toMatchObject({ entry_count: 1, status: 'active' });
    expect(world.log('Configuration changed')[0]?.level).toBe('info');
  });

  it('that turn recording off end the session; on again starts a new one', async () => {
    const world = new World();
    const plugin = await world.plugin();
    await execute(plugin, 'echo 1');
    await plugin.onConfigReload({ recording: { enabled: false } });
    expect(await execute(plugin, 'echo 2')).toMatchObject({ recording_id: null });
    expect(await plugin.healthCheck()).toMatchObject({ current_session: null });
    await plugin.onConfigReload({ recording: { enabled: true } });
    await execute(plugin, 'echo 3');
    expect(world.entries().map((entry) => entry.command)).toEqual(['echo 1', 'echo 3']);
    expect(summary(world)).toEqual(
      expect.arrayContaining([
        { conversation: null, entries: 1, status: 'complete', reason: 'recording_disabled' },
        { conversation: null, entries: 1, status: 'active', reason: null },
      ]),
    );
  });

  it('about execution hold for the next command, in the same session', async () => {
    const world = new World();
    const plugin = await world.plugin();
    await execute(plugin, 'true');
    await plugin.onConfigReload({ execution: { shell: '/bin/sh', default_timeout: 7 } });
    await execute(plugin, 'true');
    expect(only(world).entry_count).toBe(2);
    expect(world.entries()[1]).toMatchObject({ shell: '/bin/sh', timeout_seconds: 7 });
    const [tool] = plugin.getTools();
    expect(JSON.stringify(tool)).toContain('default: 7, max: 600');
  });

  it('that are wrong change nothing', async () => {
    const world = new World();
    const plugin = await world.plugin();
    const wrong = { recording: { directory: 'elsewhere', max_output_size: -1 } };
    await expect(plugin.onConfigReload(wrong)).rejects.toThrow('recording.max_output_size');
    await execute(plugin, 'true');
    expect(only(world)).toMatchObject({ entry_count: 1, status: 'active' });
  });
});

describe('retention', () => {
  it('removes sessions that are old enough, and keeps the others', async () => {
    let now = Date.UTC(2026, 0, 1, 12);
    const world = new World({ now: () => now });
    const old = await world.plugin();
    await execute(old, 'echo old');
    await world.stop(old);
    // It came into the journal then; what is imported now may have commands as old as that.
    const sessions = join(world.journal, 'sessions');
    for (const name of fs.readdirSync(sessions)) {
      fs.utimesSync(join(sessions, name), now / 1000, now / 1000);
    }
    const imported = await world.plugin({ recording: { session_mode: 'continuous' } });
    await execute(imported, 'echo imported');
    await world.stop(imported);
    now += 29 * DAY;
    const second = await world.plugin();
    await execute(second, 'echo newer');
    await world.stop(second);
    expect(world.entries()).toHaveLength(3);
    now += 2 * DAY;
    const forever = await world.plugin({ recording: { retention_days: 0 } });
    await world.stop(forever);
    expect(world.entries()).toHaveLength(3);
    await world.plugin();
    await until(() => world.entries().length === 2, 'the old one is gone');
    expect(world.entries().map(({ command }) => command)).toEqual(['echo imported', 'echo newer']);
    expect(world.log('Session removed')).toHaveLength(1);
  });
});

describe('list_recent', () => {
  it('gives the last commands of the whole journal, the newest first', async () => {
    let now = Date.UTC(2026, 0, 18, 12);
    const world = new World({ now: () => ++now });
    const first = await world.plugin();
    for (const n of [1, 2, 3]) await execute(first, `echo ${n}`);
    await world.stop(first);
    const second = await world.plugin();
    await execute(second, 'exit 4', { description: 'fails' }, conversation('x'));
    await execute(second, 'echo 5', {}, conversation('y'));
    const { text, structured } = await call(second, 'list_recent', { count: 3 });
    expect(JSON.parse(text)).toEqual(structured);
    const entries = structured?.entries as Record<string, unknown>[];
    expect(entries.map(({ command }) => command)).toEqual(['echo 5', 'exit 4', 'echo 3']);
    expect(entries[1]).toEqual({
      entry_id: expect.stringMatching(/^e_/),
      session_id: expect.any(String),
      timestamp: expect.stringMatching(/^2026-01-18T12:00:00\.\d{6}Z$/),
      command: 'exit 4',
      description: 'fails',
      working_directory: world.project,
      exit_code: 4,
      timed_out: false,
      end_reason: 'itself',
      duration_ms: expect.any(Number),
      run_id: expect.any(String),
    });
  });

  it('gives a caller that names its conversation the commands of that one', async () => {
    let now = Date.UTC(2026, 0, 18, 12);
    const world = new World({ now: () => ++now });
    const first = await world.plugin();
    await execute(first, 'echo x1', {}, conversation('x'));
    await execute(first, 'echo none');
    await world.stop(first);
    const second = await world.plugin({ recording: { session_mode: 'per_day' } });
    await execute(second, 'echo y1', {}, conversation('y'));
    await execute(second, 'echo x2', {}, conversation('x'));
    const listed = async (id: string, count: number): Promise<unknown[]> => {
      const { structured } = await call(second, 'list_recent', { count }, conversation(id));
      const entries = structured?.entries as Record<string, unknown>[];
      return entries.map(({ command }) => command);
    };
    expect(await listed('x', 5)).toEqual(['echo x2', 'echo x1']);
    expect(await listed('x', 1)).toEqual(['echo x2']);
    expect(await listed('y', 5)).toEqual(['echo y1']);
    expect(await listed('z', 5)).toEqual([]);
  });

  it('shortens commands that are too long for a list', async () => {
    const world = new World();
    const plugin = await world.plugin();
    await execute(plugin, `: ${'x'.repeat(5000)}`);
    const { structured } = await call(plugin, 'list_recent');
    expect(structured).toMatchObject({ entries: [{ command: `: ${'x'.repeat(1998)}…` }] });
    expect(world.entry().command).toHaveLength(5002);
  });

  it('reads only the ends of long sessions', async () => {
    const world = new World();
    const plugin = await world.plugin();
    await execute(plugin, 'head -c 900000 /dev/zero | tr "\\0" x');
    await execute(plugin, 'echo last');
    const { structured } = await call(plugin, 'list_recent', { count: 2 });
    expect(structured?.entries).toHaveLength(2);
  });
});
