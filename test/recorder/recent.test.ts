// The last entries of a journal whose older ones are packed and encrypted.
import { describe, expect, it } from 'vitest';
import { startSession } from '../../src/journal/writer.ts';
import { recentEntries, sessionNamed } from '../../src/recorder/recent.ts';
import { FACTS, world } from '../journal/helper.ts';
import { packAll, withMine, withNone, wordy, wordySession } from '../journal/packed/helper.ts';

describe('the last entries of a journal', () => {
  it('are those of packed sessions, too, for those who can read them', async () => {
    withMine();
    const { directory, id, lines } = await wordySession(3);
    await packAll(lines);
    const writer = startSession(directory, FACTS, world());
    await writer.append({ ...wordy(4), timestamp: '2026-01-19T14:30:52.123Z' });
    const numbers = (): number[] =>
      recentEntries(directory, 10, [], null).map(({ command }) => Number(command.split(' ')[2]));
    expect(numbers()).toEqual([4, 3, 2, 1]);
    expect(sessionNamed(directory, id)?.entries).toHaveLength(3);
    withNone();
    expect(numbers()).toEqual([4]);
    expect(() => sessionNamed(directory, id)).toThrow(`The session ${id} is encrypted for age1`);
  });
});
