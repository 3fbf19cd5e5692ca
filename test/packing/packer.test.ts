// Which captures are packed and which are removed for room, and what a verification says of it.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newIdentity } from '../../src/age/x25519.ts';
import { finalText, saltFinal } from '../../src/capture/final-salt.ts';
import { encryptCapture } from '../../src/capture/packed/encrypt.ts';
import { packCapture } from '../../src/capture/packed/pack.ts';
import { roomOf } from '../../src/capture/room.ts';
import { pinCapture } from '../../src/capture/store.ts';
import { claimToEncrypt } from '../../src/packing/claim.ts';
import { Packer, type PackerOptions } from '../../src/packing/packer.ts';
import type { Pack } from '../../src/packing/thread.ts';
import { sealCaptures } from '../../src/sealing/captures.ts';
import { gatherEvidence } from '../../src/sealing/verify/gather.ts';
import { verifyEvidence } from '../../src/sealing/verify/verify.ts';
import type { CaptureFinal, CaptureMeta } from '../../src/types.ts';
import { to } from '../age/helper.ts';
import { build, INTENT, NOW, type TestStore, testStore } from '../capture/helper.ts';
import { ME, SealWorld } from '../sealing/helper.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TEXT = 'a line of a build\n'.repeat(1_000);

const packNow: Pack = async (dir) => {
  packCapture(dir);
  return { packed: true };
};

/** Of a command of an agent, `ago` before now. */
function agents(
  store: TestStore,
  id: string,
  ago: number,
  change: { meta?: Partial<CaptureMeta>; final?: Partial<CaptureFinal>; bytes?: string } = {},
): string {
  const meta = { retentionSeconds: 30 * 86_400, journal: INTENT, ...change.meta };
  const final = { at: store.now() - ago, ...change.final };
  return build(store, [{ bytes: change.bytes ?? TEXT }], { id, meta, final }).dir;
}

function packerOf(store: TestStore, change: Partial<PackerOptions> = {}): Packer {
  const budgetBytes = (): number => 1e12;
  return new Packer({ store, owner: ME, ledger: undefined, pack: packNow, budgetBytes, ...change });
}

async function passed(packer: Packer): Promise<string[]> {
  const rows: string[] = [];
  for await (const row of packer.pass()) {
    rows.push([row.id, row.reason, 'error' in row ? row.error : ''].filter(Boolean).join(' '));
  }
  return rows;
}

const isPacked = (dir: string): boolean => fs.existsSync(join(dir, 'output.bin.gz'));

describe('an encrypted capture', () => {
  const recipients = () => [to(newIdentity())];
  const pack: Pack = async (dir, whom = []) => {
    encryptCapture(dir, whom);
    return { packed: true };
  };

  it('is left to the process that encrypts it already', async () => {
    const store = testStore();
    const { dir } = build(store, [{ bytes: TEXT }], { id: 'one', final: { at: NOW } });
    const other = { pid: 400, startTime: 4_000 };
    store.living.push(other);
    const claim = await claimToEncrypt(dir, other, store.alive, () => true);
    const packer = packerOf(store, { recipients, pack });
    expect(await passed(packer)).toEqual([]);
    expect(fs.readFileSync(join(dir, 'output.bin'), 'utf8')).toBe(TEXT);
    claim?.release();
    expect(await passed(packer)).toEqual(['one encrypted']);
    expect(fs.readdirSync(dir).filter((name) => name.endsWith('.claim'))).toEqual([]);
  });
});

describe('captures of agents', () => {
  it('are packed a day after their end, and no others are', async () => {
    const store = testStore();
    agents(store, 'a-old', DAY);
    agents(store, 'b-new', DAY - 1);
    agents(store, 'c-open', 2 * DAY, { final: { outputClosed: false } });
    const survivor = { pid: 400, startTime: 4_000, command: 'sleep 100', holdsOutput: false };
    store.living.push(survivor);
    agents(store, 'd-alive', 2 * DAY, { final: { survivors: [survivor] } });
    agents(store, 'e-small', 2 * DAY, { bytes: 'ok\n' });
    const spool = agents(store, 'f-spool', 2 * DAY);
    fs.writeFileSync(join(spool, 'spooled'), '{}');
    const home = agents(store, 'g-home', 2 * DAY, { meta: { source: 'spool' } });
    fs.writeFileSync(join(home, 'spooled'), '{}');
    // Of a person.
    build(store, [{ bytes: TEXT }], { id: 'h-run', final: { at: NOW - 2 * DAY } });
    agents(store, 'i-short', 2 * DAY, { meta: { retentionSeconds: 86_400 } });
    const packer = packerOf(store);
    expect(await passed(packer)).toEqual(['a-old packed', 'g-home packed']);
    expect(await passed(packer)).toEqual([]);
    store.now = () => NOW + 1;
    expect(await passed(packer)).toEqual(['b-new packed']);
    expect(isPacked(join(store.sessions, 'h-run'))).toBe(false);
  });

  it('wait until they are sealed, where there is a ledger', async () => {
    const { world, store } = sealing();
    const dir = agents(store, 'one', 2 * DAY);
    const ledger = world.ledger();
    const packer = packerOf(store, { ledger });
    expect(await passed(packer)).toEqual([]);
    await sealCaptures({ ledger, store, owner: ME });
    expect(await passed(packer)).toEqual(['one packed']);
    await ledger.sign();
    expect(verified(store)).toEqual([]);
    // A packed file that was changed is found, and one that is damaged.
    const path = join(dir, 'output.bin.gz');
    const bytes = fs.readFileSync(path);
    fs.writeFileSync(join(dir, 'output.bin'), TEXT.replace('build', 'guild'), { mode: 0o600 });
    fs.rmSync(path);
    packCapture(dir);
    expect(verified(store)).toEqual(['capture_edited output']);
    bytes[60] = (bytes[60] ?? 0) ^ 1;
    fs.writeFileSync(path, bytes);
    expect(verified(store)).toEqual(['capture_edited output']);
  });

  it('of before there was a ledger are sealed as they are, packed', async () => {
    const { world, store } = sealing();
    agents(store, 'one', 2 * DAY);
    await passed(packerOf(store));
    const ledger = world.ledger();
    expect(await sealCaptures({ ledger, store, owner: ME })).toBe(1);
    await ledger.sign();
    expect(verified(store)).toEqual([]);
  });

  it('stay as they are where they cannot be packed, and it is said once', async () => {
    const store = testStore();
    const dirs = ['a', 'b'].map((id) => agents(store, id, 2 * DAY));
    const pack: Pack = async () => ({ packed: false, reason: 'ENOSPC', message: 'ENOSPC: full' });
    expect(await passed(packerOf(store, { pack }))).toEqual(['a pack_error ENOSPC']);
    expect(dirs.map(isPacked)).toEqual([false, false]);
    expect(fs.readdirSync(store.root)).toEqual(['sessions']); // the claim is given up
  });

  it('are packed by one process at a time', async () => {
    const store = testStore();
    agents(store, 'one', 2 * DAY);
    store.living.push(ME);
    let inside: string[] | undefined;
    const pack: Pack = async (dir) => {
      inside = await passed(packerOf(store));
      return packNow(dir);
    };
    expect(await passed(packerOf(store, { pack }))).toEqual(['one packed']);
    expect(inside).toEqual([]);
  });
});

