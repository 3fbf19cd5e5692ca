import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  entryId,
  hasForm,
  isJournalId,
  journalIdTime,
  newJournalSessionId,
  shortId,
} from '../../src/journal/ids.ts';
import { NOW } from './helper.ts';

const SAMPLE = '20260118_143052_a7b3c9d2-e4f5';

it('a session id is the second in UTC and 12 hex digits in the form of a UUID', () => {
  const random = (): Uint8Array => Buffer.from('a7b3c9d2e4f5', 'hex');
  expect(newJournalSessionId(NOW, random)).toBe(SAMPLE);
  expect(newJournalSessionId(NOW)).toMatch(/^20260118_143052_[0-9a-f]{8}-[0-9a-f]{4}$/);
});

it('20,000 session ids of one second are all different', () => {
  const ids = Array.from({ length: 20_000 }, () => newJournalSessionId(NOW));
  expect(new Set(ids).size).toBe(20_000);
});

it('an entry id has the place in the session in three digits or more', () => {
  const session = '20260118_143052_a7b3c9d2-e4f5';
  expect(entryId(NOW, 1, session)).toBe('e_20260118_143052_001-e4f5');
  expect(entryId(NOW, 12_345, session)).toBe('e_20260118_143052_12345-e4f5');
  expect(entryId(NOW, 1, 'of_another_writer')).toBe('e_20260118_143052_001');
});

it('tables show ids without the last four digits; other ids as they are', () => {
  expect(shortId(SAMPLE)).toBe('20260118_143052_a7b3c9d2');
  expect(shortId('20260118_143052_a7b3c9d2')).toBe('20260118_143052_a7b3c9d2');
  expect(shortId('my-own-id')).toBe('my-own-id');
});

it('the time of a session is in its id', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 253_402_300_799 }), (second) => {
      const id = newJournalSessionId(second * 1000);
      expect(hasForm(id)).toBe(true);
      expect(journalIdTime(id)).toBe(second * 1000);
    }),
  );
  expect(journalIdTime('20261318_143052_a7b3c9d2-e4f5')).toBeUndefined();
  expect(journalIdTime('mine')).toBeUndefined();
});

it('no id leads out of the directory', () => {
  for (const id of [
    '',
    '.',
    '..',
    '../x',
    'a/b',
    'a\\b',
    '.hidden',
    '-x',
    'a\0b',
    'x'.repeat(129),
  ]) {
    expect([id, isJournalId(id)]).toEqual([id, false]);
  }
  expect(isJournalId('20260118_171522_c9d5e1f4-g8b9')).toBe(true);
});
