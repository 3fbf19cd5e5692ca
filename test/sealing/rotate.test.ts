// A ledger gets another key, and who has the old one on paper can still verify all of it.
import * as fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseVerifierKey } from '../../src/ledger/note-keys.ts';
import { introductionsIn } from '../../src/sealing/introductions.ts';
import type { Ledger } from '../../src/sealing/ledger.ts';
import { rotateKey } from '../../src/sealing/rotate.ts';
import { readLedger } from '../../src/sealing/verify/ledger-check.ts';
import { faultyDisk } from '../journal/helper.ts';
import { ME, SealWorld } from './helper.ts';

function begun(): { world: SealWorld; ledger: Ledger; vkey: string } {
  const world = new SealWorld();
  const ledger = world.ledger();
  expect(ledger.origin).toBeDefined();
  ledger.note({ kind: 'pin', run: 'run-1', at: 1 });
  return { world, ledger, vkey: world.bytes('vkey').toString().trim() };
}

function options({ root: stateRoot, alive, time }: SealWorld) {
  return { stateRoot, owner: ME, alive, now: () => time };
}

/** What a verification with this key says. */
function findings(world: SealWorld, vkey: string): readonly string[] {
  const there = fs.existsSync(world.path('introductions'));
  const reading = readLedger({
    leaves: world.bytes('leaves'),
    hashes: world.bytes('hashes'),
    checkpoint: world.bytes('checkpoint').toString(),
    anchors: [],
    key: parseVerifierKey(vkey),
    introductions: there ? introductionsIn(world.bytes('introductions').toString()) : [],
  });
  return reading.findings.map(({ verdict, detail }) => `${verdict} ${detail ?? ''}`.trim());
}

describe('rotating the key', () => {
  it('makes another one that signs, and destroys the old one', async () => {
    const { world, ledger, vkey } = begun();
    await ledger.sign();
    const old = world.bytes('key');
    const watched = fs.openSync(world.path('key'), 'r');
    const rotation = await rotateKey(ledger, options(world));
    expect(rotation).toMatchObject({ oldVkey: vkey, result: { kind: 'signed' } });
    expect(world.bytes('vkey').toString()).toBe(`${rotation?.newVkey}\n`);
    expect(world.leaves('key').map((leaf) => leaf.vkey)).toEqual([vkey, rotation?.newVkey]);
    // The file that had the old key has not one byte of it.
    const rest = Buffer.alloc(old.length);
    expect(fs.readSync(watched, rest, 0, rest.length, 0)).toBe(old.length);
    fs.closeSync(watched);
    expect(rest).toEqual(Buffer.alloc(old.length));
    ledger.note({ kind: 'pin', run: 'run-2', at: 2 });
    expect((await ledger.sign())?.kind).toBe('signed');
    expect(world.signed()).toBe(4);
  });

  it('leaves a way from every old key to the one that signs now', async () => {
    const { world, ledger, vkey } = begun();
    const second = (await rotateKey(ledger, options(world)))?.newVkey ?? '';
    const third = (await rotateKey(ledger, options(world)))?.newVkey ?? '';
    ledger.note({ kind: 'pin', run: 'run-2', at: 2 });
    await ledger.sign();
    for (const key of [vkey, second, third]) expect(findings(world, key)).toEqual([]);
    const introductions = world.bytes('introductions');
    fs.rmSync(world.path('introductions'));
    expect(findings(world, third)).toEqual([]);
    expect(findings(world, vkey)).toEqual(['checkpoint_bad the key of the ledger did not sign it']);
    fs.writeFileSync(world.path('introductions'), introductions);
    const other = begun();
    await rotateKey(other.ledger, options(other.world));
    // A key of another ledger, and notes of another ledger, introduce nothing.
    expect(findings(world, other.vkey)).not.toEqual([]);
    fs.writeFileSync(world.path('introductions'), other.world.bytes('introductions'));
    expect(findings(world, vkey)).not.toEqual([]);
  });

  it('does not believe a key that stands only in a leaf', async () => {
    const { world, ledger, vkey } = begun();
    const thief = begun();
    await thief.ledger.sign();
    ledger.note({ kind: 'key', vkey: thief.vkey });
    await ledger.sign();
    expect(findings(world, vkey)).toEqual([]);
    fs.copyFileSync(thief.world.path('checkpoint'), world.path('checkpoint'));
    expect(findings(world, vkey)).not.toEqual([]);
  });

  it('leaves a ledger that signs and verifies, wherever the disk fails', async () => {
    for (let nth = 1, failed = true; failed; nth += 1) {
      const { world, ledger, vkey } = begun();
      await ledger.sign();
      failed = false;
      const disk = faultyDisk((operation) => {
        if (operation !== nth) return undefined;
        failed = true;
        return 'EIO';
      });
      await rotateKey(ledger, { ...options(world), disk }).catch(() => undefined);
      const again = world.ledger();
      again.note({ kind: 'pin', run: 'run-3', at: 3 });
      expect([nth, (await again.sign())?.kind]).toEqual([nth, 'signed']);
      expect([nth, findings(world, vkey)]).toEqual([nth, []]);
      expect([nth, findings(world, world.bytes('vkey').toString().trim())]).toEqual([nth, []]);
      if (!failed) expect(nth).toBeGreaterThan(20);
    }
  });
});
