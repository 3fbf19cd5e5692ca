// Parts of an entry that are taken out: they are gone, everything else can still be proven, and
// whatever the disk does meanwhile, the line is there and the ledger has said it before.
import * as fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decodeEntry } from '../../../src/journal/entry.ts';
import { entryParts } from '../../../src/journal/entry-parts.ts';
import { readSession } from '../../../src/journal/reader.ts';
import { resumeSession, startSession } from '../../../src/journal/writer.ts';
import {
  commitmentTo,
  ENTRY_PARTS,
  type EntryPart,
  sha256,
} from '../../../src/ledger/commitments.ts';
import { redactEntry } from '../../../src/sealing/redact/entry.ts';
import { parseObject } from '../../../src/text/json.ts';
import { draftOf, FACTS, faultyDisk } from '../../journal/helper.ts';
import { ME } from '../helper.ts';
import { RedactWorld } from './helper.ts';

const DRAFTS = [
  { command: 'git status', stdout: 'only-here\n' },
  { command: 'show secret-words', stdout: 'the secret-words\n', stderr: 'warned' },
  { command: 'git log' },
];

/** What the line commits to, as a person with nothing but the line and the leaf would find it. */
function shown(line: string): Partial<Record<EntryPart, string | null>> {
  const json = parseObject(line) ?? {};
  const salts = (json.salts ?? {}) as Partial<Record<EntryPart, string>>;
  const parts = entryParts(json);
  return Object.fromEntries(
    ENTRY_PARTS.flatMap((part) => {
      const salt = salts[part];
      if (salt === undefined) return [];
      const content = parts[part];
      const own = Buffer.from(salt, 'base64url');
      const digest = sha256(Buffer.from(content ?? ''));
      return [[part, content === undefined ? null : commitmentTo(digest, own)]];
    }),
  );
}

describe('an entry', () => {
  it('loses the parts that were named, after a leaf said so; all else is proven', async () => {
    const world = new RedactWorld();
    const ledger = world.ledger();
    const session = await world.sessionOf(ledger, DRAFTS);
    const [first, before, third] = world.linesOf(session);
    const request = { directory: world.journal, session, sequence: 2 };
    const parts = ['text', 'stdout'] as const;
    const done = await redactEntry({ ...request, parts }, world.context(ledger));
    expect(done).toEqual([{ sequence: 2, parts }]);

    const [one, after = '', three] = world.linesOf(session);
    expect([one, three]).toEqual([first, third]);
    expect(world.filesWith('secret-words')).toEqual([]);
    expect(decodeEntry(after)).toEqual({
      ...decodeEntry(before ?? ''),
      command: '',
      description: null,
      stdout: null,
      redacted: ['text', 'stdout'],
    });
    // The salt of all parts is gone, and with it every way to guess at what was there.
    expect(Object.keys(parseObject(after) ?? {})).not.toContain('salt');
    const leaf = world.leaves('entry').find(({ sequence }) => sequence === 2);
    expect(shown(after)).toEqual({ facts: leaf?.facts, stderr: leaf?.stderr });
    expect(world.leaves('redact')).toEqual([
      {
        kind: 'redact',
        journal: ledger.journal(world.journal),
        session,
        sequence: 2,
        at: world.time,
        parts,
        why: 'customer data',
      },
    ]);
    expect(await world.verified(ledger)).toEqual({
      intact: true,
      words: ['1 entry was redacted: text,stdout, "customer data"'],
    });
  });

  it('can lose more of it later, and nothing twice', async () => {
    const world = new RedactWorld();
    const ledger = world.ledger();
    const session = await world.sessionOf(ledger, DRAFTS);
    const request = { directory: world.journal, session, sequence: 2 };
    for (const parts of [['stdout'], ['stdout'], ['stderr', 'stdout']] as const) {
      await redactEntry({ ...request, parts }, world.context(ledger));
    }
    expect(world.leaves('redact').map(({ parts }) => parts)).toEqual([['stdout'], ['stderr']]);
    const leaf = world.leaves('entry').find(({ sequence }) => sequence === 2);
    expect(shown(world.linesOf(session)[1] ?? '')).toEqual({
      facts: leaf?.facts,
      text: leaf?.text,
    });
    expect((await world.verified(ledger)).words).toEqual([
      '1 entry was redacted: stdout,stderr, "customer data"',
    ]);
  });

  it('loses what its processes printed later, too', async () => {
    const world = new RedactWorld();
    const ledger = world.ledger();
    const session = await world.sessionOf(ledger, DRAFTS, { stdout: 'later-secret', stderr: 'e' });
    const request = { directory: world.journal, session, sequence: 1 };
    await redactEntry({ ...request, parts: ['stdout'] }, world.context(ledger));
    expect(world.filesWith('later-secret')).toEqual([]);
    const [entry] = readSession(world.journal, session)?.entries ?? [];
    expect(entry?.later).toEqual({ stdout: '', stderr: 'e', truncated: false });
    expect(await world.verified(ledger)).toEqual({
      intact: true,
      words: ['1 entry was redacted: stdout, "customer data"'],
    });
  });

  it('is redacted without a ledger, too', async () => {
    const world = new RedactWorld();
    const session = await world.sessionOf(undefined, DRAFTS);
    const request = { directory: world.journal, session, sequence: 2, parts: ['stdout'] as const };
    await redactEntry(request, world.context(undefined));
    const line = world.linesOf(session)[1] ?? '';
    expect(decodeEntry(line)).toMatchObject({ stdout: null, redacted: ['stdout'] });
    expect(Object.keys(parseObject(line) ?? {})).not.toContain('salts');
  });

  it('of a session that is written at the moment is refused, and stays', async () => {
    const world = new RedactWorld();
    const ledger = world.ledger();
    const writer = startSession(world.journal, { ...FACTS, owner: ME }, world.env(ledger));
    await writer.append(draftOf({ stdout: 'secret' }));
    const before = world.linesOf(writer.id);
    const request = { directory: world.journal, session: writer.id, sequence: 1 };
    const redacted = redactEntry({ ...request, parts: ['stdout'] }, world.context(ledger));
    await expect(redacted).rejects.toThrow(`The session ${writer.id} is being written.`);
    expect(world.linesOf(writer.id)).toEqual(before);
    expect(world.leaves('redact')).toEqual([]);
  });

  it('of a copied journal is redacted in the copy alone', async () => {
    const world = new RedactWorld();
    const ledger = world.ledger();
    const session = await world.sessionOf(ledger, DRAFTS);
    const request = { session, sequence: 2 };
    const directory = `${world.journal}-copy`;
    const [first, second] = [world.journal, directory];
    await redactEntry({ ...request, directory: first, parts: ['stderr'] }, world.context(ledger));
    fs.cpSync(first, second, { recursive: true });
    await redactEntry({ ...request, directory: second, parts: ['text'] }, world.context(ledger));
    for (const [place, parts] of [
      [first, 'stderr'],
      [second, 'text,stderr'],
    ] as const) {
      const { intact, words } = await world.verified(ledger, place);
      expect([place, intact, words[0]]).toEqual([
        place,
        true,
        `1 entry was redacted: ${parts}, "customer data"`,
      ]);
    }
  });

  it('can be gone on with afterwards', async () => {
    const world = new RedactWorld();
    const ledger = world.ledger();
    const session = await world.sessionOf(ledger, DRAFTS);
    const request = { directory: world.journal, session, sequence: 3, parts: ['text'] as const };
    await redactEntry(request, world.context(ledger));
    const again = resumeSession(world.journal, session, world.env(ledger));
    again.goOn({ pid: 1, startTime: 2 });
    await again.append(draftOf({ run_id: null }));
    await again.finalize('shutdown', 'over');
    const entries = readSession(world.journal, session)?.entries ?? [];
    expect(entries.map(({ sequence_number }) => sequence_number)).toEqual([1, 2, 3, 4]);
    expect((await world.verified(ledger)).intact).toBe(true);
  });
});

