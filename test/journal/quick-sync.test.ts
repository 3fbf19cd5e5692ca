// A sync is done at once only while that holds nobody up.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { quickSync } from '../../src/journal/quick-sync.ts';

function disk(durations: readonly number[]) {
  const done: string[] = [];
  let now = 0;
  let next = 0;
  const take = (where: string) => {
    done.push(where);
    now += durations[next++] ?? 0;
  };
  const away = async () => take('away');
  return { done, sync: quickSync({ here: () => take('here'), away, clock: () => now }) };
}

test('the first sync, and every one behind a slow one, is off the event loop', async () => {
  const { done, sync } = disk([0.3, 0.3, 50, 0.4, 0.3]);
  for (let i = 0; i < 5; i += 1) await sync(3, true);
  expect(done).toEqual(['away', 'here', 'here', 'away', 'here']);
});

test('it is never here when others wait, and every call syncs once', async () => {
  const calls = fc.array(fc.record({ alone: fc.boolean(), ms: fc.nat(5) }));
  await fc.assert(
    fc.asyncProperty(calls, async (list) => {
      const { done, sync } = disk(list.map(({ ms }) => ms));
      for (const { alone } of list) await sync(3, alone);
      expect(done).toHaveLength(list.length);
      list.forEach(({ alone }, i) => {
        const quick = i > 0 && (list[i - 1]?.ms ?? 9) <= 2;
        if (!alone || !quick) expect(done[i]).toBe('away');
      });
    }),
  );
});

test('a sync that fails is told to whoever waits, here as elsewhere', async () => {
  let fails = false;
  const here = () => {
    if (fails) throw new Error('EIO');
  };
  const sync = quickSync({ here, away: async () => here(), clock: () => 0 });
  await sync(3, true);
  fails = true;
  await expect(sync(3, true)).rejects.toThrow('EIO');
  await expect(sync(3, false)).rejects.toThrow('EIO');
});
