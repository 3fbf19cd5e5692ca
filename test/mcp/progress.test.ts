import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { throttled } from '../../src/mcp/progress.ts';

describe('progress', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is sent at once, then at most four times in a second, with the latest message', () => {
    const sent: [number, string][] = [];
    const { report, end } = throttled((step, message) => void sent.push([step, message]));
    for (let n = 0; n < 100; n += 1) {
      report(`at ${n * 10}`);
      vi.advanceTimersByTime(10);
    }
    vi.advanceTimersByTime(1_000);
    expect(sent).toEqual([
      [1, 'at 0'],
      [2, 'at 240'],
      [3, 'at 490'],
      [4, 'at 740'],
      [5, 'at 990'],
    ]);
    report('after a pause');
    expect(sent.at(-1)).toEqual([6, 'after a pause']);
    end();
  });

  it('is not sent once the call is over', () => {
    const sent: string[] = [];
    const { report, end } = throttled((_, message) => void sent.push(message));
    report('first');
    report('waits');
    end();
    report('too late');
    vi.advanceTimersByTime(10_000);
    expect(sent).toEqual(['first']);
  });
});
