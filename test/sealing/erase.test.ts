// Sessions that are deleted: their tombstones are signed before, or they stay.
import * as fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { removeSession } from '../../src/journal/retention.ts';
import { buryBefore } from '../../src/sealing/erase.ts';
import { faultyDisk } from '../journal/helper.ts';
import { RedactWorld } from './redact/helper.ts';

const ERASURE = { by: 'user', why: 'asked for' } as const;

describe('a session that is deleted', () => {
  it('has a tombstone in the signed ledger before', async () => {
    const world = new RedactWorld();
    const ledger = world.ledger();
    const session = await world.sessionOf(ledger, [{ command: 'a' }, { command: 'b' }]);
    await buryBefore(ledger, world.journal, [session], ERASURE);
    expect(world.signed()).toBe(world.lines.length);
    const [tombstone] = world.leaves('tombstone');
    expect(tombstone).toMatchObject({ session, by: 'user', count: 2, first: 1, last: 2 });
    expect((await world.verified(ledger)).intact).toBe(true);
    removeSession(world.journal, session);
    expect((await world.verified(ledger)).intact).toBe(true);
  });

  it('stays where the ledger cannot be written or signed', async () => {
    const world = new RedactWorld();
    const first = world.ledger();
    const session = await world.sessionOf(first, [{ command: 'a' }]);
    await first.close();
    const full = faultyDisk((_, name) => (name === 'writeSync' ? 'ENOSPC' : undefined));
    const ledger = world.ledger({ disk: full });
    await expect(buryBefore(ledger, world.journal, [session], ERASURE)).rejects.toThrow(
      'The ledger cannot be written (ENOSPC).',
    );
    fs.rmSync(world.path('key'));
    await expect(buryBefore(world.ledger(), world.journal, [session], ERASURE)).rejects.toThrow(
      'The ledger cannot be written (key_gone).',
    );
  });

  it('needs none where it was never sealed', async () => {
    const world = new RedactWorld();
    const session = await world.sessionOf(undefined, [{ command: 'a' }]);
    await buryBefore(world.ledger(), world.journal, [session], ERASURE);
    expect(world.lines).toEqual([]);
  });
});
