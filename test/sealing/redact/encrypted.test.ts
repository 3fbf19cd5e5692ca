// Encrypted captures: what goes is taken out for all of their recipients, and no plain byte is on
// the disk at any moment, whatever the disk does.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newIdentity, recipientText } from '../../../src/age/x25519.ts';
import { splitFinal } from '../../../src/capture/final-salt.ts';
import { encryptCapture, hasPlainWords } from '../../../src/capture/packed/encrypt.ts';
import { redactCapture } from '../../../src/sealing/redact/capture.ts';
import { closedCaptures, findSecret, redactPlace } from '../../../src/sealing/redact/secret.ts';
import { WHOLE_CAPTURE } from '../../../src/sealing/redact/whole-capture.ts';
import { OneSecret } from '../../../src/text/secrets/one-secret.ts';
import { decodeTrace } from '../../../src/trace/decode/decode.ts';
import { to } from '../../age/helper.ts';
import {
  closedCapture,
  contents,
  EVENT,
  encryptedCapture,
  keyOf,
  mine,
  OUTPUT,
  secretIn,
  team,
} from './encrypted-world.ts';
import { faulty } from './faulty.ts';
import type { RedactWorld } from './helper.ts';

const SECRET = new OneSecret('SECRET-WORDS');
const STARRED = OUTPUT.replaceAll('SECRET-WORDS', '************');

function places(world: RedactWorld) {
  return findSecret(SECRET, { store: world.store, directories: [] });
}

async function redactSecret(world: RedactWorld, id: string, more = {}): Promise<void> {
  const place = { kind: 'capture', id, found: { ranges: [], files: [] }, live: false } as const;
  await redactPlace(place, SECRET, { ...world.context(world.ledger()), ...more });
}

describe('an encrypted capture', () => {
  it('loses a secret for all of its recipients, and is sealed anew', async () => {
    const { world, ledger, id, dir } = await closedCapture();
    const before = splitFinal(contents(dir, mine)['final.json'] ?? '');
    expect(places(world)).toMatchObject([
      { found: { files: ['output.bin', 'meta.json', 'events.jsonl', 'trace.bin'] } },
    ]);
    await redactSecret(world, id);
    expect(places(world)).toEqual([]);
    const now = contents(dir, mine);
    expect(now['output.bin']).toBe(STARRED);
    expect(contents(dir, team)).toEqual(now);
    expect(JSON.parse(now['meta.json'] ?? '').command).toEqual(['bash', '-c', '************']);
    expect(JSON.parse(now['events.jsonl'] ?? '')).toEqual({
      ...EVENT,
      processes: [{ pid: 7, command: '************' }],
    });
    const trace = decodeTrace(Buffer.from(now['trace.bin'] ?? '', 'latin1'));
    expect([trace.damagedBytes, trace.frames[0]]).toMatchObject([
      0,
      { argv: ['show', '************'] },
    ]);
    expect(hasPlainWords(dir)).toBe(false);
    // With the old salt, what was there could be guessed from the old leaf.
    const sealed = splitFinal(now['final.json'] ?? '');
    expect(sealed.text).toBe(before.text);
    expect(sealed.salt).not.toEqual(before.salt);
    const stub = splitFinal(fs.readFileSync(join(dir, 'final.json'), 'utf8'));
    expect(stub.salt).toEqual(sealed.salt);
    const [first, second] = world.leaves('capture');
    expect([first?.run, second?.run, second?.output]).toEqual([id, id, expect.any(String)]);
    expect((await world.verified(ledger)).intact).toBe(true);
    world.decrypt = undefined;
    expect((await world.verified(ledger)).intact).toBe(true);
  });

  it('loses all of it, and its trace', async () => {
    const { world, ledger, id, dir } = await closedCapture();
    const done = await redactCapture(id, WHOLE_CAPTURE, world.context(ledger));
    expect(done?.ranges).toEqual([[0, OUTPUT.length]]);
    const { 'output.bin': output, 'trace.bin': trace } = contents(dir, mine);
    expect([output, trace]).toEqual([OUTPUT.replace(/[^\r\n]/g, '*'), '']);
    expect(secretIn(dir)).toEqual([]);
    expect(fs.readdirSync(dir).filter((name) => name.startsWith('trace'))).toEqual([]);
    expect((await world.verified(ledger)).intact).toBe(true);
    expect(await redactCapture(id, WHOLE_CAPTURE, world.context(ledger))).toBeUndefined();
  });

  it('stays as it is without an identity, which is counted, and said for whom', async () => {
    const { world, ledger, id, dir } = await closedCapture();
    const bytes = (): string[] =>
      fs.readdirSync(dir).map((name) => fs.readFileSync(join(dir, name), 'latin1'));
    const before = bytes();
    for (const decrypt of [undefined, keyOf(newIdentity())]) {
      world.decrypt = decrypt;
      const refused = redactCapture(id, WHOLE_CAPTURE, world.context(ledger));
      await expect(refused).rejects.toMatchObject({ code: 'decryption_failed' });
      expect(places(world)).toEqual([]);
      const recipients = [mine, team].map((one) => recipientText(one.recipient));
      expect(closedCaptures(world)).toEqual({ captures: 1, recipients });
    }
    expect(bytes()).toEqual(before);
    expect(world.leaves('redact-capture')).toEqual([]);
    world.decrypt = keyOf(team);
    expect(closedCaptures(world)).toEqual({ captures: 0, recipients: [] });
  });

  it('of which a part was still plain is encrypted, and then redacted', async () => {
    for (let stop = 1; ; stop += 5) {
      const { world, ledger, id, dir } = await encryptedCapture();
      const disk = faulty(stop);
      try {
        encryptCapture(dir, [to(mine), to(team)], disk);
      } catch {
        // As a packer that was killed there leaves it.
      }
      if (disk.count < stop) return;
      const begun = fs.readdirSync(dir).some((name) => name.endsWith('.age'));
      await redactSecret(world, id);
      expect([stop, secretIn(dir), world.filesWith('SECRET')]).toEqual([stop, [], []]);
      expect([stop, hasPlainWords(dir)]).toEqual([stop, !begun]);
      expect([stop, (await world.verified(ledger)).intact]).toEqual([stop, true]);
    }
  }, 300_000);
});

describe('a disk that fails at any operation', () => {
  it('leaves no plain byte and nothing wrong, and the next redaction finishes it', async () => {
    let operations = Number.POSITIVE_INFINITY;
    for (let fail = 0; fail <= operations; fail += 1) {
      const { world, ledger, id, dir } = await closedCapture();
      const files = faulty(fail);
      await redactSecret(world, id, { files }).catch(() => undefined);
      if (fail === 0) operations = files.count;
      expect([fail, world.filesWith('SECRET')]).toEqual([fail, []]);
      expect([fail, (await world.verified(ledger)).intact]).toEqual([fail, true]);
      await redactSecret(world, id);
      expect([fail, secretIn(dir), hasPlainWords(dir)]).toEqual([fail, [], false]);
      expect(contents(dir, team)['output.bin']).toBe(STARRED);
      expect([fail, (await world.verified(ledger)).intact]).toEqual([fail, true]);
      expect(fs.readdirSync(dir).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    }
    expect(operations).toBeGreaterThan(40);
  }, 300_000);
});
