// What others wrote agrees with what we write: a real witness cosigns our checkpoints, and refuses
// the ledger of one who stole the key.
import * as fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseNote } from '../../../src/ledger/note.ts';
import { parseVerifierKey } from '../../../src/ledger/note-keys.ts';
import { cosignedAt } from '../../../src/ledger/witness.ts';
import { FACT_MS_MAX } from '../../pace.ts';
import { lacking } from '../../requirements.ts';
import { fetchLitewitness, startLitewitness } from './litewitness.ts';
import { AnchorWorld, troubles, verdicts } from './world.ts';

const programs = await fetchLitewitness();

describe.skipIf(lacking(programs === undefined, 'litewitness cannot be had here'))(
  'litewitness',
  { timeout: FACT_MS_MAX },
  () => {
    it('cosigns what continues, and nothing else', async () => {
      const world = new AnchorWorld();
      const witness = await startLitewitness(programs ?? '', world.seal.dir);
      const target = `witness ${witness.address} ${witness.vkey}`;
      await world.grow();
      expect(troubles(await world.anchor(target))).toEqual([
        'it does not know this ledger: give it the line of `cuff seal key`',
      ]);
      witness.trust(world.seal.bytes('vkey').toString().trim());
      for (const count of [1, 30, 2]) {
        expect(troubles(await world.anchor(target))).toEqual([undefined]);
        await world.grow(count);
      }
      const key = parseVerifierKey(witness.vkey);
      for (const { receipt } of world.notes) {
        const note = parseNote(receipt ?? '');
        expect(note && key && cosignedAt(note, key)).toBeGreaterThan(1_700_000_000);
      }
      // Without our notes it says itself what it has seen.
      fs.rmSync(world.seal.path('anchors.jsonl'));
      expect(troubles(await world.anchor(target))).toEqual([undefined]);
      const sound = await world.verify();
      expect(verdicts(sound)).toEqual([]);
      expect(sound.ledger.anchor).toMatchObject({ kind: 'witness', size: sound.ledger.signed });
      world.rewrite();
      await world.ledger.sign();
      const older = await world.verify();
      expect(verdicts(older)).toContain('rolled_back');
      await world.grow(20);
      const [refusal] = troubles(await world.anchor(target));
      expect(refusal).toBe('it says that this is no continuation of the ledger it has seen');
      expect(verdicts(await world.verify())).toContain('history_rewritten');
    });
  },
);
