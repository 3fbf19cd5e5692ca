// A server that is idle packs what is old; one that is not, does not.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { SealedUpkeep } from '../../src/recorder/sealed.ts';
import { captureSeconds, DEFAULT_RECORDING } from '../../src/recorder/settings.ts';
import type { Log } from '../../src/types.ts';
import { build, INTENT, NOW, testStore } from '../capture/helper.ts';
import { until } from '../cli/helper.ts';

afterEach(() => void vi.useRealTimers());

it('an idle server packs the captures of yesterday', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  const store = testStore();
  const meta = { retentionSeconds: 30 * 86_400, journal: INTENT };
  const final = { at: NOW - 25 * 3_600_000 };
  const { dir } = build(store, [{ bytes: 'a line\n'.repeat(2_000) }], { meta, final });
  const said: string[] = [];
  const server = (): SealedUpkeep => {
    const log: Log = (_, message, fields) => said.push(`${message}: ${fields?.run_id}`);
    const about = { env: { HOME: store.root }, workingDirectory: store.root, now: () => NOW };
    const upkeep = new SealedUpkeep({
      ...about,
      ledger: undefined,
      store,
      log,
      journal: () => undefined,
      endOver: () => [],
    });
    upkeep.open();
    return upkeep;
  };
  const busy = server();
  vi.advanceTimersByTime(29_000);
  busy.used();
  vi.advanceTimersByTime(1_000);
  await busy.close();
  expect(existsSync(join(dir, 'output.bin'))).toBe(true);
  const idle = server();
  vi.advanceTimersByTime(30_000);
  await until(() => said.length > 0, 'it has packed');
  expect(said).toEqual(['Capture packed: one']);
  expect(existsSync(join(dir, 'output.bin'))).toBe(false);
  await idle.close();
});

it('a capture is kept as long as its entry', () => {
  const seconds = (retentionDays: number) =>
    captureSeconds({ ...DEFAULT_RECORDING, directory: '/', retentionDays });
  expect([seconds(1), seconds(30)]).toEqual([86_400, 30 * 86_400]);
  // For ever is a number that every reader of meta.json takes.
  expect([seconds(0), seconds(1e12)]).toEqual([3_153_600_000, 3_153_600_000]);
});
