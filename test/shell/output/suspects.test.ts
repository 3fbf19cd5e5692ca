// Lines that look like errors in the part of a capture that an answer leaves out.
import { rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openCapture } from '../../../src/capture/store.ts';
import { type LineRange, type Suspects, suspectsIn } from '../../../src/shell/output/suspects.ts';
import { build, testStore } from '../../capture/helper.ts';

function suspects(bytes: string, range: LineRange): Suspects {
  const store = testStore();
  try {
    build(store, [{ bytes }]);
    return suspectsIn(openCapture(store, 'one'), 'all', range);
  } finally {
    rmSync(store.root, { recursive: true });
  }
}

it('only the lines between are looked at, with their true numbers and without colours', () => {
  const text = 'error: 1\nerror: 2\n\x1b[31merror\x1b[0m: three\nfine\nerror: five\nerror: six\n';
  expect(suspects(text, { firstLine: 2, lastLine: 4 })).toEqual({
    lines: [
      { number: 2, text: 'error: 2' },
      { number: 3, text: 'error: three' },
    ],
    count: 2,
    unsearchedBytes: 0,
  });
  expect(suspects('fine\n', { firstLine: 1, lastLine: 1 }).lines).toEqual([]);
  expect(suspects('error: no newline', { firstLine: 1, lastLine: 1 }).count).toBe(1);
});

it('a character that lies in two pieces of a read is whole', () => {
  for (let length = 0; length < 4; length += 1) {
    const before = `${'y'.repeat(65_530 - length)}\n`;
    const { lines } = suspects(`${before}error: €€€\n`, { firstLine: 1, lastLine: 2 });
    expect(lines).toEqual([{ number: 2, text: 'error: €€€' }]);
  }
});

it('of much output both ends are searched, and what was not is said', () => {
  const line = 'x'.repeat(1_023);
  const many = `${line}\n`.repeat(6 * 1_024);
  const text = `${many}error: middle\n${many}error: late\n`;
  const { lines, unsearchedBytes } = suspects(text, { firstLine: 1, lastLine: 12_290 });
  expect(lines).toEqual([{ number: 12_290, text: 'error: late' }]);
  expect(unsearchedBytes).toBe(Buffer.byteLength(text) - 8 * 1_024 * 1_024);
});
