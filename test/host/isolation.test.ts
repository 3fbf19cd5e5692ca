// A plugin that throws, hangs or lies: it is out or its call failed, it is reported, and the one
// beside it does not notice.
import { afterEach, describe, expect, it } from 'vitest';
import type { Host } from '../../src/host/host.ts';
import { type FixtureClass, fixture, type Script, tool } from './fixture.ts';
import { closeHosts, context, hostOf, type Logged, names, services } from './helper.ts';

afterEach(closeHosts);

const boom = (): never => {
  throw new Error('boom');
};
const rejects = async (): Promise<never> => boom();
const never = () => new Promise<never>(() => undefined);

/** A host of a bad plugin and a good one. */
async function beside(script: Script): Promise<{ host: Host; bad: FixtureClass; log: Logged[] }> {
  const bad = fixture(script);
  const log: Logged[] = [];
  const limits = { startMs: 200, initializeMs: 50, shutdownMs: 50, healthMs: 50 };
  const host = await hostOf({ bad, good: fixture() }, { limits, services: services(log) });
  return { host, bad, log };
}

/** The good plugin works as if it were alone. */
async function goodIsWell(host: Host): Promise<void> {
  expect(await host.call('good_echo', {}, context())).toEqual({ success: true, text: '{}' });
  const { plugins } = await host.health();
  expect(plugins.good).toMatchObject({ healthy: true, state: 'running', reasons: [] });
}

const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;
const unreadable = new Proxy(Object.create(null), {
  get: boom,
  has: boom,
  ownKeys: boom,
  getPrototypeOf: boom,
});

