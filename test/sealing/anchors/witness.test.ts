// A witness over HTTP on loopback: what it is asked, and what becomes of each of its answers.
import { rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Checkpoint, checkpointOf } from '../../../src/ledger/checkpoint.ts';
import { formatSignature, parseNote } from '../../../src/ledger/note.ts';
import { formatVerifierKey, type SignerKey, signerKey } from '../../../src/ledger/note-keys.ts';
import { provesConsistency } from '../../../src/ledger/proofs.ts';
import { cosign, cosignedAt, parseAddCheckpoint } from '../../../src/ledger/witness.ts';
import { AnchorWorld, troubles, verdicts } from './world.ts';

const SECONDS = 1_800_000_000;

function keyOf(byte: number): SignerKey {
  return signerKey('witness.example/w', new Uint8Array(32).fill(byte), 'cosignature');
}

class Witness {
  readonly key = keyOf(7);
  last: Checkpoint | undefined;
  /** Of each request the size that it was asked from, and the answer. */
  readonly seen: [old: number, status: number][] = [];
  answer: ((body: string) => { status: number; text: string }) | undefined;
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => this.close());
    const { port } = this.#server.address() as AddressInfo;
    return `witness http://127.0.0.1:${port} ${formatVerifierKey(this.key.verifier)}`;
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const body = Buffer.concat(pieces).toString();
    expect([request.method, request.url]).toEqual(['POST', '/add-checkpoint']);
    const { status, text } = (this.answer ?? ((one) => this.#judge(one)))(body);
    this.seen.push([parseAddCheckpoint(body)?.old ?? -1, status]);
    response.writeHead(status).end(text);
  }

  /** As c2sp.org/tlog-witness has it. */
  #judge(body: string): { status: number; text: string } {
    const asked = parseAddCheckpoint(body);
    const head = asked && checkpointOf(asked.checkpoint);
    if (asked === undefined || head === undefined) return { status: 400, text: '' };
    const known = this.last ?? { ...head, size: 0 };
    if (asked.old > head.size) return { status: 400, text: '' };
    if (asked.old !== known.size) return { status: 409, text: `${known.size}\n` };
    if (!provesConsistency(asked.proof, known, head)) return { status: 422, text: '' };
    this.last = head;
    const line = cosign(asked.checkpoint.text, this.key, SECONDS);
    return { status: 200, text: formatSignature(line) };
  }
}

async function begun() {
  const [world, witness] = [new AnchorWorld(), new Witness()];
  const target = await witness.listen();
  await world.grow();
  return { world, witness, target };
}

describe('a witness', () => {
  it('cosigns what continues what it has seen, and its signature is kept', async () => {
    const { world, witness, target } = await begun();
    for (const count of [3, 1, 9]) {
      expect(troubles(await world.anchor(target))).toEqual([undefined]);
      await world.grow(count);
    }
    expect(witness.seen.map(([, status]) => status)).toEqual([200, 200, 200]);
    const notes = world.notes.map(({ receipt }) => parseNote(receipt ?? ''));
    expect(notes.map((note) => note && cosignedAt(note, witness.key.verifier))).toEqual(
      Array(3).fill(SECONDS),
    );
    const found = await world.verify();
    expect(found.ledger.anchor).toMatchObject({ kind: 'witness', at: SECONDS * 1000 });
    // It was asked about the present one, and said that it continues the others.
    expect(found.ledger.anchor?.size).toBe(found.ledger.signed);
    expect(verdicts(found)).toEqual([]);
  });

  it('that knows another size is asked again from there', async () => {
    const { world, witness, target } = await begun();
    await world.anchor(target);
    rmSync(world.seal.path('anchors.jsonl'));
    await world.grow();
    expect(troubles(await world.anchor(target))).toEqual([undefined]);
    expect(witness.seen).toEqual([
      [0, 200],
      [0, 409],
      [4, 200],
    ]);
  });

  it('does not cosign another history, nor an older one, and a verification says so', async () => {
    const { world, witness, target } = await begun();
    await world.anchor(target);
    const before = witness.last;
    world.rewrite();
    await world.ledger.sign();
    await world.grow(7);
    const forked = troubles(await world.anchor(target));
    expect(forked).toEqual(['it says that this is no continuation of the ledger it has seen']);
    expect(witness.last).toEqual(before);
    expect(verdicts(await world.verify())).toContain('history_rewritten');
    witness.last = before && { ...before, size: 1_000 };
    expect(troubles(await world.anchor(target))).toEqual([
      'it has seen a larger ledger, of 1000 lines',
    ]);
    expect(verdicts(await world.verify())).toContain('rolled_back');
  });

  it('whose answer is not signed by its key has cosigned nothing', async () => {
    const { world, witness, target } = await begun();
    const text = world.seal.bytes('checkpoint').toString().split('\n\n')[0];
    const wrong = [
      formatSignature(cosign(`${text}\n`, keyOf(8), SECONDS)),
      formatSignature(cosign('another text\n', witness.key, SECONDS)),
      'no signature\n',
      '',
    ];
    for (const answer of wrong) {
      witness.answer = () => ({ status: 200, text: answer });
      expect(troubles(await world.anchor(target))).toEqual(['its answer is not signed by its key']);
    }
    expect(world.seal.leaves('anchor')).toEqual([]);
  });

  it('that refuses, answers nonsense or is gone is trouble with a reason', async () => {
    const { world, witness, target } = await begun();
    const answers: [status: number, text: string, words: string][] = [
      [403, '', 'it does not know the key of this ledger: give it the line of `cuff seal key`'],
      [404, '', 'it does not know this ledger: give it the line of `cuff seal key`'],
      [500, 'broken\nmore', 'it says 500: broken'],
      [409, 'many', 'it says 409 without the size that it knows'],
      [200, 'x'.repeat(100_000), 'its answer is too long'],
    ];
    for (const [status, text, words] of answers) {
      witness.answer = () => ({ status, text });
      expect(troubles(await world.anchor(target))).toEqual([words]);
    }
    await witness.close();
    expect(troubles(await world.anchor(target))).toEqual([
      expect.stringMatching(/^it cannot be reached: /),
    ]);
  });
});