describe('a verifier', () => {
  it('finds a part that went without a leaf, and one that came back', async () => {
    const world = new RedactWorld();
    const ledger = world.ledger();
    const session = await world.sessionOf(ledger, DRAFTS);
    const whole = fs.readFileSync(world.session(session), 'utf8');
    // The same change to a world without the leaf.
    const request = { directory: world.journal, session, sequence: 2, parts: ['stdout'] as const };
    await redactEntry(request, world.context(undefined));
    expect((await world.verified(ledger)).intact).toBe(false);
    fs.writeFileSync(world.session(session), whole);
    await redactEntry(request, world.context(ledger));
    expect((await world.verified(ledger)).intact).toBe(true);
    const forged = fs.readFileSync(world.session(session), 'utf8');
    fs.writeFileSync(world.session(session), forged.replace('"stdout":null', '"stdout":"forged"'));
    expect((await world.verified(ledger)).intact).toBe(false);
  });
});

describe('a disk that fails at any operation', () => {
  it('costs no entry, and the same redaction finishes what is left', async () => {
    const parts = ['stdout'] as const;
    let operations = Number.POSITIVE_INFINITY;
    for (let fail = 0; fail <= operations; fail += 1) {
      const world = new RedactWorld();
      const before = world.ledger();
      const session = await world.sessionOf(before, DRAFTS, { stdout: 'came-after', stderr: '' });
      await before.close();
      const request = { directory: world.journal, session, sequence: 1, parts };
      const disk = faultyDisk((operation) => (operation === fail ? 'EIO' : undefined));
      const ledger = world.ledger({ disk });
      await redactEntry(request, world.context(ledger, { disk })).catch(() => undefined);
      if (fail === 0) operations = disk.calls.length;
      await ledger.close();

      // No line is lost, and no part of it is gone that the ledger does not speak of.
      const entries = readSession(world.journal, session)?.entries ?? [];
      expect(entries.map(({ sequence_number }) => sequence_number)).toEqual([1, 2, 3]);
      const after = world.ledger();
      const [first] = entries;
      expect([fail, first?.redacted !== undefined && world.leaves('redact').length === 0]).toEqual([
        fail,
        false,
      ]);
      expect([fail, (await world.verified(after)).intact]).toEqual([fail, true]);

      await redactEntry(request, world.context(after));
      expect([fail, world.filesWith('came-after'), world.filesWith('only-here')]).toEqual([
        fail,
        [],
        [],
      ]);
      expect(await world.verified(after)).toEqual({
        intact: true,
        words: ['1 entry was redacted: stdout, "customer data"'],
      });
      expect(world.leaves('redact')).toHaveLength(1);
    }
    expect(operations).toBeGreaterThan(15);
  }, 300_000);
});
