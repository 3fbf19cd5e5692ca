// New settings in a running host: calls finish first, others wait in their order, nothing is lost.
import { afterEach, describe, expect, it } from 'vitest';
import type { ToolResult } from '../../src/host/plugin.ts';
import { fixture, tool } from './fixture.ts';
import { closeHosts, context, deferred, hostOf, names, quiet, settings } from './helper.ts';

afterEach(closeHosts);

/** A plugin whose calls end when the test says so, with the config they began with. */
function slowPlugin() {
  const calls: { readonly args: unknown; readonly end: () => void }[] = [];
  const plugin = fixture({
    callTool: (self, _name, args) => {
      const { promise, resolve } = deferred<ToolResult>();
      const { config } = self;
      const end = () => resolve({ success: true, text: JSON.stringify([config, self.config]) });
      calls.push({ args, end });
      return promise;
    },
  });
  return { plugin, calls };
}

describe('a reload', () => {
  it('is seen by the next call', async () => {
    const host = await hostOf({ p: fixture() }, { settings: settings({ p: { a: 1 } }) });
    await host.reload(settings({ p: { a: 2 } }));
    expect(await host.call('p_echo', {}, context())).toEqual({ success: true, text: '{"a":2}' });
  });

  it('waits for calls inside and holds back new ones, of this plugin only', async () => {
    const { plugin, calls } = slowPlugin();
    const one = settings({ p: { a: 1 }, q: {} });
    const host = await hostOf({ p: plugin, q: fixture() }, { settings: one });
    const before = host.call('p_echo', {}, context());
    const reloaded = host.reload(settings({ p: { a: 2 }, q: {} }));
    const later = [1, 2, 3].map((n) => host.call('p_echo', { n }, context()));
    await quiet();
    expect([calls.length, plugin.events.includes('onConfigReload')]).toEqual([1, false]);
    expect((await host.call('q_echo', {}, context())).success).toBe(true);
    calls[0]?.end();
    await reloaded;
    expect(plugin.events.slice(2, 4)).toEqual(['callTool echo', 'onConfigReload']);
    for (const { end } of calls) end();
    const texts = (await Promise.all([before, ...later])).map(({ text }) => text);
    const [old, now] = ['[{"a":1},{"a":1}]', '[{"a":2},{"a":2}]'];
    expect(texts).toEqual([old, now, now, now]);
    expect(calls.map(({ args }) => args)).toEqual([{}, { n: 1 }, { n: 2 }, { n: 3 }]);
  });

  it('lets nobody overtake those who waited', async () => {
    const order: unknown[] = [];
    const held = deferred();
    const plugin = fixture({
      onConfigReload: () => held.promise,
      callTool: (_self, _name, { n }) => {
        order.push(n);
        return { success: true, text: '' };
      },
    });
    const host = await hostOf({ p: plugin });
    const reloaded = host.reload(settings({ p: { a: 1 } }));
    await quiet();
    const waiting = [1, 2].map((n) => host.call('p_echo', { n }, context()));
    const overtaking = reloaded.then(() => host.call('p_echo', { n: 3 }, context()));
    held.resolve();
    await Promise.all([...waiting, overtaking]);
    expect(order).toEqual([1, 2, 3]);
  });

  it('leaves a plugin alone whose settings are the same', async () => {
    const { plugin, calls } = slowPlugin();
    const host = await hostOf({ p: plugin }, { settings: settings({ p: { a: [1] } }) });
    const call = host.call('p_echo', {}, context());
    await host.reload(settings({ p: { a: [1] } }));
    expect(plugin.events).not.toContain('onConfigReload');
    calls[0]?.end();
    expect((await call).success).toBe(true);
  });

  it('disables, enables, adds and drops plugins', async () => {
    const [a, b] = [fixture(), fixture()];
    const host = await hostOf({ a, b }, { settings: settings({ a: {} }) });
    const lists: string[][] = [];
    host.onToolsChanged(() => lists.push(names(host)));
    await host.reload(settings({ a: {}, b: {} }));
    const disabled = settings({ a: {} }, { enabled: false });
    await host.reload(disabled);
    expect((await host.health()).plugins.a).toMatchObject({ healthy: true, state: 'disabled' });
    expect(Object.keys((await host.health()).plugins)).toEqual(['a']);
    await host.reload(settings({ a: {} }));
    expect(lists).toEqual([['a_echo', 'b_echo'], ['a_echo'], [], ['a_echo']]);
    expect(a.events).toEqual(['construct', 'initialize', 'shutdown', 'construct', 'initialize']);
    expect(b.events).toEqual(['construct', 'initialize', 'shutdown']);
  });

  it('tells nobody when the list of tools stays the same', async () => {
    let told = 0;
    const host = await hostOf({ p: fixture() });
    const stop = host.onToolsChanged(() => told++);
    await host.reload(settings({ p: { a: 1 } }));
    expect(told).toBe(0);
    await host.reload(settings({}));
    stop();
    await host.reload(settings({ p: {} }));
    expect(told).toBe(1);
  });

  it('shows tools that are others after it', async () => {
    const plugin = fixture({ getTools: ({ config }) => [tool((config as { t: string }).t)] });
    const host = await hostOf({ p: plugin }, { settings: settings({ p: { t: 'one' } }) });
    await host.reload(settings({ p: { t: 'two' } }));
    expect(names(host)).toEqual(['p_two']);
    expect((await host.call('p_one', {}, context())).text).toBe('Unknown tool: p_one');
  });

  it('answers a call that waited for a tool that is gone', async () => {
    const held = deferred();
    const plugin = fixture({ shutdown: () => held.promise });
    const host = await hostOf({ p: plugin });
    const reloaded = host.reload(settings({}));
    await quiet();
    const call = host.call('p_echo', {}, context());
    held.resolve();
    await reloaded;
    expect(await call).toEqual({ success: false, text: 'Unknown tool: p_echo' });
  });

  it('answers a call that is cancelled while it waits', async () => {
    const { plugin, calls } = slowPlugin();
    const host = await hostOf({ p: plugin });
    const inside = host.call('p_echo', {}, context());
    const reloaded = host.reload(settings({ p: { a: 1 } }));
    const abort = new AbortController();
    const waiting = host.call('p_echo', {}, context({ signal: abort.signal }));
    abort.abort();
    const answer = { success: false, text: 'p_echo was cancelled before it started.' };
    expect(await waiting).toEqual(answer);
    const aborted = context({ signal: AbortSignal.abort() });
    expect(await host.call('p_echo', {}, aborted)).toEqual(answer);
    calls[0]?.end();
    await Promise.all([inside, reloaded]);
    expect(calls).toHaveLength(1);
  });

  it('takes the newest settings when several came while it waited', async () => {
    const { plugin, calls } = slowPlugin();
    const host = await hostOf({ p: plugin });
    const call = host.call('p_echo', {}, context());
    const reloads = [1, 2, 3].map((a) => host.reload(settings({ p: { a } })));
    await quiet();
    calls[0]?.end();
    await Promise.all([call, ...reloads]);
    expect(plugin.events.filter((event) => event === 'onConfigReload')).toHaveLength(1);
    expect(plugin.made[0]?.config).toEqual({ a: 3 });
  });

  it('is put off for a call that does not end, and the call is left alone', async () => {
    const { plugin, calls } = slowPlugin();
    const host = await hostOf({ p: plugin }, { limits: { drainMs: 5 } });
    const long = host.call('p_echo', {}, context());
    const reloaded = host.reload(settings({ p: { a: 1 } }));
    const held = host.call('p_echo', { n: 1 }, context());
    while ((await host.health()).reasons.length === 0) await quiet();
    expect((await host.health()).reasons).toEqual([
      'p: new settings wait for a call that is still running',
    ]);
    // The call that was held back has been let in, with the old settings.
    await quiet();
    expect(calls).toHaveLength(2);
    for (const { end } of calls) end();
    const texts = (await Promise.all([long, held])).map(({ text }) => text);
    expect(texts).toEqual(['[{},{}]', '[{},{}]']);
    await reloaded;
    expect([plugin.made[0]?.config, (await host.health()).reasons]).toEqual([{ a: 1 }, []]);
  });

  it('ends with the host although a call does not', async () => {
    const { plugin } = slowPlugin();
    const host = await hostOf({ p: plugin });
    host.call('p_echo', {}, context());
    host.reload(settings({ p: { a: 1 } }));
    const waiting = host.call('p_echo', {}, context());
    await quiet();
    await host.close();
    expect(await waiting).toEqual({ success: false, text: 'The server is stopping.' });
    expect(plugin.events.at(-1)).toBe('shutdown');
  });
});

