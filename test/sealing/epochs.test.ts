// The keys of days: who kept the key of a day finds it out if anything older than today was signed
// anew with stolen keys, without any anchor; clocks, crashes and several servers change nothing.
import * as fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { base64 } from '../../src/ledger/base64.ts';
import { checkpointText } from '../../src/ledger/checkpoint.ts';
import { formatLeaf } from '../../src/ledger/leaf.ts';
import { checkSignature, formatNote, parseNote, signNote } from '../../src/ledger/note.ts';
import {
  formatVerifierKey,
  parseSignerKey,
  parseVerifierKey,
  type SignerKey,
  signerKey,
} from '../../src/ledger/note-keys.ts';
import { leafHash, StoredHashes } from '../../src/ledger/tree.ts';
import { introductionsIn } from '../../src/sealing/introductions.ts';
import { rotateKey } from '../../src/sealing/rotate.ts';
import { signLeaves } from '../../src/sealing/sealer.ts';
import { readLedger } from '../../src/sealing/verify/ledger-check.ts';
import { faultyDisk } from '../journal/helper.ts';
import { ME, SealWorld } from './helper.ts';

const DAY = 86_400_000;

class DayWorld extends SealWorld {
  #runs = 0;

  /** Something is sealed; undefined where it could not be signed. */
  async pinned(ledger = this.ledger()): Promise<string | undefined> {
    this.#runs += 1;
    ledger.note({ kind: 'pin', run: `run-${this.#runs}`, at: this.time });
    return (await ledger.sign())?.kind;
  }

  /** Days with a signature each, of the keys that a person kept each day. */
  async days(count: number): Promise<string[]> {
    const ledger = this.ledger();
    const kept: string[] = [];
    for (let day = 0; day < count; day += 1) {
      for (let turn = 0; turn < 3; turn += 1) expect(await this.pinned(ledger)).toBe('signed');
      kept.push(this.vkeyOfDay());
      this.time += DAY;
    }
    this.time -= DAY;
    await ledger.close();
    return kept;
  }

  signer(name: 'key' | 'epoch'): SignerKey {
    const key = parseSignerKey(this.bytes(name).toString().trim());
    if (key === undefined) throw new Error(`${name} is no key`);
    return key;
  }

  vkeyOfDay(): string {
    return formatVerifierKey(this.signer('epoch').verifier);
  }

  /** What a verification says, with the key of a day or without. */
  says(kept?: string) {
    const there = fs.existsSync(this.path('introductions'));
    const { epoch, findings } = readLedger({
      leaves: this.bytes('leaves'),
      hashes: this.bytes('hashes'),
      checkpoint: this.bytes('checkpoint').toString(),
      anchors: [],
      key: this.signer('key').verifier,
      introductions: there ? introductionsIn(this.bytes('introductions').toString()) : [],
      epoch: kept === undefined ? undefined : parseVerifierKey(kept),
    });
    return { epoch, words: findings.map(({ verdict }) => verdict) };
  }

  /** Everything anew over these lines, with all keys that lie on this machine today. */
  signAnew(lines: readonly string[], signers = [this.signer('key'), this.signer('epoch')]): void {
    const tree = new StoredHashes();
    for (const line of lines) tree.append(leafHash(Buffer.from(`${line}\n`)));
    const [{ verifier }] = signers as [SignerKey];
    const head = { origin: verifier.name, size: tree.size, root: tree.root() };
    fs.writeFileSync(this.path('leaves'), lines.map((line) => `${line}\n`).join(''));
    fs.rmSync(this.path('hashes'));
    fs.writeFileSync(this.path('hashes'), '');
    fs.writeFileSync(this.path('checkpoint'), formatNote(signNote(checkpointText(head), signers)));
  }
}

