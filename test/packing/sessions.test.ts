// Which sessions are packed and when, what a verification and a redaction make of them, and that
// nothing is lost between a packer and those who write at the same time.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findSessionFiles } from '../../src/journal/files.ts';
import { appendLater } from '../../src/journal/later.ts';
import { packLines } from '../../src/journal/packed/pack.ts';
import { openLines } from '../../src/journal/packed/source.ts';
import { readEntries, readSession } from '../../src/journal/reader.ts';
import { removeSession } from '../../src/journal/retention.ts';
import { Sessions } from '../../src/journal/sessions.ts';
import { startSession } from '../../src/journal/writer.ts';
import { SessionPacker, type SessionPackerOptions } from '../../src/packing/sessions.ts';
import type { PackFiles } from '../../src/packing/thread.ts';
import { buryBefore } from '../../src/sealing/erase.ts';
import type { Ledger } from '../../src/sealing/ledger.ts';
import { redactSession } from '../../src/sealing/redact/session.ts';
import { openStore } from '../../src/shell/store.ts';
import { FACTS, faultyDisk, NOBODY, OWNER } from '../journal/helper.ts';
import { onDisk, RECIPIENTS, WORD, withMine, withNone, wordy } from '../journal/packed/helper.ts';
import { ME, SealWorld } from '../sealing/helper.ts';

const HOUR = 3_600_000;

const packFiles: PackFiles = async (files, recipients, upTo) => {
  for (const path of files) await packLines(path, { recipients, upTo });
  return { packed: true };
};

class World extends SealWorld {
  /** From the time of the files' last change. */
  later = 25 * HOUR;

  packer(change: Partial<SessionPackerOptions> = {}): SessionPacker {
    const now = (): number => Date.now() + this.later;
    const store = { ...openStore(this.root), alive: this.alive, now };
    const recipients = () => RECIPIENTS;
    return new SessionPacker({
      ...{ store, owner: ME, ledger: undefined, packFiles, recipients },
      ...change,
    });
  }

  async recorded(
    ledger: Ledger | undefined,
    { count = 3, end = true, owner = OWNER } = {},
  ): Promise<string> {
    const writer = startSession(this.journal, { ...FACTS, owner }, this.env(ledger));
    for (let i = 1; i <= count; i += 1) await writer.append(wordy(i));
    if (end) await writer.finalize('complete', 'over');
    return writer.id;
  }

  async passed(packer: SessionPacker): Promise<string[]> {
    const rows: string[] = [];
    for await (const { session, error } of packer.pass(this.journal)) {
      rows.push([session, error].filter(Boolean).join(' '));
    }
    return rows;
  }
}

const verdicts = (world: World): string[] =>
  world.verify().findings.map(({ verdict, count }) => `${verdict} ${count ?? ''}`.trim());