it('a host that is closed in the middle of a reload waits for the old plugin to end', async () => {
  const held = deferred();
  const plugin = fixture({
    onConfigReload: () => new Promise(() => {}),
    shutdown: () => held.promise,
  });
  const host = await hostOf({ p: plugin });
  host.reload(settings({ p: { a: 1 } }));
  await quiet();
  let closed = false;
  const closing = host.close().then(() => {
    closed = true;
  });
  await quiet();
  expect([closed, plugin.events.slice(2)]).toEqual([false, ['onConfigReload', 'shutdown']]);
  held.resolve();
  await closing;
  expect(plugin.made).toHaveLength(1);
});

describe('a plugin that cannot take its new settings', () => {
  it.each([
    ['throws', () => Promise.reject(new Error('boom')), 'onConfigReload: boom'],
    [
      'hangs',
      () => new Promise(() => undefined),
      'onConfigReload: onConfigReload took longer than 0.03 s',
    ],
  ])('because it %s starts afresh with them', async (_, onConfigReload, reason) => {
    const plugin = fixture({ onConfigReload });
    const host = await hostOf({ p: plugin }, { limits: { initializeMs: 30 } });
    await host.reload(settings({ p: { a: 1 } }));
    expect(await host.call('p_echo', {}, context())).toEqual({ success: true, text: '{"a":1}' });
    expect(plugin.events.slice(2, -1)).toEqual([
      ...['onConfigReload', 'shutdown', 'construct', 'initialize'],
    ]);
    expect((await host.health()).plugins.p).toMatchObject({ healthy: true, reasons: [reason] });
  });

  it('is out when that fails, too, and back with settings it can take', async () => {
    const plugin = fixture({
      construct: (config) => {
        if ((config as { bad?: boolean }).bad === true) throw new Error('bad config');
      },
      onConfigReload: () => Promise.reject(new Error('no')),
    });
    const host = await hostOf({ p: plugin, q: fixture() });
    await host.reload(settings({ p: { bad: true }, q: {} }));
    expect(names(host)).toEqual(['q_echo']);
    const reasons = ['p: bad config', 'p: onConfigReload: no'];
    expect((await host.health()).reasons).toEqual(reasons);
    expect((await host.call('p_echo', {}, context())).text).toBe(
      "Unknown tool: p_echo (the plugin 'p' is not running: bad config)",
    );
    await host.reload(settings({ p: {}, q: {} }));
    expect([names(host), (await host.health()).healthy]).toEqual([['p_echo', 'q_echo'], true]);
  });

  it('because its own check refuses them never hears of them', async () => {
    const { plugin: slow, calls } = slowPlugin();
    const plugin = Object.assign(slow, {
      checkConfig: (config: unknown) => {
        const { bad } = config as { bad?: boolean };
        return bad === true ? [{ path: ['bad'], message: 'is bad' }] : [];
      },
    });
    const host = await hostOf({ p: plugin }, { settings: settings({ p: { a: 1 } }) });
    const call = host.call('p_echo', {}, context());
    await host.reload(settings({ p: { bad: true } }));
    const reason = 'p: new settings: its config is refused: bad: is bad';
    expect((await host.health()).reasons).toEqual([reason]);
    calls[0]?.end();
    expect((await call).text).toBe('[{"a":1},{"a":1}]');
    expect(plugin.events).toEqual(['construct', 'initialize', 'callTool echo']);
    await host.reload(settings({ p: { a: 2 } }));
    expect([plugin.made[0]?.config, (await host.health()).reasons]).toEqual([{ a: 2 }, []]);
  });

  it('is tried again by every reload, whatever else that changes', async () => {
    let fails = true;
    const plugin = fixture({
      initialize: () => (fails ? Promise.reject(new Error('not yet')) : undefined),
    });
    const host = await hostOf({ p: plugin });
    fails = false;
    await host.reload(settings({ p: {} }));
    expect(names(host)).toEqual(['p_echo']);
  });

  it('does not take the name of a tool that is taken', async () => {
    const a = fixture({ getTools: () => [tool('b_c')] });
    const ab = fixture({ getTools: () => [tool('c')] });
    const host = await hostOf({ a_b: ab, a }, { settings: settings({ a_b: {} }) });
    await expect(host.reload(settings({ a: {}, a_b: {} }))).rejects.toMatchObject({
      code: 'settings_invalid',
      message: "the plugins 'a_b' and 'a' both claim the tool name 'a_b_c'.",
    });
    expect(names(host)).toEqual(['a_b_c']);
    expect((await host.call('a_b_c', {}, context())).success).toBe(true);
    expect(ab.events).toContain('callTool c');
    expect(a.events).toEqual(['construct', 'initialize', 'shutdown']);
    await host.reload(settings({ a: {} }));
    await host.call('a_b_c', {}, context());
    expect(a.events.at(-1)).toBe('callTool b_c');
  });

  it('does not take it either when only its config changed', async () => {
    const a = fixture({ getTools: ({ config }) => [tool((config as { t: string }).t)] });
    const { plugin: ab, calls } = slowPlugin();
    const one = settings({ a: { t: 'x' }, a_b: {} });
    const host = await hostOf({ a, a_b: ab }, { settings: one });
    const call = host.call('a_b_echo', {}, context());
    const reloaded = host.reload(settings({ a: { t: 'b_echo' }, a_b: {} }));
    await expect(reloaded).rejects.toThrow(
      "the plugins 'a_b' and 'a' both claim the tool name 'a_b_echo'.",
    );
    expect([names(host), ab.events.includes('shutdown')]).toEqual([['a_b_echo'], false]);
    calls[0]?.end();
    expect((await call).success).toBe(true);
  });
});
