// 1,000 calls while the settings change 100 times on disk, every fourth time to something wrong: no
// call is lost, and each sees the settings of one generation from its beginning to its end.
import { renameSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { fixture, tool } from './fixture.ts';
import { context } from './helper.ts';
import { Watched } from './watched.ts';

const CALLS = 1_000;
const RELOADS = 100;

type Config = { readonly n: number; readonly copy: number; readonly list: readonly number[] };

const settings = (n: number) => `
plugins:
  p: { config: { n: ${n}, copy: ${n}, list: [${n}, ${n}] } }
  ${n % 3 === 0 ? 'other: { module: opencuff.plugins.builtin.p }' : ''}
`;

/** Takes new settings in two steps, with a pause between them: a call inside would notice. */
const plugin = fixture({
  getTools: () => [tool('echo')],
  onConfigReload: async (config, self) => {
    const { n } = config as Config;
    self.config = { ...(self.config as Config), n };
    await new Promise((resolve) => setTimeout(resolve, 1));
    self.config = config;
  },
  callTool: async (self, _name, { id }) => {
    const before = self.config as Config;
    await new Promise((resolve) => setTimeout(resolve, Number(id) % 7));
    const after = self.config as Config;
    const numbers = [before, after].flatMap(({ n, copy, list }) => [n, copy, ...list]);
    return { success: true, text: JSON.stringify({ id, n: before.n, numbers }) };
  },
});

const watched = new Watched(plugin);
afterEach(() => watched.close());

it('no call is lost and none sees half a setting', async () => {
  watched.project.write('settings.yml', settings(0));
  await watched.start({ settleMs: 1, pollMs: 5 });
  const calls: Promise<{ readonly id: number; readonly numbers: number[] }>[] = [];
  const call = async (id: number) => {
    const { success, text } = await watched.host.call('p_echo', { id }, context());
    expect([text, success]).toEqual([text, true]);
    return JSON.parse(text);
  };
  const start = (count: number): void => {
    for (let i = 0; i < count; i++) calls.push(call(calls.length));
  };
  for (let n = 1; n <= RELOADS; n++) {
    const wrong = n % 4 === 0;
    start(CALLS / RELOADS / 2);
    watched.project.write('next', wrong ? `plugns: ${n}` : settings(n));
    renameSync(watched.project.path('next'), watched.project.path('settings.yml'));
    start(CALLS / RELOADS / 2);
    // Nobody waits for these calls: the settings change in the middle of them.
    await (wrong ? watched.complains(/unknown key 'plugns'/) : watched.sees(n));
  }
  const answers = await Promise.all(calls);
  expect(answers.map(({ id }) => id)).toEqual(Array.from({ length: CALLS }, (_, id) => id));
  const halves = answers.filter(({ numbers }) => new Set(numbers).size !== 1);
  expect(halves).toEqual([]);
  expect(new Set(answers.map(({ numbers }) => numbers[0])).size).toBeGreaterThan(RELOADS / 4);
  watched.project.write('settings.yml', settings(999));
  await watched.sees(999);
  expect((await watched.host.health()).healthy).toBe(true);
  // `p` itself was only told; what was shut down is `other`, which comes and goes.
  const count = (event: string) => plugin.events.filter((one) => one === event).length;
  expect(count('onConfigReload')).toBe(RELOADS * 0.75 + 1);
  expect(count('construct') - count('shutdown')).toBe(2);
});
