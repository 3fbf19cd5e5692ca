// Entries whose writer died before their leaf, and who vouches for them.
import * as fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createCapture } from '../../src/capture/store.ts';
import { entryTimestamp } from '../../src/journal/entry.ts';
import type { SessionWriter } from '../../src/journal/writer.ts';
import { resumeSession, startSession } from '../../src/journal/writer.ts';
import { newMeta } from '../../src/shell/new-run.ts';
import { openStore } from '../../src/shell/store.ts';
import type { JournalIntent, ProcessId } from '../../src/types.ts';
import { draftOf, FACTS } from '../journal/helper.ts';
import { commitmentsOf, linesOf, SealWorld } from './helper.ts';

const DEAD: ProcessId = { pid: 4321, startTime: 987_654 };

/** A server that writes entries, and dies at once; then the leaves behind the first `kept` go. */
async function crashed(world: SealWorld, count: number, kept: number): Promise<SessionWriter> {
  const ledger = world.ledger({ owner: DEAD });
  const writer = startSession(world.journal, FACTS, world.env(ledger));
  for (let n = 1; n <= count; n += 1) await writer.append(draftOf({ run_id: `run-${n}` }));
  const entries = world.lines.filter((line) => line.startsWith('cuff/1 entry'));
  const gone = new Set(entries.slice(kept));
  fs.writeFileSync(world.path('leaves'), world.lines.filter((line) => !gone.has(line)).join(''));
  world.kill(DEAD);
  return writer;
}

function lateLeaves(world: SealWorld) {
  return world.leaves('entry').filter(({ origin }) => origin === 'late');
}

describe('an entry without a leaf', () => {
  it('gets a late one that commits to the same, once', async () => {
    const world = new SealWorld();
    const writer = await crashed(world, 5, 3);
    const ledger = world.ledger();
    expect(await world.late(ledger)).toBe(2);
    const lines = linesOf(fs.readFileSync(world.session(writer.id), 'utf8'));
    expect(lateLeaves(world)).toMatchObject([
      { session: writer.id, sequence: 4, run: null, ...commitmentsOf(lines[3] ?? '') },
      { session: writer.id, sequence: 5, run: null, ...commitmentsOf(lines[4] ?? '') },
    ]);
    expect(await world.late(ledger)).toBe(0);
    expect(await world.late(world.ledger())).toBe(0);
    fs.rmSync(world.path(`seen-${ledger.journal(world.journal)}.json`));
    expect(await world.late(ledger)).toBe(0);
  });

  it('is vouched for by a capture that had the intent to enter it there', async () => {
    const world = new SealWorld();
    const writer = await crashed(world, 3, 0);
    const store = openStore(world.root);
    const intent = (sessionId: string): JournalIntent => {
      const { duration_ms: _, ...draft } = draftOf();
      return {
        directory: world.journal,
        sessionId,
        draft: { ...draft, timestamp: entryTimestamp(world.time) },
        captureOutput: true,
        outputBytesMax: 1000,
        redact: false,
      };
    };
    for (const [id, session] of [
      ['run-1', writer.id],
      ['run-2', 'another'],
    ] as const) {
      const command = { kind: 'argv', argv: ['true'] } as const;
      const about = { command, cwd: '/', transport: 'pipe', ttyAttached: false } as const;
      const meta = newMeta({ ...about, outputBytesMax: 1000, journal: intent(session) });
      createCapture(store, { ...meta, id }, ['true']);
    }
    expect(await world.late(world.ledger())).toBe(3);
    expect(lateLeaves(world).map(({ run }) => run)).toEqual(['run-1', null, null]);
  });

  it('that has no run is vouched for by its session, where that was cut off', async () => {
    for (const end of ['cut off', 'ended', 'could not seal'] as const) {
      const world = new SealWorld();
      const ledger = world.ledger({ owner: DEAD });
      const writer = startSession(world.journal, FACTS, world.env(ledger));
      await writer.append(draftOf({ run_id: null }));
      if (end !== 'cut off') await writer.finalize('complete', 'over');
      const metadata = world.session(writer.id).replace('.jsonl', '.meta.json');
      if (end === 'could not seal') {
        const text = fs
          .readFileSync(metadata, 'utf8')
          .replace(/\n\}\n$/, ',\n "unsealed": "EROFS"\n}\n');
        fs.writeFileSync(metadata, text);
      }
      fs.writeFileSync(
        world.path('leaves'),
        world.lines.filter((line) => !/ entry /.test(line)).join(''),
      );
      world.kill(DEAD);
      expect(await world.late(world.ledger())).toBe(1);
      expect(lateLeaves(world)[0]?.run).toBe(end === 'ended' ? null : '.');
    }
  });

  it('is found where it was put into an ended session that was made to look cut off', async () => {
    const world = new SealWorld();
    const ledger = world.ledger({ owner: DEAD });
    const writer = startSession(world.journal, FACTS, world.env(ledger));
    await writer.append(draftOf({ run_id: null }));
    await writer.finalize('complete', 'over');
    await ledger.close();
    world.kill(DEAD);
    expect(world.wrongs()).toEqual([]);
    const line = fs.readFileSync(world.session(writer.id), 'utf8');
    fs.appendFileSync(
      world.session(writer.id),
      line.replace('"sequence_number":1', '"sequence_number":2'),
    );
    const metadata = world.session(writer.id).replace('.jsonl', '.meta.json');
    const text = fs.readFileSync(metadata, 'utf8');
    fs.writeFileSync(metadata, text.replace('"status": "complete"', '"status": "active"'));
    expect(world.wrongs()).toEqual(['inserted']);
    const next = world.ledger();
    expect(await world.late(next)).toBe(1);
    await next.close();
    expect(world.wrongs()).toEqual(['inserted']);
  });

  it('of a session that goes on after its end is no attack', async () => {
    const world = new SealWorld();
    const first = world.ledger();
    const writer = startSession(world.journal, FACTS, world.env(first));
    await writer.append(draftOf({ run_id: null }));
    await writer.finalize('complete', 'over');
    await first.close();
    // The next process dies between its first line and the leaf of that.
    const next = world.ledger({ owner: DEAD });
    const again = resumeSession(world.journal, writer.id, world.env(next));
    again.goOn(DEAD);
    await again.append(draftOf({ run_id: null }));
    const kept = world.lines.slice(0, -1);
    expect(kept.at(-1)).toMatch(/^cuff\/1 open /);
    fs.writeFileSync(world.path('leaves'), kept.join(''));
    world.kill(DEAD);
    expect(world.wrongs()).toEqual([]);
    const last = world.ledger();
    expect(await world.late(last)).toBe(1);
    await last.close();
    const { counts, findings } = world.verify();
    expect([counts.entries, findings.map(({ verdict }) => verdict)]).toEqual([2, ['recovered']]);
  });

  it('is left to its writer while that lives', async () => {
    const world = new SealWorld();
    const ledger = world.ledger({ owner: DEAD });
    const writer = startSession(world.journal, FACTS, world.env(ledger));
    await writer.append(draftOf());
    fs.writeFileSync(
      world.path('leaves'),
      world.lines.filter((line) => !/ entry /.test(line)).join(''),
    );
    expect(await world.late(world.ledger())).toBe(0);
    await writer.append(draftOf());
    world.kill(DEAD);
    // The second was sealed; the first is found although the comparison was made before.
    expect(await world.late(world.ledger())).toBe(1);
    expect(world.leaves('entry').map(({ sequence, origin }) => [sequence, origin])).toEqual([
      [2, 'live'],
      [1, 'late'],
    ]);
  });

  it('is none of ours without a salt, for another session, or in other letters', async () => {
    const world = new SealWorld();
    const writer = await crashed(world, 1, 1);
    const path = world.session(writer.id);
    const [line = ''] = linesOf(fs.readFileSync(path, 'utf8'));
    const next = line.replace('"sequence_number":1', '"sequence_number":2');
    for (const forged of [
      next.replace(/,"salt":"[^"]*"/, ''),
      next.replace(`"session_id":"${writer.id}"`, '"session_id":"20260118_143052_00000000-0000"'),
      next.replace('"timed_out":false', '"timed_out": false'),
      line, // it has its leaf
    ]) {
      fs.appendFileSync(path, forged);
    }
    expect(await world.late(world.ledger())).toBe(0);
  });

  it('of another ledger is left to that', async () => {
    const world = new SealWorld();
    const writer = await crashed(world, 2, 1);
    const path = world.session(writer.id).replace('.jsonl', '.meta.json');
    const text = fs.readFileSync(path, 'utf8');
    fs.writeFileSync(path, text.replace(/cuff\.local\/\w+/, 'cuff.local/elsewhere'));
    expect(await world.late(world.ledger())).toBe(0);
    fs.writeFileSync(path, text);
    const seen = fs.readdirSync(world.path('.')).find((name) => name.startsWith('seen-'));
    fs.rmSync(world.path(seen ?? ''));
    expect(await world.late(world.ledger())).toBe(1);
  });
});