describe('a plugin is out when', () => {
  const cases: readonly [string, Script, string][] = [
    ['its constructor throws', { construct: boom }, 'boom'],
    ['its constructor throws nothing', { construct: () => raise(undefined) }, 'undefined'],
    [
      'its constructor throws what cannot be looked at',
      { construct: () => raise(unreadable) },
      'something that cannot be shown',
    ],
    ['initialize throws', { initialize: boom }, 'boom'],
    ['initialize rejects', { initialize: rejects }, 'boom'],
    ['initialize never ends', { initialize: never }, 'initialize took longer than 0.05 s'],
    ['getTools throws', { getTools: boom }, 'boom'],
    ['getTools gives nothing', { getTools: () => undefined }, 'getTools gave no array'],
    ['getTools gives a promise', { getTools: async () => [] }, 'getTools gave no array'],
    ['getTools gives what is no JSON', { getTools: () => [cyclic] }, 'Converting circular'],
    ['a tool has no name', { getTools: () => [{}] }, 'a tool has no name'],
    ['a tool is nothing', { getTools: () => [null] }, 'a tool has no name'],
    ['two tools have one name', { getTools: () => [tool('a'), tool('a')] }, "are called 'a'"],
    ['a tool has a dot', { getTools: () => [tool('a.b')] }, "the tool 'a.b' has a name"],
    ['a name is too long', { getTools: () => [tool('a'.repeat(61))] }, 'at most 64 letters'],
    [
      'a tool has no description',
      { getTools: () => [tool('a', { description: 7 })] },
      "the tool 'a' has no description",
    ],
    [
      'a tool has no schema',
      { getTools: () => [tool('a', { parameters: undefined })] },
      "parameters of the tool 'a' are no schema of type object",
    ],
    [
      'a schema is a union',
      { getTools: () => [tool('a', { parameters: { type: 'object', oneOf: [] } })] },
      "parameters of the tool 'a' have oneOf at the top",
    ],
    [
      'a schema of results is a union',
      { getTools: () => [tool('a', { outputSchema: { type: 'object', anyOf: [] } })] },
      "outputSchema of the tool 'a' have anyOf at the top",
    ],
    ['getResources gives nonsense', { getResources: () => [{}] }, 'getResources gave something'],
    ['checkConfig throws', { checkConfig: boom }, 'boom'],
    [
      'checkConfig refuses',
      { checkConfig: () => [{ path: ['a', 0], message: 'is wrong' }] },
      'its config is refused: a[0]: is wrong',
    ],
  ];

  it.each(cases)('%s', async (_, script, reason) => {
    const { host, bad, log } = await beside(script);
    expect(names(host)).toEqual(['good_echo']);
    await goodIsWell(host);
    const health = await host.health();
    expect(health.healthy).toBe(false);
    expect(health.plugins.bad).toMatchObject({ healthy: false, state: 'failed', report: null });
    expect(health.plugins.bad?.reasons[0]).toContain(reason);
    expect(health.reasons[0]).toMatch(/^bad: /);
    const error = expect.stringContaining(reason);
    const message = 'The plugin could not be started';
    expect(log).toContainEqual({ level: 'error', message, plugin: 'bad', error });
    // Whoever was constructed is shut down, also when it never was initialized.
    const ended = bad.events.filter((event) => event === 'shutdown').length;
    expect(ended).toBe(bad.made.length);
    const { success, text } = await host.call('bad_a', {}, context());
    expect(success).toBe(false);
    expect(text).toMatch(/^Unknown tool: bad_a \(the plugin 'bad' is not running: /);
  });

  function raise(what: unknown): never {
    throw what;
  }
});

describe('only the call fails when', () => {
  const cases: readonly [string, Script['callTool'], string][] = [
    ['callTool throws', boom, 'boom'],
    ['callTool rejects', rejects, 'boom'],
    ['callTool rejects with nothing', () => Promise.reject(), 'undefined'],
    ['it gives nothing', async () => null, 'callTool gave something else than {success, text}'],
    ['it gives no text', () => ({ success: true }), 'callTool gave something else'],
    ['it gives no truth', () => ({ success: 1, text: '' }), 'callTool gave something else'],
    [
      'what it gives cannot be looked at',
      () => ({
        success: true,
        text: '',
        get structured() {
          return boom();
        },
      }),
      'boom',
    ],
    [
      'it gives a cycle',
      () => ({ success: true, text: '', structured: cyclic }),
      'structured content that is no JSON object',
    ],
    [
      'it gives a function',
      () => ({ success: true, text: '', structured: { a: () => 1 } }),
      'structured content that is no JSON object',
    ],
    [
      'it gives a big integer',
      () => ({ success: true, text: '', structured: { a: 1n } }),
      'structured content that is no JSON object',
    ],
    [
      'it gives a list',
      () => ({ success: true, text: '', structured: [] }),
      'structured content that is no JSON object',
    ],
  ];

  it.each(cases)('%s', async (_, callTool, reason) => {
    const { host, bad } = await beside(callTool === undefined ? {} : { callTool });
    for (const time of ['once', 'twice']) {
      const answer = await host.call('bad_echo', {}, context());
      expect([time, answer.success]).toEqual([time, false]);
      expect(answer.text).toMatch(/^echo of bad failed: /);
      expect(answer.text).toContain(reason);
    }
    await goodIsWell(host);
    const { plugins } = await host.health();
    expect(plugins.bad).toMatchObject({ healthy: true, state: 'running' });
    expect(plugins.bad?.reasons[0]).toMatch(/^callTool echo: .* \(2 times\)$/);
    expect(bad.events).not.toContain('shutdown');
  });
});

describe('health says so when', () => {
  it.each<[string, Script['healthCheck'], string]>([
    ['healthCheck throws', boom, 'healthCheck: boom'],
    ['healthCheck rejects', rejects, 'healthCheck: boom'],
    ['healthCheck never ends', never, 'healthCheck: healthCheck took longer than 0.05 s'],
    ['healthCheck gives nonsense', async () => 7, 'healthCheck: healthCheck gave something else'],
  ])('%s', async (_, healthCheck, reason) => {
    const { host } = await beside({ healthCheck } as Script);
    const { plugins } = await host.health();
    expect(plugins.bad).toMatchObject({ healthy: false, state: 'running', report: null });
    expect((await host.health()).plugins.bad?.reasons[0]).toContain(reason);
    await goodIsWell(host);
  });

  it('reading a resource throws or gives nonsense', async () => {
    const templates = [{ uriTemplate: 'x:{a}', name: 'x', description: 'x', mimeType: 'x' }];
    for (const readResource of [boom, rejects, () => ({ uri: 7 })]) {
      const { host } = await beside({ getResources: () => templates, readResource });
      expect(await host.readResource('x:1')).toBeUndefined();
      expect((await host.health()).plugins.bad?.reasons[0]).toMatch(/^readResource: /);
    }
  });
});

describe('the server still ends when', () => {
  it.each<[string, Script['shutdown']]>([
    ['shutdown throws', boom],
    ['shutdown rejects', rejects],
    ['shutdown never ends', never],
  ])('%s', async (_, shutdown) => {
    const { host, log } = await beside({ shutdown } as Script);
    await host.close();
    const where = 'shutdown';
    expect(log).toContainEqual(expect.objectContaining({ plugin: 'bad', where }));
  });

  it('a plugin is still starting', async () => {
    const bad = fixture({ initialize: never });
    const limits = { startMs: 10, initializeMs: 60_000 };
    const host = await hostOf({ bad, good: fixture() }, { limits });
    expect(names(host)).toEqual(['good_echo']);
    expect((await host.health()).plugins.bad).toMatchObject({ healthy: false, state: 'starting' });
    await host.close();
    expect(bad.events).toEqual(['construct', 'initialize', 'shutdown']);
  });
});

it('a plugin that is slow to start joins when it is ready', async () => {
  let ready: () => void = () => undefined;
  const slow = fixture({ initialize: () => new Promise<void>((resolve) => (ready = resolve)) });
  const host = await hostOf({ slow, good: fixture() }, { limits: { startMs: 10 } });
  expect(names(host)).toEqual(['good_echo']);
  const changed = new Promise<void>((resolve) => host.onToolsChanged(resolve));
  ready();
  await changed;
  expect(names(host)).toEqual(['slow_echo', 'good_echo']);
});

it('a listener for changed tools that throws does no harm either', async () => {
  const log: Logged[] = [];
  let ready: () => void = () => undefined;
  const slow = fixture({ initialize: () => new Promise<void>((resolve) => (ready = resolve)) });
  const host = await hostOf({ slow }, { limits: { startMs: 10 }, services: services(log) });
  host.onToolsChanged(boom);
  const changed = new Promise<void>((resolve) => host.onToolsChanged(resolve));
  ready();
  await changed;
  expect(log).toEqual([
    { level: 'error', message: 'A listener for changed tools failed', error: 'boom' },
  ]);
});
