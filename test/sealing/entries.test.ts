// What is written of a session, and what its leaves say of it: the same, to the byte, and whatever
// the disk of the ledger does, the entries are written.
import * as fs from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appendEdits, readEdits } from '../../src/journal/edits.ts';
import { decodeEntry, encodeEntry } from '../../src/journal/entry.ts';
import { linePart, saltedLineOf } from '../../src/journal/entry-parts.ts';
import { appendLater } from '../../src/journal/later.ts';
import { readSession, storedMetadata } from '../../src/journal/reader.ts';
import { resumeSession, startSession } from '../../src/journal/writer.ts';
import { commitmentTo, partSalt, sha256 } from '../../src/ledger/commitments.ts';
import type { EntryDraft } from '../../src/types.ts';
import { draftOf, FACTS, faultyDisk } from '../journal/helper.ts';
import { commitmentsOf, linesOf, SealWorld } from './helper.ts';

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('\ud800', 'a\udfffb', '\ufffd', '\u2028', '"}\n{"', '","salt":"AAAA"}'),
);

const drafts = fc
  .record({
    command: text,
    description: fc.option(text),
    stdout: fc.option(text),
    stderr: fc.option(text),
    environment: fc.option(fc.dictionary(fc.string(), text)),
    process_list: fc.option(fc.array(text)),
    duration_ms: fc.oneof(fc.nat(), fc.double({ min: -1, max: 1e9 })),
    run_id: fc.option(fc.uuid()),
  })
  .map((change): EntryDraft => draftOf(change));

describe('a session with a ledger', () => {
  it('has a leaf for each entry, which commits to its parts as the line has them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(drafts, { minLength: 1, maxLength: 5 }), async (all) => {
        const world = new SealWorld();
        const writer = startSession(world.journal, FACTS, world.env(world.ledger()));
        for (const draft of all) await writer.append(draft);
        await writer.finalize('complete', 'over');
        const lines = linesOf(fs.readFileSync(world.session(writer.id), 'utf8'));
        const leaves = world.leaves('entry');
        expect(leaves).toHaveLength(lines.length);
        for (const [at, line] of lines.entries()) {
          expect(saltedLineOf(line.trimEnd())?.exact).toBe(true);
          const entry = decodeEntry(line);
          expect(leaves[at]).toEqual({
            kind: 'entry',
            journal: world.leaves('open')[0]?.journal,
            session: writer.id,
            sequence: at + 1,
            at: Date.parse(entry?.timestamp ?? ''),
            origin: 'live',
            run: entry?.run_id,
            ...commitmentsOf(line),
          });
          // Readers know nothing of a salt.
          expect(entry && encodeEntry(entry)).toBe(line.replace(/,"salt":"[\w-]{22}"\}\n$/, '}\n'));
        }
      }),
      { numRuns: 60 },
    );
  });

  it('says when it begins, ends and goes on, and which ledger seals it', async () => {
    const world = new SealWorld();
    const ledger = world.ledger();
    const writer = startSession(world.journal, FACTS, world.env(ledger));
    expect(world.leaves('open')).toEqual([]);
    await writer.append(draftOf());
    await writer.finalize('complete', 'over');
    const again = resumeSession(world.journal, writer.id, world.env(ledger));
    again.goOn({ pid: 1, startTime: 2 });
    await again.append(draftOf({ run_id: null, agent_id: 'an agent' }));
    await again.finalize('shutdown', 'over');
    const journal = ledger.journal(world.journal);
    const about = { journal, session: writer.id, at: world.time };
    expect(world.leaves('open')).toEqual([
      { kind: 'open', ...about, agent: 'claude-code' },
      { kind: 'open', ...about, agent: 'an agent' },
    ]);
    expect(world.leaves('close')).toEqual([
      { kind: 'close', ...about, status: 'complete', count: 1 },
      { kind: 'close', ...about, status: 'shutdown', count: 2 },
    ]);
    expect(storedMetadata(world.journal, writer.id)?.sealed_by).toBe(ledger.origin);
    expect(world.leaves('entry').map(({ run }) => run)).toEqual(['20260118-143052-0000abcd', null]);
  });

  it('that another writer of the process goes on with is not said to end in between', async () => {
    const world = new SealWorld();
    const ledger = world.ledger();
    const writer = startSession(world.journal, FACTS, world.env(ledger));
    await writer.append(draftOf({ run_id: null }));
    // Its end is being written when the other one begins.
    const ending = writer.finalize('complete', 'over');
    const again = resumeSession(world.journal, writer.id, world.env(ledger));
    again.goOn({ pid: 1, startTime: 2 });
    const entered = again.append(draftOf({ run_id: null }));
    await Promise.all([ending, entered]);
    await again.append(draftOf({ run_id: null }));
    expect(world.leaves('close')).toEqual([]);
    await again.finalize('complete', 'over');
    expect(world.leaves('close').map(({ count }) => count)).toEqual([3]);
    expect(world.wrongs()).toEqual([]);
  });

  it('that stays empty is not spoken of', async () => {
    const world = new SealWorld();
    const ledger = world.ledger();
    await startSession(world.journal, FACTS, world.env(ledger)).finalize('complete', 'over');
    expect(world.leaves('open')).toEqual([]);
    expect(world.leaves('close')).toEqual([]);
  });

  it('says `spool` of a command that was recorded where no ledger was', async () => {
    const world = new SealWorld();
    const writer = startSession(world.journal, FACTS, world.env(world.ledger()));
    await writer.append(draftOf({ source: 'spool' }));
    const imported = world.env(undefined, { seal: world.ledger().sealOf('import') });
    await startSession(world.journal, FACTS, imported).append(draftOf());
    expect(world.leaves('entry').map(({ origin }) => origin)).toEqual(['spool', 'import']);
  });

  it('has a leaf for each line beside its entries', async () => {
    const world = new SealWorld();
    const env = world.env(world.ledger());
    const writer = startSession(world.journal, FACTS, env);
    const { entry_id } = await writer.append(draftOf());
    const output = { stdout: 'later', stderr: '', truncated: false };
    await appendLater(world.journal, writer.id, [{ entry_id, survivors: [], output }], env);
    const edit = { ...EDIT, path: '/p/a.ts' };
    await appendEdits(world.journal, writer.id, [edit, { ...EDIT, path: '/p/b.ts' }], env);
    const files = ['later', 'edits'].map((name) =>
      fs.readFileSync(world.session(writer.id).replace('.jsonl', `.${name}.jsonl`), 'utf8'),
    );
    const commitments = files.flatMap(linesOf).map((line) => {
      const { json, salt = new Uint8Array() } = saltedLineOf(line.trimEnd()) ?? {};
      return commitmentTo(sha256(Buffer.from(linePart(json ?? {}))), partSalt(salt, 0));
    });
    expect(
      world.leaves('amend').map(({ amends, sequence, line }) => [amends, sequence, line]),
    ).toEqual([
      ['late-output', 1, commitments[0]],
      ['edit', 0, commitments[1]],
      ['edit', 0, commitments[2]],
    ]);
    expect(readSession(world.journal, writer.id)?.entries[0]?.later).toEqual(output);
    expect(readEdits(world.journal, writer.id)[0]).toEqual(edit);
  });
});

