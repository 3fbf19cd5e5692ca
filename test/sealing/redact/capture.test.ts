// Bytes of a capture that are written over: the file keeps its length, the ledger says which bytes
// before, and the capture is sealed anew. Whatever the disk does, the next redaction finishes it.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packCapture } from '../../../src/capture/packed/pack.ts';
import { readOutput } from '../../../src/capture/reader.ts';
import { openCapture } from '../../../src/capture/store.ts';
import { saltedLineOf } from '../../../src/journal/entry-parts.ts';
import { sealCaptures } from '../../../src/sealing/captures.ts';
import { redactCapture } from '../../../src/sealing/redact/capture.ts';
import { findSecret, redactPlace } from '../../../src/sealing/redact/secret.ts';
import { WHOLE_CAPTURE } from '../../../src/sealing/redact/whole-capture.ts';
import { OneSecret } from '../../../src/text/secrets/one-secret.ts';
import { decodeTrace } from '../../../src/trace/decode/decode.ts';
import { encodeTrace, HEADER } from '../../trace/encode.ts';
import { exit, start } from '../../trace/frames.ts';
import { ME } from '../helper.ts';
import { faulty } from './faulty.ts';
import { RedactWorld } from './helper.ts';

const OUTPUT = 'one\nSECRET-WORDS here\r\nand SECRET-WORDS\n';
const SECRET = new OneSecret('SECRET-WORDS');

function outputIn(world: RedactWorld, id: string): string {
  const { chunks } = readOutput(openCapture(world.store, id), 0, 1_000);
  return Buffer.concat(chunks.map(({ bytes }) => bytes)).toString();
}

