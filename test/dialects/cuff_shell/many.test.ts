// Which runs `cuff_shell` lists and searches, and what it says of those it does not show.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { World } from '../../recorder/helper.ts';
import { Native } from './helper.ts';

const named = { meta: { conversation_id: 'c' } };

describe('without a conversation id', () => {
  it('a client has the runs of its own server, and not those of others', async () => {
    const world = new World();
    const other = await Native.open({}, world);
    await other.run('echo needle elsewhere');
    const own = await Native.open({}, world);
    await own.run('echo needle here');
    expect((await own.call('shell_list', { all: true })).trailer).toEqual(['1 run']);
    const found = await own.call('shell_search', { pattern: 'needle' });
    expect(found.text).toContain('needle here');
    expect(found.text).not.toContain('elsewhere');
    expect(found.trailer).toEqual(['1 match; 1 of 1 run searched']);
  });
});

describe('with a conversation id', () => {
  it('a client has the runs of earlier servers, and not of other conversations', async () => {
    const world = new World();
    const before = await Native.open({}, world);
    await before.run('echo needle 1', {}, named);
    await before.run('echo needle 2', {}, { meta: { conversation_id: 'd' } });
    const now = await Native.open({}, world);
    await now.run('echo needle 3', {}, named);
    const { body, trailer } = await now.call('shell_search', { pattern: 'needle' }, named);
    expect([...body.matchAll(/^1: needle (\d)/gm)].map(([, which]) => which)).toEqual(['3', '1']);
    expect(trailer).toEqual(['2 matches; 2 of 2 runs searched']);
  });

  it('a list and a search say how many runs there are, the second time as the first', async () => {
    const native = await Native.open();
    const made = Array.from({ length: 52 }, (_, i) => i);
    for (const i of made) await native.run(`echo line ${i}; echo needle >&2`, {}, named);
    const ask = async (): Promise<readonly string[]> => [
      ...(await native.call('shell_list', { all: true }, named)).trailer,
      ...(await native.call('shell_list', {}, named)).trailer,
      ...(await native.call('shell_search', { pattern: 'line 7' }, named)).trailer,
      ...(await native.call('shell_search', { pattern: 'needle', limit: 3 }, named)).trailer,
    ];
    const first = await ask();
    expect(first).toEqual([
      '52 runs, the newest 50 shown',
      'no runs are alive',
      '1 match; 52 of 52 runs searched',
      '3 matches; 2 of 52 runs searched; stopped because the limit was reached',
    ]);
    expect(await ask()).toEqual(first);
  });

  it('finds nothing in a capture that was removed after it was searched', async () => {
    const native = await Native.open();
    await native.run('echo needle', {}, named);
    const search = () => native.call('shell_search', { pattern: 'needle' }, named);
    expect((await search()).trailer).toEqual(['1 match; 1 of 1 run searched']);
    rmSync(join(native.capture(), '..'), { recursive: true });
    expect((await search()).trailer).toEqual(['0 matches; 0 of 0 runs searched']);
    expect((await native.call('shell_list', { all: true }, named)).trailer).toEqual(['no runs']);
  });
});