describe('the key of a day', () => {
  it('signs beside that of the ledger, and is another one each day', async () => {
    const world = new DayWorld();
    const kept = await world.days(3);
    expect(kept.map((vkey) => /\/(\d{4}-\d\d-\d\d)\+/.exec(vkey)?.[1])).toEqual([
      '2026-01-18',
      '2026-01-19',
      '2026-01-20',
    ]);
    const note = parseNote(world.bytes('checkpoint').toString());
    const { verifier } = world.signer('key');
    expect(note?.signatures.map(({ name }) => name)).toEqual([
      verifier.name,
      `${verifier.name}/2026-01-20`,
    ]);
    // Go's reader and every other that knows the key of the ledger alone.
    expect(note && checkSignature(note, verifier)).toBe('verified');
    expect(world.leaves('key').map(({ vkey }) => vkey)).toEqual([
      formatVerifierKey(verifier),
      ...kept.slice(1),
    ]);
    expect(introductionsIn(world.bytes('introductions').toString())).toHaveLength(2);
    expect(world.says()).toMatchObject({ words: [] });
    for (const [at, vkey] of kept.entries()) {
      const from = `2026-01-${18 + at}`;
      const size = at === 2 ? 0 : 10;
      expect(world.says(vkey)).toEqual({ words: [], epoch: { from, to: '2026-01-20', size } });
    }
  });

  it('is destroyed when the next one begins', async () => {
    const world = new DayWorld();
    await world.days(1);
    const old = world.bytes('epoch');
    const watched = fs.openSync(world.path('epoch'), 'r');
    world.time += DAY;
    await world.pinned();
    const rest = Buffer.alloc(old.length);
    fs.readSync(watched, rest, 0, rest.length, 0);
    fs.closeSync(watched);
    expect(rest).toEqual(Buffer.alloc(old.length));
    const seed = old.toString().trim().split('+').slice(4).join('+');
    const files = fs.readdirSync(world.path('leaves').replace(/leaves$/, ''));
    expect(files).not.toContain('epoch.next');
    for (const name of files) {
      expect([name, fs.readFileSync(world.path(name as 'key'), 'utf8').includes(seed)]).toEqual([
        name,
        false,
      ]);
    }
  });

  it('stays when the clock goes back, and when nothing is new', async () => {
    const world = new DayWorld();
    const [, , third] = await world.days(3);
    for (const jump of [-5 * DAY, -400 * DAY, 5 * DAY + 400 * DAY]) {
      world.time += jump;
      expect(await world.pinned()).toBe('signed');
      expect(world.vkeyOfDay()).toBe(third);
    }
    world.time += 7 * DAY;
    expect((await world.ledger().sign())?.kind).toBe('current');
    expect(world.vkeyOfDay()).toBe(third);
    await world.pinned();
    expect(world.vkeyOfDay()).toContain('/2026-01-27+');
    expect(world.says(third).words).toEqual([]);
  });

  it('lasts through another key of the ledger', async () => {
    const world = new DayWorld();
    const [first = ''] = await world.days(2);
    const ledger = world.ledger();
    const vkey = formatVerifierKey(world.signer('key').verifier);
    const { root: stateRoot, alive } = world;
    await rotateKey(ledger, { stateRoot, alive, owner: ME, now: () => world.time });
    world.time += DAY;
    await world.pinned(ledger);
    expect(world.says(first)).toMatchObject({ words: [], epoch: { to: '2026-01-20' } });
    expect(formatVerifierKey(world.signer('key').verifier)).not.toBe(vkey);
    const again = readLedger({
      leaves: world.bytes('leaves'),
      hashes: world.bytes('hashes'),
      checkpoint: world.bytes('checkpoint').toString(),
      anchors: [],
      key: parseVerifierKey(vkey),
      introductions: introductionsIn(world.bytes('introductions').toString()),
    });
    expect(again.findings).toEqual([]);
  });
});

