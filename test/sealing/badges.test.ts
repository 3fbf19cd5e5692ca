// The one word on a session: what a list says without hashing, and what a verification says.
import * as fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readMetadata, storedMetadata } from '../../src/journal/reader.ts';
import { type SessionWriter, startSession } from '../../src/journal/writer.ts';
import { base64 } from '../../src/ledger/base64.ts';
import { type Badge, listedBadges, verifiedBadge, worstBadge } from '../../src/sealing/badges.ts';
import { journalName } from '../../src/sealing/journals.ts';
import { draftOf, FACTS } from '../journal/helper.ts';
import { SealWorld } from './helper.ts';

async function session(world: SealWorld, { ended = true, count = 3 } = {}): Promise<SessionWriter> {
  const ledger = world.ledger();
  const writer = startSession(world.journal, FACTS, world.env(ledger));
  for (let n = 0; n < count; n += 1) await writer.append(draftOf({ run_id: null }));
  if (ended) await writer.finalize('complete', 'over');
  await ledger.close();
  return writer;
}

function anchor(world: SealWorld): void {
  const { size, root } = world.checkpoint ?? { size: 0, root: new Uint8Array(32) };
  const line = { at: new Date(world.time).toISOString(), kind: 'print', size, where: '' };
  const text = JSON.stringify({ ...line, root: base64(root) });
  fs.appendFileSync(world.path('anchors.jsonl'), `${text}\n`);
}

/** What a list says, and what a verification of this session says. */
function badges(world: SealWorld, id: string): [Badge | undefined, Badge | undefined] {
  const metadata = readMetadata(world.journal, id);
  if (metadata === undefined) throw new Error('a session');
  const listed = listedBadges(world.root, journalName(world.journal), [metadata]);
  const active = storedMetadata(world.journal, id)?.status === 'active';
  const about = { active, listed: listed.get(id) };
  return [about.listed, verifiedBadge(world.verify([], id), about)];
}

function edit(world: SealWorld, id: string, change: (lines: string[]) => string[]): void {
  const path = world.session(id);
  fs.writeFileSync(path, change(fs.readFileSync(path, 'utf8').split(/(?<=\n)/)).join(''));
}

describe('a session', () => {
  it('is sealed, then anchored, and what is newer is not', async () => {
    const world = new SealWorld();
    const first = await session(world);
    expect(badges(world, first.id)).toEqual(['sealed', 'sealed']);
    anchor(world);
    const second = await session(world);
    expect(badges(world, first.id)).toEqual(['anchored', 'anchored']);
    expect(badges(world, second.id)).toEqual(['sealed', 'sealed']);
  });

  it('of a copied journal has its badge, and one without leaves is never anchored', async () => {
    const world = new SealWorld();
    const { id } = await session(world);
    const copy = `${world.journal}-copy`;
    fs.cpSync(world.journal, copy, { recursive: true });
    const ledger = world.ledger();
    ledger.journal(copy);
    await ledger.close();
    const metadata = storedMetadata(copy, id);
    if (metadata === undefined) throw new Error('a session');
    const of = (name: string | undefined) => listedBadges(world.root, name, [metadata]).get(id);
    expect(of(journalName(copy))).toBe('sealed');
    expect(of(journalName(world.journal))).toBe('sealed');
    expect(of('journalofanother')).toBe('gap');
    fs.rmSync(world.path('leaves'));
    expect(of(journalName(copy))).toBe('gap');
  });

  it('is open while it is written, and until its leaves are signed', async () => {
    const world = new SealWorld();
    const writer = await session(world, { ended: false });
    expect(badges(world, writer.id)).toEqual(['open', 'open']);
    await writer.finalize('complete', 'over');
    const ended = await session(world);
    for (const name of ['checkpoint', 'position']) fs.rmSync(world.path(name));
    expect(badges(world, ended.id)).toEqual(['open', 'open']);
  });

  it('has a gap where an entry has no leaf, and is recovered when it gets one', async () => {
    const world = new SealWorld();
    const writer = await session(world, { ended: false });
    const entries = world.lines.filter((line) => / entry /.test(line));
    fs.writeFileSync(
      world.path('leaves'),
      world.lines.filter((line) => line !== entries.at(-1)).join(''),
    );
    for (const name of ['checkpoint', 'position', 'hashes']) fs.rmSync(world.path(name));
    await world.ledger().sign();
    expect(badges(world, writer.id)).toEqual(['gap', 'gap']);
    const ledger = world.ledger();
    world.kill({ pid: 4321, startTime: 987_654 });
    await world.late(ledger);
    await ledger.close();
    expect(badges(world, writer.id)).toEqual(['recovered', 'recovered']);
  });

  it('is tampered where an entry is gone; an edit shows when it is verified', async () => {
    const world = new SealWorld();
    const { id } = await session(world);
    const whole = fs.readFileSync(world.session(id));
    edit(world, id, (lines) => lines.slice(1));
    expect(badges(world, id)).toEqual(['tampered', 'tampered']);
    fs.writeFileSync(world.session(id), whole);
    edit(world, id, (lines) => lines.map((line) => line.replace('git status', 'git stash')));
    expect(badges(world, id)).toEqual(['sealed', 'tampered']);
  });

  it('of before the ledger, or of another, has no badge', async () => {
    const world = new SealWorld();
    const bare = startSession(world.journal, FACTS, world.env(undefined));
    await bare.append(draftOf());
    await bare.finalize('complete', 'over');
    expect(badges(world, bare.id)).toEqual([undefined, undefined]);
    const { id } = await session(world);
    fs.rmSync(world.path('.'), { recursive: true });
    await world.ledger().close();
    expect(badges(world, id)).toEqual([undefined, undefined]);
  });

  it('that lies before the end of the ledger that is read has its badge, too', async () => {
    const world = new SealWorld();
    const { id } = await session(world);
    const ledger = world.ledger();
    const why = 'x'.repeat(4_000);
    for (let n = 0; n < 300; n += 1) ledger.note({ kind: 'gap', journal: 'other', at: 0, why });
    await ledger.close();
    expect(badges(world, id)).toEqual(['sealed', 'sealed']);
    anchor(world);
    const newer = await session(world);
    expect(badges(world, id)).toEqual(['anchored', 'anchored']);
    expect(badges(world, newer.id)[0]).toBe('sealed');
  });
});

it('of several parts the worst counts', () => {
  expect(worstBadge(['anchored', undefined, 'gap', 'sealed'])).toBe('gap');
  expect(worstBadge([undefined])).toBeUndefined();
});