describe('the budget', () => {
  it('lets the oldest go first, and never those that are pinned or of today', async () => {
    const { world, store } = sealing();
    for (const [i, id] of ['e', 'd', 'c', 'b', 'a'].entries()) {
      agents(store, id, (i + 2) * DAY, { bytes: noise(i) });
    }
    agents(store, 'today', HOUR, { bytes: noise(9) });
    pinCapture(store, 'a', true);
    const ledger = world.ledger();
    await sealCaptures({ ledger, store, owner: ME });
    const roomForTwo = (): number => 2.5 * roomOf(join(store.sessions, 'e')).diskBytes;
    const packer = packerOf(store, { ledger, budgetBytes: roomForTwo });
    const rows = await passed(packer);
    expect(rows.filter((row) => row.endsWith('packed'))).toHaveLength(5);
    expect(rows.filter((row) => !row.endsWith('packed'))).toEqual([
      'b over_budget',
      'c over_budget',
    ]);
    expect(fs.readdirSync(store.sessions)).toEqual(['a', 'd', 'e', 'today']);
    // They went before their time, and lawfully so.
    expect(verified(store)).toEqual(['expired b', 'expired c']);
    expect(await passed(packer)).toEqual([]);
    fs.rmSync(join(store.sessions, 'd'), { recursive: true });
    expect(verified(store)).toEqual(['expired b', 'expired c', 'deleted_early d']);
  });

  it('is none for removed sessions, and spares those whose journal is away', async () => {
    const { world, store } = sealing();
    const sessions = join(world.journal, 'sessions');
    fs.mkdirSync(sessions, { recursive: true });
    fs.writeFileSync(join(sessions, 'there.meta.json'), '{}');
    const journal = (sessionId: string | null, directory = world.journal) => ({
      meta: { journal: { ...INTENT, directory, sessionId } },
    });
    agents(store, 'a-there', 2 * DAY, journal('there'));
    agents(store, 'b-gone', 2 * DAY, journal('gone'));
    agents(store, 'c-away', 2 * DAY, journal('gone', join(world.dir, 'unmounted')));
    agents(store, 'd-owed', 2 * DAY, journal(null));
    const rows = await passed(packerOf(store));
    expect(rows.filter((row) => !row.endsWith('packed'))).toEqual(['b-gone entry_removed']);
  });
});

it('a capture that is released keeps what else its leaf says', async () => {
  const { world, store } = sealing();
  const dir = agents(store, 'one', 2 * DAY);
  const final = finalText(dir);
  if (final !== undefined) saltFinal(dir, final, new Uint8Array(16));
  const packer = packerOf(store, { ledger: world.ledger(), budgetBytes: () => 0 });
  expect(await passed(packer)).toEqual(['one packed', 'one over_budget']);
  const [leaf] = world.leaves('capture');
  expect(leaf).toMatchObject({ run: 'one', until: store.now(), bytes: TEXT.length });
  expect(leaf?.output).not.toBeNull();
  expect(leaf?.index).not.toBeNull();
});

/** That cannot be packed. */
function noise(seed: number): string {
  let state = seed;
  return Array.from({ length: 20_000 }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state.toString(36);
  }).join('');
}

/** A state root with a ledger in it. */
function sealing() {
  const world = new SealWorld();
  const store = testStore(world.root);
  store.now = () => world.time;
  world.ledger().journal(world.journal); // the first journal makes the key
  return { world, store };
}

/** What is wrong, and what is gone, all files read. */
function verified(store: TestStore): string[] {
  const evidence = gatherEvidence({ store, directories: [], deep: true });
  const { findings } = verifyEvidence(evidence);
  return findings.map(({ verdict, part, run }) => `${verdict} ${part ?? run}`);
}
