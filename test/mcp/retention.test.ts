import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { sweepRegularly } from '../../src/mcp/retention.ts';
import { build, NOW, testStore } from '../capture/helper.ts';
import { until } from '../cli/helper.ts';

const MINUTE = 60_000;

describe('the sweep of a server', () => {
  afterEach(() => void vi.useRealTimers());

  it('comes at the start and every ten minutes, and spares what is not over', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const store = testStore();
    const dirs = ['short', 'long'].map((id) => join(store.sessions, id));
    const [short = '', long = ''] = dirs;
    build(store, [], { id: 'over', meta: { retentionSeconds: 1 }, final: { at: NOW - 5_000 } });
    build(store, [], { id: 'short', meta: { retentionSeconds: 300 } });
    build(store, [], { id: 'long', meta: { retentionSeconds: 86_400 } });
    const stop = sweepRegularly(store, (error) => expect.unreachable(error.message));
    await until(() => !existsSync(join(store.sessions, 'over')), 'the first sweep');
    expect(dirs.map((dir) => existsSync(dir))).toEqual([true, true]);
    store.now = () => NOW + 10 * MINUTE;
    vi.advanceTimersByTime(10 * MINUTE - 1);
    expect(vi.getTimerCount()).toBe(1);
    expect(existsSync(short)).toBe(true);
    vi.advanceTimersByTime(1);
    await until(() => !existsSync(short), 'the second sweep');
    expect(existsSync(long)).toBe(true);
    stop();
    expect(vi.getTimerCount()).toBe(0);
    const log = join(store.root, 'logs', 'derun.log');
    await until(() => existsSync(log), 'the log is written');
    expect(readFileSync(log, 'utf8')).toContain('"cleanup_reason":"expired"');
  });
});
