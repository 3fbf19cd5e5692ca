// A record that others write while it is verified: what happens between the first file that is read
// and the last is no attack, and an attack is found all the same.
import * as fs from 'node:fs';
import { expect, it } from 'vitest';
import { startSession } from '../../../src/journal/writer.ts';
import { buryBefore } from '../../../src/sealing/erase.ts';
import { verifyRecord } from '../../../src/sealing/verify/record.ts';
import { openStore } from '../../../src/shell/store.ts';
import { draftOf, FACTS } from '../../journal/helper.ts';
import { SealWorld } from '../helper.ts';

async function recorded(world: SealWorld): Promise<string> {
  const ledger = world.ledger();
  const writer = startSession(world.journal, FACTS, world.env(ledger));
  await writer.append(draftOf({ run_id: null }));
  await writer.append(draftOf({ run_id: null }));
  await writer.finalize('complete', 'over');
  await ledger.close();
  return writer.id;
}

function filesOf(world: SealWorld, id: string): string[] {
  return [world.session(id), world.session(id).replace('.jsonl', '.meta.json')];
}

/** `meanwhile` happens once, or at every look, when the leaves were read and no entry was. */
function verified(world: SealWorld, meanwhile: (look: number) => void) {
  let looks = 0;
  const now = (): number => {
    looks += 1;
    meanwhile(looks);
    return world.time;
  };
  const store = { ...openStore(world.root), alive: world.alive, now };
  const { findings, intact } = verifyRecord({ store, directories: [world.journal] });
  const wrongs = findings.filter(({ verdict }) => !['deleted', 'unsigned'].includes(verdict));
  return { looks, intact, wrongs: wrongs.map(({ verdict }) => verdict) };
}

it('a session that is deleted meanwhile is looked at again', async () => {
  const world = new SealWorld();
  await recorded(world);
  const id = await recorded(world);
  const older = world.bytes('leaves');
  const ledger = world.ledger();
  await buryBefore(ledger, world.journal, [id], { by: 'user', why: 'asked for' });
  await ledger.close();
  const newer = world.bytes('leaves');
  fs.writeFileSync(world.path('leaves'), older);
  fs.rmSync(world.path('checkpoint')); // of the newer ones
  const found = verified(world, (look) => {
    if (look > 1) return;
    fs.writeFileSync(world.path('leaves'), newer);
    for (const path of filesOf(world, id)) fs.rmSync(path);
  });
  expect(found).toEqual({ looks: 2, intact: true, wrongs: [] });
});

it('what is wrong at every look is wrong, however often the ledger grows', async () => {
  const world = new SealWorld();
  const path = world.session(await recorded(world));
  fs.writeFileSync(path, fs.readFileSync(path, 'utf8').replace('"exit_code":0', '"exit_code":1'));
  const leaf = 'cuff/1 pin run-1 2026-01-18T14:30:52.123Z\n';
  const found = verified(world, () => fs.appendFileSync(world.path('leaves'), leaf));
  expect(found).toMatchObject({ looks: 5, intact: false });
  expect(new Set(found.wrongs)).toEqual(new Set(['edited']));
});

it('is looked at once where nothing grows', async () => {
  const world = new SealWorld();
  const id = await recorded(world);
  expect(verified(world, () => undefined)).toMatchObject({ looks: 1, intact: true });
  fs.rmSync(world.session(id));
  const found = verified(world, () => undefined);
  expect(found).toEqual({ looks: 1, intact: false, wrongs: ['missing_session'] });
});
