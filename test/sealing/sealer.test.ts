// What is signed is the tree over the leaves, whatever crashed in between; and what was signed is
// never signed away.
import * as fs from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DISK } from '../../src/journal/files.ts';
import { formatLeaf } from '../../src/ledger/leaf.ts';
import type { Ledger } from '../../src/sealing/ledger.ts';
import { faultyDisk } from '../journal/helper.ts';
import { SealWorld } from './helper.ts';

function add(ledger: Ledger, count: number): void {
  for (let n = 0; n < count; n += 1) ledger.note({ kind: 'pin', run: `run-${n}`, at: n });
}

async function started(count: number): Promise<{ world: SealWorld; ledger: Ledger }> {
  const world = new SealWorld();
  const ledger = world.ledger();
  expect(ledger.origin).toMatch(/^cuff\.local\/[a-z2-7]{13}$/);
  add(ledger, count);
  expect((await ledger.sign())?.kind).toBe('signed');
  return { world, ledger };
}

describe('the checkpoint', () => {
  it('is the root of all leaves, the key first', async () => {
    const { world, ledger } = await started(20);
    expect(world.signed()).toBe(21);
    expect(world.leaves('key')).toEqual([
      { kind: 'key', vkey: world.bytes('vkey').toString().trim() },
    ]);
    expect((await ledger.sign())?.kind).toBe('current');
    add(ledger, 1);
    await ledger.sign();
    expect(world.signed()).toBe(22);
    expect(world.troubles).toEqual([]);
  });

  it('has a key and files that others cannot read', async () => {
    const { world } = await started(1);
    for (const name of fs.readdirSync(world.path('.'))) {
      expect([name, fs.statSync(world.path(name)).mode & 0o777]).toEqual([name, 0o600]);
    }
    expect(fs.statSync(world.path('.')).mode & 0o777).toBe(0o700);
  });

  it('stands whatever became of what is derived, and of leaves that were cut short', async () => {
    const derived = ['hashes', 'position'] as const;
    const event = fc.oneof(
      fc.record({ add: fc.integer({ min: 1, max: 600 }) }),
      fc.constant({ sign: true } as const),
      fc.record({ remove: fc.constantFrom(...derived) }),
      fc.record({
        cut: fc.constantFrom(...derived),
        to: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
      fc.record({ spoil: fc.constantFrom(...derived), at: fc.nat(), byte: fc.nat(255) }),
      fc.record({ torn: fc.constantFrom('cuff/1 pi', '\0\0\0\0', 'x') }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 12 }), async (events) => {
        const { world, ledger } = await started(3);
        for (const one of events) {
          if ('add' in one) add(ledger, one.add);
          else if ('sign' in one) expect((await ledger.sign())?.kind).not.toBe('refused');
          else if ('torn' in one) fs.appendFileSync(world.path('leaves'), one.torn);
          else if ('remove' in one) fs.rmSync(world.path(one.remove), { force: true });
          else if (fs.existsSync(world.path('cut' in one ? one.cut : one.spoil))) {
            const path = world.path('cut' in one ? one.cut : one.spoil);
            const bytes = fs.readFileSync(path);
            if ('cut' in one) fs.writeFileSync(path, bytes.subarray(0, bytes.length * one.to));
            else {
              bytes[one.at % bytes.length] = one.byte;
              fs.writeFileSync(path, bytes);
            }
          }
        }
        const before = world.leaves('pin').length;
        expect((await ledger.sign())?.kind).not.toBe('refused');
        expect(world.signed()).toBe(world.lines.length);
        expect(world.leaves('pin')).toHaveLength(before);
        return true;
      }),
      { numRuns: 40 },
    );
  });

  it('leaves alone the leaf that another process is in the middle of writing', async () => {
    const { world, ledger } = await started(2);
    const leaf = formatLeaf({ kind: 'pin', run: 'run-slow', at: 7 });
    // A reader sees a write that crosses a page in two steps.
    fs.appendFileSync(world.path('leaves'), leaf.slice(0, 20));
    await ledger.sign();
    expect(world.signed()).toBe(3);
    fs.appendFileSync(world.path('leaves'), leaf.slice(20));
    await ledger.sign();
    expect(world.leaves('pin').at(-1)).toEqual({ kind: 'pin', run: 'run-slow', at: 7 });
    expect(world.signed()).toBe(4);
  });

  it('is signed anew where it is missing, by another process, too', async () => {
    const { world } = await started(5);
    fs.rmSync(world.path('checkpoint'));
    expect((await world.ledger().sign())?.kind).toBe('signed');
    expect(world.signed()).toBe(6);
  });

  it('goes on in another process, which needs no more than where the last one ended', async () => {
    const { world } = await started(5);
    const other = world.ledger();
    add(other, 7);
    expect((await other.sign())?.kind).toBe('signed');
    expect(world.signed()).toBe(13);
  });

  it('waits for a process that signs, and not for one that died', async () => {
    const { world, ledger } = await started(1);
    const other = { pid: 77, startTime: 5 };
    world.ledger({ owner: other });
    fs.writeFileSync(world.path(`sealer-77-5-00000000.claim`), '');
    add(ledger, 1);
    expect((await ledger.sign())?.kind).toBe('busy');
    world.kill(other);
    expect((await ledger.sign())?.kind).toBe('signed');
    expect(world.signed()).toBe(3);
    expect(fs.readdirSync(world.path('.')).filter((name) => name.endsWith('.claim'))).toEqual([]);
  });
});

