// What is said about bytes that are not there.
import { expect, it } from 'vitest';
import { unreadText } from '../../src/text/missing.ts';

it('says how much a killed runner may not have read: what its streams can hold', () => {
  const why = 'may be missing at the end: its runner was killed';
  expect(unreadText('pipe')).toBe(`Up to 64 KiB of each stream ${why}`);
  expect(unreadText('merged')).toBe(`Up to 64 KiB ${why}`);
  expect(unreadText('pty')).toBe(`Up to 64 KiB ${why}`);
  expect(unreadText('socket')).toBe(`Up to 2 MiB of each stream ${why}`);
  expect(unreadText('pipe', 1)).toBe(
    `Up to 64 KiB of each stream ${why}; 1 byte is of an unknown stream, shown as stdout`,
  );
  expect(unreadText()).toBe(`Output ${why}`);
});