describe('a session', () => {
  it('is packed a day after its last line, once, by one that may', async () => {
    withNone();
    const world = new World();
    const id = await world.recorded(undefined);
    const open = await world.recorded(undefined, { end: false });
    const theirs = { pid: 77, startTime: 7 };
    world.ledger({ owner: theirs }); // as a living server
    await world.recorded(undefined, { owner: theirs });
    fs.writeFileSync(join(world.journal, 'catalog.db'), `of before: ${WORD}`);
    expect(await world.passed(world.packer({ recipients: () => [] }))).toEqual([]);
    expect(fs.existsSync(join(world.journal, 'catalog.db'))).toBe(true);
    world.later = 23 * HOUR;
    const packer = world.packer();
    expect(await world.passed(packer)).toEqual([]);
    expect(fs.existsSync(join(world.journal, 'catalog.db'))).toBe(false);
    world.later = 25 * HOUR;
    expect(await world.passed(packer)).toEqual([id]);
    expect(await world.passed(packer)).toEqual([]);
    expect(await world.passed(world.packer())).toEqual([]);
    expect(openLines(findSessionFiles(world.journal, open)?.entries ?? '')?.stub).toBeUndefined();
    world.kill(theirs);
    expect(await world.passed(packer)).toHaveLength(1);
    expect(fs.readdirSync(world.journal).filter((name) => name.endsWith('.claim'))).toEqual([]);
  });

  it('waits until the ledger has all of it', async () => {
    withMine();
    const world = new World();
    const ledger = world.ledger();
    const id = await world.recorded(ledger);
    await ledger.close();
    // The machine lost the leaves: they are written again, and count when they are signed.
    const seal = join(world.root, 'seal');
    for (const name of fs.readdirSync(seal)) {
      if (/^(leaves|hashes|checkpoint|position|seen)/.test(name)) fs.rmSync(join(seal, name));
    }
    const again = world.ledger();
    await world.recorded(again);
    expect(await world.passed(world.packer({ ledger: again }))).not.toContain(id);
    await again.close();
    const last = world.ledger();
    expect(await world.passed(world.packer({ ledger: last }))).toContain(id);
    await last.close();
    expect(world.verify().counts.entries).toBe(6);
  });

  it('is verified with a key, and counted without one', async () => {
    withMine();
    const world = new World();
    const ledger = world.ledger();
    const id = await world.recorded(ledger, { owner: ME, count: 4 });
    await world.passed(world.packer({ ledger }));
    await ledger.close();
    expect(onDisk(world.dir)).not.toContain(WORD);
    expect([verdicts(world), world.verify().counts.entries]).toEqual([[], 4]);
    withNone();
    expect([verdicts(world), world.verify().counts.entries]).toEqual([['encrypted 4'], 0]);
    expect(world.verify().intact).toBe(true);
    withMine();
    const segment = `${findSessionFiles(world.journal, id)?.entries}.1.gz.age`;
    const bytes = fs.readFileSync(segment);
    fs.writeFileSync(segment, bytes.subarray(0, -1));
    expect(world.verify().intact).toBe(false);
    expect(verdicts(world)).toContain('unreadable_line 1');
  });

  it('is deleted without a key, and the ledger says how much it had', async () => {
    withNone();
    const world = new World();
    const ledger = world.ledger();
    const id = await world.recorded(ledger, { owner: ME, count: 4 });
    await world.passed(world.packer({ ledger }));
    await buryBefore(ledger, world.journal, [id], { by: 'user', why: 'a test' });
    const leaves = fs.readFileSync(join(world.root, 'seal', 'leaves'), 'utf8');
    expect(/ user (4 1 4) /.exec(leaves)?.[1]).toBe('4 1 4');
    expect(removeSession(world.journal, id)).toBe(true);
    expect(fs.readdirSync(join(world.journal, 'sessions'))).toEqual([]);
    expect(verdicts(world)).toContain('deleted 4');
  });

  it('that is removed while it is packed leaves nothing', async () => {
    withNone();
    const world = new World();
    const id = await world.recorded(undefined);
    const removing: PackFiles = async (files, whom) => {
      const done = await packFiles(files, whom);
      const before = fs.readFileSync(files[0] ?? '');
      removeSession(world.journal, id);
      fs.writeFileSync(files[0] ?? '', before); // as the packer's last rename would
      return done;
    };
    await world.passed(world.packer({ packFiles: removing }));
    expect(fs.readdirSync(join(world.journal, 'sessions'))).toEqual([]);
  });

  it('gets what came later behind what is packed at that moment', async () => {
    withMine();
    const world = new World();
    const id = await world.recorded(undefined);
    const [first] = readSession(world.journal, id)?.entries ?? [];
    const entry_id = first?.entry_id ?? '';
    const output = { stdout: 'late\n', stderr: '', truncated: false };
    let appended: Promise<void> | undefined;
    const slow: PackFiles = async (files, whom) => {
      const one = { entry_id, survivors: [], output };
      appended = appendLater(world.journal, id, [one], world.env(undefined));
      return packFiles(files, whom);
    };
    expect(await world.passed(world.packer({ packFiles: slow }))).toEqual([id]);
    await appended;
    const later = readSession(world.journal, id)?.entries.map((entry) => entry.later);
    expect(later).toEqual([output, undefined, undefined]);
  });
});

describe('a session that never ends', () => {
  it('is packed an hour at a time while it is written, and loses nothing', async () => {
    withMine();
    const world = new World();
    const env = world.env(undefined);
    const sessions = new Sessions({
      ...{ directory: world.journal, mode: 'continuous', workingDirectory: '/', owner: ME, env },
    });
    const writer = sessions.start();
    const start = Math.floor(Date.now() / HOUR) * HOUR;
    let number = 0;
    const append = async (at: number): Promise<void> => {
      number += 1;
      const timestamp = new Date(at).toISOString();
      await sessions.writerFor(NOBODY).append({ ...wordy(number), timestamp });
    };
    const packer = (at: number): SessionPacker => {
      world.later = at - Date.now() + HOUR / 2;
      return world.packer();
    };
    for (let hour = 0; hour < 3; hour += 1) {
      await append(start + hour * HOUR);
      await append(start + hour * HOUR + 60_000);
    }
    const path = findSessionFiles(world.journal, writer.id)?.entries ?? '';
    const segments = () => openLines(path)?.stub?.segments.length ?? 0;
    expect(await packer(start + 24 * HOUR).packOpen(world.journal, writer)).toBeUndefined();
    for (const hour of [1, 2]) {
      const packing = packer(start + (24 + hour) * HOUR).packOpen(world.journal, writer);
      const meanwhile = [1, 2, 3].map(() => append(start + 5 * HOUR));
      expect(await packing).toEqual({ session: writer.id });
      await Promise.all(meanwhile);
      await append(start + 5 * HOUR);
      expect(segments()).toBe(hour);
    }
    const failing: PackFiles = async () => ({ packed: false, reason: 'ENOSPC', message: 'full' });
    world.later += 100 * HOUR;
    const failed = world.packer({ packFiles: failing }).packOpen(world.journal, writer);
    expect(await failed).toEqual({ session: writer.id, error: 'ENOSPC' });
    await append(start + 6 * HOUR);
    await sessions.closeAll('shutdown', 'server_stop');
    const read = readSession(world.journal, writer.id);
    expect(read?.entries.map((entry) => entry.sequence_number)).toEqual(
      Array.from({ length: number }, (_, i) => i + 1),
    );
    expect([read?.damagedLines, read?.metadata.entry_count]).toEqual([0, number]);
  });
});

