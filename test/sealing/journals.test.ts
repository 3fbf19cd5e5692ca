// The name of a journal: it stays with the directory, wherever that goes, and a copy gets another.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { knownJournals } from '../../src/sealing/journals.ts';
import { SealWorld } from './helper.ts';

function journal(world: SealWorld, name = 'one'): string {
  const directory = join(world.dir, name);
  fs.mkdirSync(directory, { recursive: true });
  return directory;
}

function stored(directory: string): Record<string, unknown> {
  return JSON.parse(fs.readFileSync(join(directory, 'seal.json'), 'utf8'));
}

describe('the name of a journal', () => {
  it('is given once, and known to the ledger with its place', () => {
    const world = new SealWorld();
    const directory = journal(world);
    const name = world.ledger().journal(directory);
    expect(name).toMatch(/^[a-z2-7]{26}$/);
    expect(world.ledger().journal(directory)).toBe(name);
    expect(knownJournals(world.root)).toEqual([{ journal: name, directory, at: world.time }]);
    expect(stored(directory)).toMatchObject({ journal: name, origin: world.ledger().origin });
    expect(fs.statSync(join(directory, 'seal.json')).mode & 0o777).toBe(0o600);
  });

  it('goes with a directory that is moved', () => {
    const world = new SealWorld();
    const name = world.ledger().journal(journal(world));
    fs.renameSync(join(world.dir, 'one'), join(world.dir, 'two'));
    expect(world.ledger().journal(join(world.dir, 'two'))).toBe(name);
    expect(knownJournals(world.root)).toMatchObject([{ directory: join(world.dir, 'two') }]);
    expect(world.leaves('fork')).toEqual([]);
  });

  it('is not that of a copy, which gets a leaf that says whose', () => {
    const world = new SealWorld();
    const name = world.ledger().journal(journal(world));
    fs.cpSync(join(world.dir, 'one'), join(world.dir, 'two'), { recursive: true });
    const other = world.ledger().journal(join(world.dir, 'two'));
    expect(other).not.toBe(name);
    expect(world.leaves('fork')).toEqual([
      { kind: 'fork', journal: other, from: name, at: world.time, why: 'a copy' },
    ]);
    expect(world.ledger().journal(join(world.dir, 'two'))).toBe(other);
    expect(world.ledger().journal(join(world.dir, 'one'))).toBe(name);
    expect(world.leaves('fork')).toHaveLength(1);
  });

  it('stays where a restart gave the disk another number', () => {
    const world = new SealWorld();
    const directory = journal(world);
    const name = world.ledger().journal(directory);
    const { device } = stored(directory);
    fs.writeFileSync(
      join(directory, 'seal.json'),
      JSON.stringify({ ...stored(directory), device: Number(device) + 1 }),
    );
    expect(world.ledger().journal(directory)).toBe(name);
    expect(stored(directory).device).toBe(device);
  });

  it('is the same through a link, and in another state root another registry', () => {
    const world = new SealWorld();
    const name = world.ledger().journal(journal(world));
    fs.symlinkSync(join(world.dir, 'one'), join(world.dir, 'link'));
    expect(world.ledger().journal(join(world.dir, 'link'))).toBe(name);
    const other = new SealWorld();
    expect(other.ledger().journal(join(world.dir, 'one'))).toBe(name);
    expect(knownJournals(other.root)).toHaveLength(1);
  });

  it('is never taken from a project that brings one, nor from what is no name', () => {
    const world = new SealWorld();
    const name = world.ledger().journal(journal(world));
    for (const text of [
      JSON.stringify({ journal: name, device: 1, inode: 1 }),
      JSON.stringify({ journal: '../../x', device: 1, inode: 1 }),
      JSON.stringify({ journal: 7 }),
      'nothing',
      '',
    ]) {
      const directory = journal(world, 'cloned');
      fs.writeFileSync(join(directory, 'seal.json'), text);
      const given = world.ledger().journal(directory);
      expect(given).toMatch(/^[a-z2-7]{26}$/);
      expect(given).not.toBe(name);
      fs.rmSync(directory, { recursive: true });
    }
  });

  it('is not that of a journal whose first home still has it, whatever the file says', () => {
    const world = new SealWorld();
    const one = journal(world);
    const name = world.ledger().journal(one);
    const two = journal(world, 'two');
    const { dev: device, ino: inode } = fs.statSync(two);
    fs.writeFileSync(join(two, 'seal.json'), JSON.stringify({ journal: name, device, inode }));
    expect(world.ledger().journal(two)).not.toBe(name);
    expect(world.ledger().journal(one)).toBe(name);
  });

  it('needs no state root that can be written, and no journal that cannot', () => {
    const world = new SealWorld();
    fs.writeFileSync(world.root, '');
    const directory = journal(world);
    expect(world.ledger().journal(directory)).toMatch(/^[a-z2-7]{26}$/);
  });

  it('is asked for before the first command of a project, and that is no trouble', () => {
    const world = new SealWorld();
    const ledger = world.ledger();
    expect(ledger.journal(join(world.dir, 'one'))).toBeUndefined();
    expect(world.troubles).toEqual([]);
    expect(ledger.journal(journal(world))).toMatch(/^[a-z2-7]{26}$/);
  });
});
