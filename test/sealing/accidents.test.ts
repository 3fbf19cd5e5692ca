// What happens to honest users: a disk that is full, a machine that is restored from a backup, a
// clock that jumps. The record is kept, and `cuff verify` does not call it an attack.
import * as fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { startSession } from '../../src/journal/writer.ts';
import { givenAnchor } from '../../src/sealing/verify/anchors.ts';
import { draftOf, FACTS, faultyDisk } from '../journal/helper.ts';
import { SealWorld } from './helper.ts';

async function record(world: SealWorld, count: number, disk?: Parameters<SealWorld['ledger']>[0]) {
  const ledger = world.ledger(disk);
  const writer = startSession(world.journal, FACTS, world.env(ledger));
  for (let n = 0; n < count; n += 1) {
    world.time += 1_000;
    await writer.append(draftOf({ run_id: null }));
  }
  await writer.finalize('complete', 'over');
  await ledger.close();
}

describe('a disk of the ledger that is full', () => {
  it('at any one write costs no entry, and is no attack, before and after', async () => {
    for (let nth = 1, reached = true; reached; nth += 1) {
      const world = new SealWorld();
      await record(world, 1);
      let operation = 0;
      const disk = faultyDisk(() => {
        operation += 1;
        return operation === nth ? 'ENOSPC' : undefined;
      });
      await record(world, 3, { disk });
      reached = operation >= nth;
      expect([nth, world.wrongs()]).toEqual([nth, []]);
      const ledger = world.ledger();
      await world.late(ledger);
      await ledger.close();
      const { counts, intact, findings } = world.verify();
      expect([nth, counts.entries, counts.unsealed, intact]).toEqual([nth, 4, 0, true]);
      expect(findings.filter(({ verdict }) => verdict !== 'recovered')).toEqual([]);
    }
  });

  it('from one write on is no attack either', async () => {
    for (let nth = 1, reached = true; reached; nth += 1) {
      const world = new SealWorld();
      await record(world, 1);
      let operation = 0;
      const disk = faultyDisk(() => {
        operation += 1;
        return operation >= nth ? 'ENOSPC' : undefined;
      });
      await record(world, 3, { disk });
      reached = operation >= nth;
      expect([nth, world.wrongs()]).toEqual([nth, []]);
      const ledger = world.ledger();
      await world.late(ledger);
      await ledger.close();
      expect([nth, world.verify().counts.entries, world.wrongs()]).toEqual([nth, 4, []]);
    }
  });
});

describe('a machine that is restored from a backup', () => {
  it('is said to be older than its anchor, with one, and is right by itself', async () => {
    const world = new SealWorld();
    await record(world, 3);
    fs.cpSync(world.dir, `${world.dir}-backup`, { recursive: true, preserveTimestamps: true });
    await record(world, 2);
    const { checkpoint } = world;
    if (checkpoint === undefined) throw new Error('a checkpoint');
    const anchor = givenAnchor(checkpoint, 'paper');
    expect(world.wrongs([anchor])).toEqual([]);
    // The directories stay, as a program for backups restores them.
    for (const part of ['state', 'project']) {
      fs.rmSync(`${world.dir}/${part}`, { recursive: true });
      fs.cpSync(`${world.dir}-backup/${part}`, `${world.dir}/${part}`, { recursive: true });
    }
    fs.rmSync(`${world.dir}-backup`, { recursive: true });
    expect([world.wrongs(), world.wrongs([anchor])]).toEqual([[], ['rolled_back']]);
    // It goes on where it was, and the fact stays visible for as long as the anchor is kept.
    await record(world, 9);
    expect(world.wrongs()).toEqual([]);
    expect(world.wrongs([anchor])).toEqual(['history_rewritten']);
  });
});

describe('a clock that jumps', () => {
  it('changes no verdict, whatever it says and whenever it jumps', async () => {
    const world = new SealWorld();
    for (const days of [0, -400, 4_000, -3_600, 1]) {
      world.time += days * 86_400_000;
      await record(world, 2);
      const { counts, findings } = world.verify();
      expect([counts.unsealed, counts.unsigned, findings]).toEqual([0, 0, []]);
    }
    expect(world.verify().counts.entries).toBe(10);
  });
});