describe('keys that are stolen today', () => {
  it('cannot sign what is older anew: it is found with no anchor at all', async () => {
    const attacks: readonly (readonly [string, (lines: string[]) => void])[] = [
      ['edit', (lines) => (lines[1] = (lines[1] ?? '').replace('run-1', 'run-x'))],
      ['delete', (lines) => lines.splice(2, 1)],
      ['swap', (lines) => lines.splice(1, 2, lines[2] ?? '', lines[1] ?? '')],
      ['insert', (lines) => lines.splice(2, 0, lines[1] ?? '')],
      ['cut', (lines) => lines.splice(3)],
      ['roll back to yesterday', (lines) => lines.splice(6)],
    ];
    for (const [name, change] of attacks) {
      const world = new DayWorld();
      const kept = await world.days(3);
      const lines = world.lines.map((line) => line.trimEnd());
      change(lines);
      world.signAnew(lines);
      for (const vkey of kept.slice(0, 2)) {
        expect([name, world.says(vkey).words]).toEqual([name, ['epoch_broken']]);
      }
    }
  });

  it('cannot do it with the notes of older days taken away, or other ones made', async () => {
    const world = new DayWorld();
    const [first = '', second = ''] = await world.days(3);
    const lines = world.lines
      .map((line) => line.trimEnd())
      .map((line) => line.replace('run-1', 'run-x'));
    world.signAnew(lines);
    fs.writeFileSync(world.path('introductions'), '');
    expect(world.says(first).words).toEqual(['epoch_broken']);
    // Keys of the older days that the thief makes, each introducing the next.
    const { verifier } = world.signer('key');
    const forged = [18, 19].map((day) =>
      signerKey(`${verifier.name}/2026-01-${day}`, Buffer.alloc(32, day)),
    );
    const named = forged.map((key) => formatVerifierKey(key.verifier));
    const other = lines.map((line) => line.replace(second, named[1] ?? ''));
    world.signAnew(other, [world.signer('key'), ...forged, world.signer('epoch')]);
    fs.writeFileSync(world.path('introductions'), `${world.bytes('checkpoint')}\0`);
    expect(world.says(first).words).toEqual(['epoch_broken']);
    expect(world.says(second).words).toEqual(['epoch_broken']);
    // What it does not prove: with no key that was kept, all of it may be another ledger.
    expect(world.says(named[0]).words).toEqual([]);
    expect(world.says().words).toEqual([]);
  });

  it('can rewrite what came since its day began, and no more than that', async () => {
    const world = new DayWorld();
    const [first = '', , third = ''] = await world.days(3);
    const lines = world.lines.map((line) => line.trimEnd());
    expect(lines.length).toBe(12);
    world.signAnew([
      ...lines.slice(0, 10),
      formatLeaf({ kind: 'pin', run: 'forged', at: 1 }).trim(),
    ]);
    expect(world.says(first).words).toEqual([]);
    world.signAnew([...lines.slice(0, 8), ...lines.slice(9)]);
    expect(world.says(first).words).toEqual(['epoch_broken']);
    fs.writeFileSync(world.path('introductions'), '');
    expect(world.says(third).words).toEqual([]);
    expect(world.says(first).words).toEqual(['epoch_broken']);
  });

  it('is not believed as the key of the ledger, nor the key of another', async () => {
    const world = new DayWorld();
    const [first = ''] = await world.days(2);
    const lines = world.lines.map((line) => line.trimEnd());
    world.signAnew(lines, [world.signer('key')]);
    expect(world.says(first).words).toEqual(['epoch_broken']);
    const other = new DayWorld();
    const [theirs] = await other.days(1);
    expect(world.says(theirs).words).toEqual(['epoch_broken']);
    const note = parseNote(world.bytes('checkpoint').toString());
    expect(base64(note?.signatures[0]?.bytes ?? new Uint8Array()).length).toBe(88);
  });
});

describe('a day that begins', () => {
  it('goes on wherever the disk fails, and no way is lost', async () => {
    for (let fail = 1; ; fail += 1) {
      const world = new DayWorld();
      const [first = ''] = await world.days(2);
      world.time += DAY;
      const { root: stateRoot, alive } = world;
      world.ledger().note({ kind: 'pin', run: 'late', at: world.time });
      const disk = faultyDisk((count) => (count === fail ? 'EIO' : undefined));
      const options = { stateRoot, alive, owner: ME, now: () => world.time };
      await signLeaves({ ...options, disk }).catch(() => undefined);
      for (const key of [first, undefined]) {
        const { words } = world.says(key);
        expect([fail, words.filter((word) => word !== 'unsigned')]).toEqual([fail, []]);
      }
      // The clock was wrong, or is.
      world.time -= fail % 2 === 0 ? DAY : 0;
      expect(await world.pinned()).toBe('signed');
      expect([fail, world.says().words, world.says(first).words]).toEqual([fail, [], []]);
      world.time += fail % 2 === 0 ? DAY : 0;
      expect(await world.pinned()).toBe('signed');
      expect([fail, world.says(first)]).toMatchObject([fail, { words: [] }]);
      expect(world.says(first).epoch?.to).toBe('2026-01-20');
      world.time += DAY;
      expect(await world.pinned()).toBe('signed');
      expect([fail, world.says(first).words]).toEqual([fail, []]);
      if (disk.calls.length < fail) {
        expect(fail).toBeGreaterThan(10);
        return;
      }
    }
  });

  it('is introduced behind what a crash left of another note', async () => {
    const world = new DayWorld();
    const [first = ''] = await world.days(2);
    const note = world.bytes('introductions');
    fs.appendFileSync(world.path('introductions'), note.subarray(0, note.length - 30));
    world.time += DAY;
    await world.pinned();
    expect(world.says(first)).toMatchObject({ words: [], epoch: { to: '2026-01-20' } });
  });

  it('begins once with several servers', async () => {
    const world = new DayWorld();
    const [first = ''] = await world.days(1);
    world.time += DAY;
    const servers = [1, 2, 3, 4].map((pid) =>
      world.ledger({ owner: { pid: 90 + pid, startTime: 1 } }),
    );
    await Promise.all(servers.map((server) => world.pinned(server)));
    await world.pinned();
    expect(world.leaves('key')).toHaveLength(2);
    expect(introductionsIn(world.bytes('introductions').toString())).toHaveLength(1);
    expect(world.says(first)).toMatchObject({ words: [], epoch: { to: '2026-01-19' } });
  });
});
