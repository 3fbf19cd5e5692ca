// What a host offers: the tools of its plugins under their names, calls, resources, health.
import { afterEach, describe, expect, it } from 'vitest';
import { createHost } from '../../src/host/host.ts';
import { fixture, tool } from './fixture.ts';
import { closeHosts, context, hostOf, names, services, settings } from './helper.ts';

afterEach(closeHosts);

const recorder = () =>
  fixture({ getTools: () => ['execute', 'session_info', 'list_recent'].map((name) => tool(name)) });

describe('tools', () => {
  it('carry the name of their plugin in front, in a form every client takes', async () => {
    const host = await hostOf({ bash_recorder: recorder(), derun: fixture() });
    expect(host.tools()).toEqual([
      { name: 'bash_recorder_execute', definition: tool('execute') },
      { name: 'bash_recorder_session_info', definition: tool('session_info') },
      { name: 'bash_recorder_list_recent', definition: tool('list_recent') },
      { name: 'derun_echo', definition: tool('echo') },
    ]);
  });

  it('are listed with a dot when the settings say so', async () => {
    const dotted = { ...settings({ bash_recorder: {} }), toolNames: 'dotted' } as const;
    const host = await hostOf({ bash_recorder: recorder() }, { settings: dotted });
    const expected = ['execute', 'session_info', 'list_recent'].map(
      (one) => `bash_recorder.${one}`,
    );
    expect(names(host)).toEqual(expected);
    await host.reload({ ...dotted, toolNames: 'underscore' });
    expect(names(host)[0]).toBe('bash_recorder_execute');
  });

  it('are asked about with the patience of the settings, by default a second', async () => {
    const given = settings({ p: {} });
    const host = await hostOf({ p: fixture() }, { settings: given });
    expect(host.askMinMs()).toBe(1_000);
    await host.reload({ ...given, askMinMs: 0 });
    expect(host.askMinMs()).toBe(0);
  });

  it('are those of enabled plugins only', async () => {
    const off = fixture();
    const one = settings({ on: {}, off: {} });
    const plugins = one.plugins.map((plugin) => ({ ...plugin, enabled: plugin.name === 'on' }));
    const host = await hostOf({ on: fixture(), off }, { settings: { ...one, plugins } });
    expect([names(host), off.events]).toEqual([['on_echo'], []]);
    expect((await host.health()).plugins.off).toEqual({
      healthy: true,
      state: 'disabled',
      reasons: [],
      report: null,
    });
  });

  it('that two plugins claim are a mistake, and nothing is left running', async () => {
    const a = fixture({ getTools: () => [tool('b_c')] });
    const ab = fixture({ getTools: () => [tool('c')] });
    const builtins = { a, a_b: ab };
    const made = createHost({
      settings: settings({ a: {}, a_b: {} }),
      builtins,
      services: services(),
    });
    await expect(made).rejects.toMatchObject({
      code: 'settings_invalid',
      message: "the plugins 'a' and 'a_b' both claim the tool name 'a_b_c'.",
      hint: 'Rename or disable one of them in the settings.',
    });
    expect([a.events.at(-1), ab.events.at(-1)]).toEqual(['shutdown', 'shutdown']);
  });
});

describe('a call', () => {
  it('reaches the plugin with the bare name, the arguments and the context', async () => {
    const got: unknown[] = [];
    const plugin = fixture({
      getTools: () => [tool('do_it')],
      callTool: (_self, name, args, given) => {
        got.push(name, args, given);
        return { success: true, text: 'done', structured: { a: [1] } };
      },
    });
    const host = await hostOf({ my_plugin: plugin });
    const given = context({ meta: { a: 1 }, client: { name: 'c', version: '2' } });
    const answer = { success: true, text: 'done', structured: { a: [1] } };
    expect(await host.call('my_plugin_do_it', { x: 1 }, given)).toEqual(answer);
    expect(await host.call('my_plugin.do_it', { x: 2 }, given)).toEqual(answer);
    expect(got).toEqual(['do_it', { x: 1 }, given, 'do_it', { x: 2 }, given]);
  });

  it('to a tool that nobody has fails and says its name', async () => {
    const host = await hostOf({ p: fixture() });
    for (const name of ['p_other', 'p.other', 'echo', 'p_', '', 'q_echo', '__proto__']) {
      const answer = { success: false, text: `Unknown tool: ${name}` };
      expect(await host.call(name, {}, context())).toEqual(answer);
    }
  });

  it('that fails is an answer, not an error', async () => {
    const failing = fixture({ callTool: () => ({ success: false, text: 'no such thing' }) });
    const host = await hostOf({ p: failing });
    const answer = { success: false, text: 'no such thing' };
    expect(await host.call('p_echo', {}, context())).toEqual(answer);
    expect((await host.health()).healthy).toBe(true);
  });
});