const EDIT = {
  timestamp: '2026-01-18T14:30:52.123000Z',
  tool: 'Edit',
  path: '',
  lines_added: 1,
  lines_removed: null,
  hash_before: null,
  hash_after: null,
  failed: false,
  agent_id: null,
  conversation_id: null,
  tool_call_id: null,
};

describe('a ledger that cannot be written', () => {
  it('costs no entry, and gets its leaves when it can be', async () => {
    for (const errno of ['ENOSPC', 'EIO', 'EACCES', 'EROFS']) {
      const world = new SealWorld();
      world.ledger().origin; // the key is there
      let broken = true;
      const disk = faultyDisk(() => (broken ? errno : undefined));
      const ledger = world.ledger({ disk });
      const writer = startSession(world.journal, FACTS, world.env(ledger));
      for (let n = 0; n < 3; n += 1) await writer.append(draftOf());
      expect(readSession(world.journal, writer.id)?.entries).toHaveLength(3);
      expect(ledger.trouble).toBe(errno);
      expect(world.leaves('entry')).toEqual([]);
      broken = false;
      await writer.append(draftOf());
      expect(world.leaves('entry').map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
      await ledger.sign();
      expect(world.signed()).toBe(world.lines.length);
    }
  });

  it('until the session ends is written down with the session', async () => {
    const world = new SealWorld();
    const ledger = world.ledger({ disk: faultyDisk(() => 'EROFS') });
    const writer = startSession(world.journal, FACTS, world.env(ledger));
    await writer.append(draftOf());
    await writer.finalize('complete', 'over');
    expect(storedMetadata(world.journal, writer.id)).toMatchObject({
      status: 'complete',
      unsealed: 'EROFS',
    });
    expect(readSession(world.journal, writer.id)?.entries).toHaveLength(1);
  });

  it('because a file is in its place costs no entry either', async () => {
    const world = new SealWorld();
    fs.mkdirSync(world.root, { recursive: true });
    fs.writeFileSync(world.path('.'), '');
    const ledger = world.ledger();
    const writer = startSession(world.journal, FACTS, world.env(ledger));
    await writer.append(draftOf());
    await writer.finalize('complete', 'over');
    await ledger.close();
    expect(readSession(world.journal, writer.id)?.entries).toHaveLength(1);
    expect(world.troubles).toHaveLength(1);
  });
});
