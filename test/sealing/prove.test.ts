// The proof of one entry, as `cuff prove` makes it: it holds, and what cannot be proven is refused
// with the reason.
import * as fs from 'node:fs';
import { describe, expect, it } from 'vitest';
import { startSession } from '../../src/journal/writer.ts';
import { base64url } from '../../src/ledger/base64.ts';
import { partSalt } from '../../src/ledger/commitments.ts';
import { formatLeaf } from '../../src/ledger/leaf.ts';
import { parseVerifierKey } from '../../src/ledger/note-keys.ts';
import { type ProvenEntry, proveEntry } from '../../src/sealing/prove.ts';
import { checkProof, isProven, type ProofReading } from '../../src/sealing/verify/proof.ts';
import type { Entry } from '../../src/types.ts';
import { draftOf, FACTS } from '../journal/helper.ts';
import { ME, SealWorld } from './helper.ts';

const OUTPUTS = ['first\n', 'half \ud800\n', null] as const;

/** A session of three entries, sealed and signed. */
async function sealed(world: SealWorld): Promise<{ entries: Entry[]; id: string }> {
  const ledger = world.ledger();
  const writer = startSession(world.journal, FACTS, world.env(ledger));
  const entries: Entry[] = [];
  for (const stdout of OUTPUTS) entries.push(await writer.append(draftOf({ stdout })));
  await writer.finalize('complete', 'over');
  await ledger.close();
  return { entries, id: writer.id };
}

function prove(world: SealWorld, entry: Entry | undefined, directory = world.journal) {
  if (entry === undefined) throw new Error('an entry');
  const ledger = { stateRoot: world.root, owner: ME, alive: world.alive };
  return proveEntry({ ...entry, directory }, ledger);
}

function fileOf({ line: leaf, proof, parts }: ProvenEntry): string {
  return JSON.stringify({ cuff_proof: 1, leaf, parts, proof });
}

function verified(world: SealWorld, text: string): ProofReading {
  const key = parseVerifierKey(world.bytes('vkey').toString().trim());
  return checkProof(text, key === undefined ? [] : [key]);
}

function edit(world: SealWorld, id: string, change: (line: string) => string): void {
  const path = world.session(id);
  fs.writeFileSync(path, change(fs.readFileSync(path, 'utf8')));
}

describe('the proof of an entry', () => {
  it('holds for each entry, with every part that there is', async () => {
    const world = new SealWorld();
    const { entries } = await sealed(world);
    for (const [at, entry] of entries.entries()) {
      const proven = await prove(world, entry);
      const reading = verified(world, fileOf(proven));
      if (reading.kind !== 'checked') throw new Error(reading.reason);
      expect(isProven(reading.check)).toBe(true);
      expect(world.lines[reading.check.index]).toBe(proven.line);
      const stdout = OUTPUTS[at];
      expect(reading.check.parts.map(({ part, state }) => [part, state])).toEqual([
        ['facts', 'as_sealed'],
        ['text', 'as_sealed'],
        ['stdout', stdout === null ? 'nothing' : 'as_sealed'],
        ['stderr', 'as_sealed'],
      ]);
      expect(proven.parts.stdout?.data).toBe(stdout?.toWellFormed());
    }
  });

  it('signs what no checkpoint covers yet, once', async () => {
    const world = new SealWorld();
    const { entries } = await sealed(world);
    fs.rmSync(world.path('checkpoint'));
    const first = await prove(world, entries[1]);
    expect(world.signed()).toBe(world.lines.length);
    expect(verified(world, fileOf(first))).toMatchObject({ check: { inTree: true } });
    expect(await prove(world, entries[1])).toEqual(first);
  });

  it('holds for the copy of a journal, by the leaf of the original', async () => {
    const world = new SealWorld();
    const { entries } = await sealed(world);
    const copy = `${world.journal}-copy`;
    fs.cpSync(world.journal, copy, { recursive: true });
    expect((await prove(world, entries[0], copy)).leaf.journal).toBe(
      world.leaves('open')[0]?.journal,
    );
  });

  it('shows the parts that a redaction left, and why the others are gone', async () => {
    const world = new SealWorld();
    const { entries, id } = await sealed(world);
    const journal = world.leaves('open')[0]?.journal ?? '';
    const about = { journal, session: id, sequence: 1, at: world.time };
    const why = 'customer data';
    fs.appendFileSync(
      world.path('leaves'),
      formatLeaf({ kind: 'redact', ...about, parts: ['stdout'], why }),
    );
    edit(world, id, (text) => {
      const [line = '', ...rest] = text.split('\n');
      const { salt, ...json } = JSON.parse(line);
      const own = (place: number): string =>
        base64url(partSalt(Buffer.from(salt, 'base64url'), place));
      const salts = { facts: own(0), text: own(1), stderr: own(3) };
      return [JSON.stringify({ ...json, stdout: null, salts }), ...rest].join('\n');
    });
    const proven = await prove(world, entries[0]);
    expect(proven.redacted).toEqual({ stdout: why });
    expect(Object.keys(proven.parts)).toEqual(['facts', 'text', 'stderr']);
    const reading = verified(world, fileOf(proven));
    expect(reading.kind === 'checked' && isProven(reading.check)).toBe(true);
  });
});

describe('no proof', () => {
  const refusals: readonly (readonly [
    string,
    (world: SealWorld, id: string) => void | Promise<void>,
    string,
  ])[] = [
    [
      'of a part that was edited',
      (world, id) => edit(world, id, (text) => text.replace('first', 'third')),
      'is not what was sealed: its stdout changed',
    ],
    [
      'of facts that were edited',
      (world, id) => edit(world, id, (text) => text.replace('"exit_code":0', '"exit_code":1')),
      'is not what was sealed: its facts changed',
    ],
    [
      'without the salt',
      (world, id) => edit(world, id, (text) => text.replace(/,"salt":"[^"]*"/, '')),
      'is not what was sealed: its facts changed',
    ],
    [
      'of an entry without a leaf',
      (world) => {
        fs.writeFileSync(world.path('leaves'), '');
        fs.rmSync(world.path('checkpoint'));
      },
      'has no seal: the ledger has no leaf of it',
    ],
    [
      'of what another ledger sealed',
      async (world) => {
        fs.rmSync(world.path(''), { recursive: true });
        await world.ledger().sign();
      },
      'was sealed elsewhere, in the ledger cuff.local/',
    ],
    [
      'from a ledger whose signed lines were edited',
      (world) => {
        const text = world.bytes('leaves').toString();
        fs.writeFileSync(world.path('leaves'), text.replace(' open ', ' 0pen '));
      },
      'The ledger is not the one that was signed: its lines are others',
    ],
    [
      'from a ledger with the checkpoint of another key',
      async (world) => {
        const other = new SealWorld();
        await sealed(other);
        fs.copyFileSync(other.path('checkpoint'), world.path('checkpoint'));
      },
      'The ledger is not the one that was signed: another key signed it',
    ],
    [
      'from a ledger without its key',
      (world) => fs.rmSync(world.path('key')),
      'The ledger is not the one that was signed: its key is gone',
    ],
  ];

  it.each(refusals)('%s', async (_, does, words) => {
    const world = new SealWorld();
    const { entries, id } = await sealed(world);
    await does(world, id);
    await expect(prove(world, entries[0])).rejects.toMatchObject({
      code: 'not_provable',
      message: expect.stringContaining(words),
    });
  });
});
