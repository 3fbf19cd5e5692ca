// What lies on the disk where files of the record should be: other things than files, files that no
// memory holds, a journal of another name. A verification ends and says what it found.

import { constants } from 'node:buffer';
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startSession } from '../../../src/journal/writer.ts';
import { gatherEvidence } from '../../../src/sealing/verify/gather.ts';
import { verifyEvidence } from '../../../src/sealing/verify/verify.ts';
import { verificationWords } from '../../../src/sealing/verify/words.ts';
import { openStore } from '../../../src/shell/store.ts';
import { draftOf, FACTS } from '../../journal/helper.ts';
import { SealWorld } from '../helper.ts';

async function recorded(world: SealWorld, count = 2): Promise<string> {
  const ledger = world.ledger();
  const writer = startSession(world.journal, FACTS, world.env(ledger));
  for (let n = 0; n < count; n += 1) await writer.append(draftOf({ run_id: null }));
  await writer.finalize('complete', 'over');
  await ledger.close();
  return world.session(writer.id);
}

describe('a FIFO in the place of a file', () => {
  it('stops no verification, no signer and no command', async () => {
    for (const name of ['leaves', 'checkpoint', 'vkey', 'key', 'hashes', 'journals.jsonl']) {
      const world = new SealWorld();
      await recorded(world);
      fs.rmSync(world.path(name));
      execFileSync('mkfifo', [world.path(name)]);
      expect(world.verify().counts.sessions).toBe(1);
      await recorded(world); // as a server does that begins now
      expect(world.verify().counts.sessions).toBe(2);
    }
  });

  it('in a journal is as if there were none', async () => {
    const world = new SealWorld();
    const session = await recorded(world);
    for (const path of [session, session.replace('.jsonl', '.meta.json')]) {
      const bytes = fs.readFileSync(path);
      fs.rmSync(path);
      execFileSync('mkfifo', [path]);
      expect(world.wrongs()).toEqual(path === session ? ['missing_session'] : []);
      fs.rmSync(path);
      fs.writeFileSync(path, bytes);
    }
    expect(world.wrongs()).toEqual([]);
  });
});

/** With a hole, so that it takes no room; its last byte ends a line. */
function enlarge(path: string): void {
  const { size } = fs.statSync(path);
  fs.truncateSync(path, size + constants.MAX_STRING_LENGTH + 1);
  fs.appendFileSync(path, '\n');
}

describe('what no string can hold', () => {
  it('as a line of a session or of the ledger is none of its lines', async () => {
    const world = new SealWorld();
    const session = await recorded(world);
    enlarge(session);
    expect([world.wrongs(), world.verify().counts.entries]).toEqual([[], 2]);
    enlarge(world.path('leaves'));
    expect([world.wrongs(), world.verify().counts.entries]).toEqual([[], 2]);
  });

  it('as a checkpoint, or as the list of journals, is as if it were not there', async () => {
    const world = new SealWorld();
    await recorded(world);
    enlarge(world.path('checkpoint'));
    enlarge(world.path('journals.jsonl'));
    const { findings, counts } = world.verify();
    expect(findings.map(({ verdict }) => verdict)).toEqual(['unsigned']);
    expect(counts.entries).toBe(2);
  });
});

describe('a journal that took the place of another', () => {
  it('does not hide that the other is gone', async () => {
    const world = new SealWorld();
    const session = await recorded(world, 3);
    for (const path of [session, session.replace('.jsonl', '.meta.json')]) fs.rmSync(path);
    fs.rmSync(join(world.journal, 'seal.json'));
    await recorded(world, 1);
    const store = { ...openStore(world.root), alive: world.alive, now: () => world.time };
    for (const directories of [[world.journal], 'all'] as const) {
      const verification = verifyEvidence(gatherEvidence({ store, directories }));
      expect(verification.findings).toMatchObject([{ verdict: 'journal_gone', count: 3 }]);
      const words = verificationWords(verification, world.time).join('\n');
      expect(words).toContain(
        `journal gone (last seen ${world.journal}, 2026-01-18 14:30): 3 sealed entries`,
      );
    }
  });

  it('is not spoken of where nothing was recorded in the other', async () => {
    const world = new SealWorld();
    fs.mkdirSync(world.journal, { recursive: true });
    world.ledger().journal(world.journal);
    fs.rmSync(join(world.journal, 'seal.json'));
    await recorded(world, 1);
    expect(world.verify().findings).toEqual([]);
  });
});