describe('resources', () => {
  const template = (name: string) => ({
    uriTemplate: `${name}://{id}`,
    name,
    description: `of ${name}`,
    mimeType: 'text/plain',
  });
  const owner = (name: string) =>
    fixture({
      getResources: () => [template(name)],
      readResource: (uri) =>
        uri.startsWith(`${name}:`) ? { uri, mimeType: 'text/plain', text: name } : undefined,
    });

  it('are read from the plugin that knows them', async () => {
    const host = await hostOf({ a: owner('a'), none: fixture(), b: owner('b') });
    expect(host.resources()).toEqual([template('a'), template('b')]);
    const read = { uri: 'b://1', mimeType: 'text/plain', text: 'b' };
    expect(await host.readResource('b://1')).toEqual(read);
    expect(await host.readResource('c://1')).toBeUndefined();
  });
});

describe('the life of a plugin', () => {
  it('is construct, initialize, calls, reload, shutdown', async () => {
    const plugin = fixture();
    const host = await hostOf({ p: plugin }, { settings: settings({ p: { a: 1 } }) });
    await host.call('p_echo', {}, context());
    await host.reload(settings({ p: { a: 2 } }));
    const health = await host.health();
    expect(health.plugins.p?.report).toEqual({ healthy: true, reasons: [] });
    await host.close();
    expect(plugin.events).toEqual([
      ...['construct', 'initialize', 'callTool echo', 'onConfigReload', 'shutdown'],
    ]);
  });

  it('gives it a config of its own and a log with its name', async () => {
    const given = { list: [1] };
    const log: Record<string, unknown>[] = [];
    const plugin = fixture({
      construct: (config, { log: say }) => {
        (config as typeof given).list.push(2);
        say('info', 'made', { x: 1 });
      },
    });
    await hostOf(
      { p: plugin },
      { settings: settings({ p: given }), services: services(log as []) },
    );
    expect(given).toEqual({ list: [1] });
    expect(log).toEqual([{ level: 'info', message: 'made', plugin: 'p', x: 1 }]);
  });

  it('ends once, whoever asks, and calls are told so', async () => {
    const plugin = fixture();
    const host = await hostOf({ p: plugin });
    await Promise.all([host.close(), host.close()]);
    expect(plugin.events.filter((event) => event === 'shutdown')).toHaveLength(1);
    const answer = { success: false, text: 'The server is stopping.' };
    expect(await host.call('p_echo', {}, context())).toEqual(answer);
    await host.reload(settings({ p: { a: 1 } }));
    expect(plugin.events.at(-1)).toBe('shutdown');
  });
});

describe('health', () => {
  it('is whole when every plugin is well', async () => {
    const host = await hostOf({ p: fixture() });
    expect(await host.health()).toEqual({
      healthy: true,
      reasons: [],
      settings: { file: null, problem: null },
      plugins: {
        p: {
          healthy: true,
          state: 'running',
          reasons: [],
          report: { healthy: true, reasons: [] },
        },
      },
    });
  });

  it('passes on what a plugin says, and why', async () => {
    const sick = { healthy: false, reasons: ['the disk is full'], disk_space_ok: false };
    const host = await hostOf({ p: fixture({ healthCheck: async () => sick }), q: fixture() });
    const { healthy, reasons, plugins } = await host.health();
    expect([healthy, reasons]).toEqual([false, ['p: the disk is full']]);
    expect(plugins.p).toEqual({
      healthy: false,
      state: 'running',
      reasons: ['the disk is full'],
      report: sick,
    });
  });

  it('tells of settings that could not be taken, until they can', async () => {
    const host = await hostOf({ p: fixture() });
    host.noteSettings('s.yml:1:1: wrong\ns.yml:2:1: wrong, too');
    const wrong = await host.health();
    expect([wrong.healthy, wrong.reasons, wrong.settings.problem]).toEqual([
      false,
      ['s.yml:1:1: wrong', 's.yml:2:1: wrong, too'],
      's.yml:1:1: wrong\ns.yml:2:1: wrong, too',
    ]);
    host.noteSettings(undefined);
    expect((await host.health()).healthy).toBe(true);
  });
});