describe('redacting a packed session', () => {
  const plan = {
    parts: (json: { sequence_number?: unknown }) =>
      json.sequence_number === 2 ? (['text', 'stdout'] as const) : [],
    beside: () => undefined,
  };

  async function packed() {
    const world = new World();
    const ledger = world.ledger();
    const id = await world.recorded(ledger, { owner: ME });
    await world.passed(world.packer({ ledger }));
    const metadata = findSessionFiles(world.journal, id)?.metadata ?? '';
    const text = fs.readFileSync(metadata, 'utf8');
    fs.writeFileSync(metadata, text.replace(/"owner":\s*\{[^}]*\}/, '"owner":null'));
    const store = { ...openStore(world.root), alive: world.alive, now: () => world.time };
    const about = { ledger, store, owner: ME, why: 'a test' };
    return { world, id, about };
  }

  it('packs it again, and everything else stays provable', async () => {
    withMine();
    const { world, id, about } = await packed();
    const sealed = { ...about, recipients: () => RECIPIENTS };
    const lines = await redactSession(world.journal, id, plan, sealed);
    expect(lines).toEqual([{ sequence: 2, parts: ['text', 'stdout'] }]);
    const entries = [...readEntries(world.journal, id)].map(({ entry }) => entry);
    expect(entries.map(({ command, redacted }) => [command, redacted])).toEqual([
      [`echo ${WORD} 1`, undefined],
      ['', ['text', 'stdout']],
      [`echo ${WORD} 3`, undefined],
    ]);
    expect(onDisk(world.dir)).not.toContain(WORD);
    const path = findSessionFiles(world.journal, id)?.entries ?? '';
    expect([1, 2].map((n) => fs.existsSync(`${path}.${n}.gz.age`))).toEqual([false, true]);
    expect(verdicts(world).filter((one) => one !== 'unsigned')).toEqual(
      expect.arrayContaining(['redacted']),
    );
    expect(world.verify().intact).toBe(true);
  });

  it('is refused where it cannot be read, or not be encrypted again', async () => {
    withMine();
    const { world, id, about } = await packed();
    const before = onDisk(join(world.journal, 'sessions'));
    const none = { ...about, recipients: () => [] };
    await expect(redactSession(world.journal, id, plan, none)).rejects.toThrow(
      /is encrypted, and your settings name no recipients/,
    );
    withNone();
    const sealed = { ...about, recipients: () => RECIPIENTS };
    await expect(redactSession(world.journal, id, plan, sealed)).rejects.toThrow(
      /is encrypted for age1/,
    );
    expect(onDisk(join(world.journal, 'sessions'))).toBe(before);
  });

  it('is finished by the next one, whichever operation of the disk fails', async () => {
    withMine();
    for (let at = 1, done = false; !done; at += 3) {
      const { world, id, about } = await packed();
      const disk = faultyDisk((operation) => (operation === at ? 'EIO' : undefined));
      const sealed = { ...about, recipients: () => RECIPIENTS };
      await redactSession(world.journal, id, plan, { ...sealed, disk }).catch(() => undefined);
      done = disk.calls.length < at;
      const count = readSession(world.journal, id)?.entries.length;
      await redactSession(world.journal, id, plan, sealed);
      const after = readSession(world.journal, id)?.entries.map(({ redacted }) => redacted);
      expect([at, count, after]).toEqual([at, 3, [undefined, ['text', 'stdout'], undefined]]);
      expect(world.verify().intact).toBe(true);
      const segments = fs
        .readdirSync(join(world.journal, 'sessions'))
        .filter((name) => name.includes('.gz.age'));
      expect(segments).toHaveLength(1);
    }
  });
});