describe('a capture', () => {
  it('loses all that was said and printed in it, and no byte of its length', async () => {
    const world = new RedactWorld();
    const ledger = world.ledger();
    const { id, dir } = await world.captureOf(ledger, { output: OUTPUT, command: 'show SECRET' });
    fs.mkdirSync(join(dir, 'text'));
    fs.writeFileSync(join(dir, 'text', 'stdout.txt'), 'SECRET copy\n');
    fs.writeFileSync(join(dir, 'trace.bin'), 'SECRET');
    const salt = saltedLineOf(fs.readFileSync(join(dir, 'final.json'), 'utf8').trim())?.salt;
    const done = await redactCapture(id, WHOLE_CAPTURE, world.context(ledger));
    expect(done?.ranges).toEqual([[0, OUTPUT.length]]);
    expect(world.filesWith('SECRET')).toEqual([]);
    expect(outputIn(world, id)).toBe(OUTPUT.replace(/[^\r\n]/g, '*'));
    expect(fs.existsSync(join(dir, 'trace.bin'))).toBe(false);
    // The old salt would tell a guess at the old bytes from the old leaf.
    const now = saltedLineOf(fs.readFileSync(join(dir, 'final.json'), 'utf8').trim())?.salt;
    expect(now).not.toEqual(salt);
    expect(world.leaves('capture').map(({ run }) => run)).toEqual([id, id]);
    expect(await world.verified(ledger)).toEqual({
      intact: true,
      words: [
        `1 capture was redacted: bytes 0-${OUTPUT.length}, "customer data"; what was sealed ` +
          'there before can no longer be shown',
      ],
    });
    expect(await redactCapture(id, WHOLE_CAPTURE, world.context(ledger))).toBeUndefined();
  });

  it('loses the bytes of a secret alone, and its trace still holds', async () => {
    const world = new RedactWorld();
    const ledger = world.ledger();
    const { id, dir } = await world.captureOf(ledger, {
      output: OUTPUT,
      command: 'x SECRET-WORDS',
    });
    const frames = [start(0, 7, ['show', 'SECRET-WORDS']), exit(5, 7, 0)];
    fs.writeFileSync(join(dir, 'trace.bin'), encodeTrace(HEADER, frames));
    const found = { ranges: [], files: [] };
    const place = { kind: 'capture', id, found, live: false } as const;
    await redactPlace(place, SECRET, world.context(ledger));
    expect(world.filesWith('SECRET')).toEqual([]);
    expect(outputIn(world, id)).toBe(OUTPUT.replaceAll('SECRET-WORDS', '************'));
    const trace = decodeTrace(fs.readFileSync(join(dir, 'trace.bin')));
    expect(trace.damagedBytes).toBe(0);
    expect(trace.frames).toEqual([{ ...frames[0], argv: ['show', '************'] }, frames[1]]);
    const ranges = [
      [4, 16],
      [27, 39],
    ];
    expect(world.leaves('redact-capture').map((leaf) => leaf.ranges)).toEqual([ranges]);
    expect((await world.verified(ledger)).intact).toBe(true);
  });

  it('that has a secret only in its words says so', async () => {
    const world = new RedactWorld();
    const ledger = world.ledger();
    const { id } = await world.captureOf(ledger, { output: 'x', command: 'x SECRET-WORDS' });
    const place = { kind: 'capture', id, found: { ranges: [], files: [] }, live: false } as const;
    await redactPlace(place, SECRET, world.context(ledger));
    expect(world.filesWith('SECRET')).toEqual([]);
    const { intact, words } = await world.verified(ledger);
    expect([intact, words[0]]).toEqual([
      true,
      expect.stringContaining('1 capture was redacted: its words, "customer data"'),
    ]);
  });

  it('of a run that goes on is refused, and stays', async () => {
    const world = new RedactWorld();
    const ledger = world.ledger();
    const { id, dir } = await world.captureOf(ledger, { output: OUTPUT });
    const alive = { ...world.store, alive: () => true };
    fs.rmSync(join(dir, 'final.json'));
    const live = redactCapture(id, WHOLE_CAPTURE, world.context(ledger, { store: alive }));
    await expect(live).rejects.toThrow(`The run ${id} goes on.`);
    expect(fs.readFileSync(join(dir, 'output.bin'), 'utf8')).toBe(OUTPUT);
    expect(world.leaves('redact-capture')).toEqual([]);
  });

  it('that is packed is unpacked first, and may be cut off then', async () => {
    const output = `${'line of output\n'.repeat(9_000)}SECRET-WORDS\n`;
    const events = `{"type":"signal","signal":"TERM","from":"SECRET-WORDS ${'x'.repeat(9_000)}"}\n`;
    let operations = Number.POSITIVE_INFINITY;
    for (let fail = 0; fail <= operations; fail += 3) {
      const world = new RedactWorld();
      const ledger = world.ledger();
      const { id, dir } = await world.captureOf(undefined, { output });
      fs.writeFileSync(join(dir, 'events.jsonl'), events, { mode: 0o600 });
      await sealCaptures({ ledger, store: world.store, owner: ME });
      packCapture(dir);
      expect(fs.readdirSync(dir)).toContain('output.bin.gz');
      const places = findSecret(SECRET, { store: world.store, directories: [] });
      expect(places).toMatchObject([{ found: { files: ['output.bin', 'events.jsonl'] } }]);
      const files = faulty(fail);
      const context = { ...world.context(ledger), files };
      const [place] = places;
      if (place === undefined) throw new Error('nothing was found');
      await redactPlace(place, SECRET, context).catch(() => undefined);
      if (fail === 0) operations = files.count;
      expect([fail, (await world.verified(ledger)).intact]).toEqual([fail, true]);
      await redactPlace(place, SECRET, world.context(ledger));
      expect([fail, findSecret(SECRET, { store: world.store, directories: [] })]).toEqual([
        fail,
        [],
      ]);
      expect(fs.readdirSync(dir).filter((name) => /gz|tmp/.test(name))).toEqual([]);
      expect(outputIn(world, id).length).toBe(1_000);
      expect([fail, (await world.verified(ledger)).intact]).toEqual([fail, true]);
    }
  }, 300_000);

  it('leaves nothing that a killed packer had half written', async () => {
    const world = new RedactWorld();
    const ledger = world.ledger();
    const { id, dir } = await world.captureOf(ledger, { output: OUTPUT });
    const temps = ['output.bin.gz.tmp', 'events.jsonl.tmp'].map((name) => join(dir, name));
    for (const path of temps) fs.writeFileSync(path, OUTPUT);
    await redactCapture(id, WHOLE_CAPTURE, world.context(ledger));
    expect(temps.filter((path) => fs.existsSync(path))).toEqual([]);
    expect((await world.verified(ledger)).intact).toBe(true);
  });

  it('does not fill its hole, and follows no link', async () => {
    const world = new RedactWorld();
    const ledger = world.ledger();
    const { id, dir } = await world.captureOf(undefined, { output: OUTPUT });
    const fd = fs.openSync(join(dir, 'output.bin'), 'r+');
    fs.writeSync(fd, 'end', 50_000_000);
    fs.closeSync(fd);
    const outside = join(world.dir, 'outside');
    fs.mkdirSync(outside);
    fs.writeFileSync(join(outside, 'mine'), OUTPUT);
    fs.symlinkSync(outside, join(dir, 'text'));
    await redactCapture(id, WHOLE_CAPTURE, world.context(ledger));
    const stat = fs.statSync(join(dir, 'output.bin'));
    expect(stat.size).toBe(50_000_003);
    expect(stat.blocks * 512).toBeLessThan(1_000_000);
    expect(fs.readFileSync(join(outside, 'mine'), 'utf8')).toBe(OUTPUT);
  });
});

describe('a disk that fails at any operation', () => {
  it('leaves nothing that a verifier calls wrong, and the next redaction finishes it', async () => {
    let operations = Number.POSITIVE_INFINITY;
    for (let fail = 0; fail <= operations; fail += 1) {
      const world = new RedactWorld();
      const ledger = world.ledger();
      const { id, dir } = await world.captureOf(ledger, { output: OUTPUT, command: 'a SECRET' });
      fs.writeFileSync(join(dir, 'trace.bin'), 'SECRET');
      const files = faulty(fail);
      const context = { ...world.context(ledger), files };
      await redactCapture(id, WHOLE_CAPTURE, context).catch(() => undefined);
      if (fail === 0) operations = files.count;
      expect([fail, (await world.verified(ledger)).intact]).toEqual([fail, true]);
      await redactCapture(id, WHOLE_CAPTURE, world.context(ledger));
      expect([fail, world.filesWith('SECRET')]).toEqual([fail, []]);
      expect([fail, (await world.verified(ledger)).intact]).toEqual([fail, true]);
      expect(world.leaves('redact-capture').every(({ ranges }) => ranges?.[0]?.[0] === 0)).toBe(
        true,
      );
    }
    expect(operations).toBeGreaterThan(8);
  }, 300_000);
});