describe('a backup', () => {
  it('of the state root with a newer journal: what is newer is late and unexplained', async () => {
    const world = new SealWorld();
    const ledger = world.ledger({ owner: DEAD });
    const writer = startSession(world.journal, FACTS, world.env(ledger));
    await writer.append(draftOf({ run_id: 'run-1' }));
    await ledger.sign();
    fs.cpSync(world.root, `${world.root}-backup`, { recursive: true });
    await writer.append(draftOf({ run_id: 'run-2' }));
    await writer.finalize('complete', 'over');
    await ledger.sign();
    fs.rmSync(world.root, { recursive: true });
    fs.renameSync(`${world.root}-backup`, world.root);
    world.kill(DEAD);
    const next = world.ledger();
    expect(await world.late(next)).toBe(1);
    await next.sign();
    expect(world.signed()).toBe(world.lines.length);
    expect(lateLeaves(world)).toMatchObject([{ sequence: 2, run: null }]);
  });

  it('of the journal with a newer state root: nothing is sealed away', async () => {
    const world = new SealWorld();
    const writer = await crashed(world, 3, 3);
    const before = world.leaves('entry');
    const path = world.session(writer.id);
    fs.writeFileSync(path, linesOf(fs.readFileSync(path, 'utf8')).slice(0, 1).join(''));
    expect(await world.late(world.ledger())).toBe(0);
    expect(world.leaves('entry')).toEqual(before);
  });

  it('of leaves alone, older than what was compared, is compared from the first', async () => {
    const world = new SealWorld();
    await crashed(world, 3, 3);
    const backup = world.bytes('leaves').subarray(0, -10);
    const ledger = world.ledger();
    expect(await world.late(ledger)).toBe(0);
    fs.writeFileSync(world.path('leaves'), backup);
    expect(await world.late(world.ledger())).toBe(1);
    expect(world.leaves('entry').map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
  });
});

it('seals what a clock that jumps wrote', async () => {
  const world = new SealWorld();
  const ledger = world.ledger({ owner: DEAD });
  const writer = startSession(world.journal, FACTS, world.env(ledger));
  for (const jump of [0, -86_400_000 * 400, 86_400_000 * 4000, Number.NaN]) {
    world.time += jump;
    await writer.append(draftOf({ run_id: null, timestamp: 'no time' })).catch(() => undefined);
  }
  expect(world.leaves('entry').length).toBeGreaterThanOrEqual(3);
});