describe('what was signed', () => {
  const cases = {
    'a leaf that became another': (text: string) => text.replace('run-1 ', 'run-7 '),
    'a leaf less': (text: string) => text.replace(/^.*run-1 .*\n/m, ''),
    'two leaves in another order': (text: string) =>
      text.replace(/^(.*run-1 .*\n)(.*run-2 .*\n)/m, '$2$1'),
    'fewer leaves': (text: string) => text.slice(0, text.indexOf('run-3') - 13),
    'no leaves': () => '',
  };
  for (const [name, change] of Object.entries(cases)) {
    it(`is not signed away: ${name}`, async () => {
      const { world, ledger } = await started(9);
      const signed = world.bytes('checkpoint');
      const text = world.bytes('leaves').toString();
      expect(change(text)).not.toBe(text);
      fs.writeFileSync(world.path('leaves'), change(text));
      for (const derived of ['hashes', 'position']) fs.rmSync(world.path(derived));
      add(ledger, name === 'fewer leaves' || name === 'no leaves' ? 1 : 30);
      expect((await ledger.sign())?.kind).toBe('refused');
      expect(world.bytes('checkpoint')).toEqual(signed);
      expect(world.troubles.at(-1)).toMatch(/ledger_(edited|truncated)/);
    });
  }

  it('is not signed away: a checkpoint of another key, or none at all in its place', async () => {
    const { world, ledger } = await started(2);
    const other = (await started(2)).world;
    for (const bytes of [other.bytes('checkpoint'), Buffer.from('nothing')]) {
      fs.writeFileSync(world.path('checkpoint'), bytes);
      add(ledger, 1);
      expect(await ledger.sign()).toEqual({ kind: 'refused', why: 'checkpoint_bad' });
      expect(world.bytes('checkpoint')).toEqual(bytes);
    }
  });

  it('is not signed away where the key or all leaves are gone', async () => {
    const { world, ledger } = await started(2);
    fs.rmSync(world.path('leaves'));
    expect(await ledger.sign()).toEqual({ kind: 'refused', why: 'ledger_truncated' });
    add(ledger, 1);
    expect(await ledger.sign()).toEqual({ kind: 'refused', why: 'ledger_truncated' });
    fs.rmSync(world.path('key'));
    expect(await ledger.sign()).toEqual({ kind: 'refused', why: 'key_gone' });
    expect(world.checkpoint?.size).toBe(3);
  });
});

describe('a disk that fails', () => {
  it('at any operation costs nothing that was signed, and works again when it does', async () => {
    for (const errno of ['ENOSPC', 'EIO']) {
      for (let nth = 1, more = true; more; nth += 1) {
        const world = new SealWorld();
        const first = world.ledger();
        expect(first.origin).toBeDefined();
        add(first, 3);
        await first.sign();
        let operation = 0;
        const disk = faultyDisk(() => {
          operation += 1;
          return operation === nth ? errno : undefined;
        });
        const ledger = world.ledger({ disk });
        add(ledger, 3);
        const sealed = await ledger.sign();
        more = operation >= nth;
        if (sealed === undefined || sealed.kind === 'busy') expect(world.signed()).toBeLessThan(8);
        else expect([nth, sealed.kind]).toEqual([nth, 'signed']);
        await ledger.sign();
        expect([nth, world.signed()]).toEqual([nth, 7]);
        expect(world.leaves('pin').map(({ at }) => at)).toEqual([0, 1, 2, 0, 1, 2]);
      }
    }
  });

  it('and that is full in the middle of a leaf has it whole behind what was cut', async () => {
    const { world } = await started(1);
    let full = true;
    const disk = {
      ...DISK,
      writeSync: ((fd: number, bytes: Uint8Array, ...rest: number[]) =>
        full && bytes.length > 10 && rest.length === 0
          ? DISK.writeSync(fd, bytes, 0, 10)
          : (DISK.writeSync as (...all: unknown[]) => number)(fd, bytes, ...rest)) as never,
    };
    const ledger = world.ledger({ disk });
    add(ledger, 2);
    expect(ledger.trouble).toBe('ENOSPC');
    expect(world.leaves('pin')).toHaveLength(1);
    full = false;
    add(ledger, 1);
    expect(ledger.trouble).toBeUndefined();
    await ledger.sign();
    expect(world.leaves('pin').map(({ run }) => run)).toEqual(['run-0', 'run-0', 'run-1', 'run-0']);
    expect(world.signed()).toBe(world.lines.length);
  });
});

it('never throws for what no leaf can say', () => {
  const world = new SealWorld();
  const ledger = world.ledger();
  ledger.note({ kind: 'pin', run: 'a run', at: 0 });
  expect(world.lines).toEqual([]);
  expect(() => formatLeaf({ kind: 'pin', run: 'a run', at: 0 })).toThrow(RangeError);
});
