// Any writers, interleaved as a kernel would do it: no byte is given to the wrong process, and
// nearly all bytes of those that tell are given to the right one.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attribute } from '../../../src/trace/attribution/attribution.ts';
import { hashOf } from '../../../src/trace/attribution/probe.ts';
import { workOf } from '../../pace.ts';
import { fnv64, HEADER } from '../encode.ts';
import { type Kind, play, type Scene, type Score, score } from './kernel-words.ts';

const seed = fc.nat(1_000_000);
const kinds = (...some: Kind[]) => fc.subarray(some, { minLength: 1 });
const told = (...some: Kind[]) => fc.array(kinds(...some), { minLength: 1, maxLength: 5 });
const common = { seed, writes: fc.nat(60), busy: fc.integer({ min: 1, max: 6 }) };

/** Every scene by itself has nothing wrong; together they have nearly everything. */
function found(scenes: fc.Arbitrary<Scene>, share: number, numRuns = 30): void {
  let sum: Score = { told: 0, right: 0, wrong: 0 };
  fc.assert(
    fc.property(scenes, (scene) => {
      const one = score(play(scene));
      expect(one.wrong).toBe(0);
      sum = { told: sum.told + one.told, right: sum.right + one.right, wrong: 0 };
    }),
    { numRuns },
  );
  expect(sum.told).toBeGreaterThan(1000);
  expect(sum.right / sum.told).toBeGreaterThanOrEqual(share);
}

describe('the bytes of processes that tell what they write', () => {
  it('are all found on a pipe', () => {
    const scene = fc.record({
      ...common,
      terminal: fc.constant(false),
      told: told('line', 'text', 'block'),
      silent: fc.constant([]),
      rawShare: fc.constant(0),
    });
    found(scene, 1);
  });

  it('are all found on a terminal, whether newlines become two bytes or not', () => {
    const scene = fc.record({
      ...common,
      terminal: fc.constant(true),
      told: told('line', 'text', 'block', 'long'),
      silent: fc.constant([]),
      rawShare: fc.constantFrom(0, 20, 100),
    });
    found(scene, 1, 15);
  });

  it.each([false, true])('are found between bytes of others (terminal: %s)', (terminal) => {
    const scene = fc.record({
      ...common,
      terminal: fc.constant(terminal),
      told: told('line', 'text', 'block'),
      silent: fc.array(kinds('short', 'line', 'text'), { minLength: 1, maxLength: 2 }),
      rawShare: fc.constant(0),
    });
    found(scene, 0.995);
  });

  it('are found where one of them writes more than a pipe keeps together', () => {
    const scene = fc.record({
      ...common,
      writes: fc.nat(30),
      terminal: fc.constant(false),
      told: fc.array(kinds('line', 'text'), { maxLength: 3 }).map((some) => [['long'], ...some]),
      silent: fc.constant([]),
      rawShare: fc.constant(0),
    }) as fc.Arbitrary<Scene>;
    found(scene, 0.995);
  });

  it('are never another one’s, however they are torn up', () => {
    const scene = fc.record({
      ...common,
      writes: fc.nat(15),
      terminal: fc.boolean(),
      told: told('line', 'block', 'long'),
      silent: fc.array(kinds('line', 'block', 'long'), { maxLength: 2 }),
      rawShare: fc.constantFrom(0, 30),
    });
    found(scene, 0.2, 15);
  });

  it('may be a few at a time, if nobody else writes', () => {
    // Equal bytes of two processes at the same moment cannot be told apart: one process.
    const scene = fc.record({
      ...common,
      writes: fc.nat(300),
      terminal: fc.boolean(),
      told: fc.constant([['short'] as const]),
      silent: fc.constant([]),
      rawShare: fc.constant(0),
    });
    found(scene, 1);
  });
});

describe('the hash of a write', () => {
  it('is that of the format', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.uint8Array({ minLength: 250, maxLength: 600 }),
    );
    fc.assert(
      fc.property(bytes, (some) => {
        const { high, low } = hashOf(some);
        expect((BigInt(high) << 32n) | BigInt(low)).toBe(fnv64(some));
      }),
    );
  });
});

describe('many writes', () => {
  it.each([
    ['tiny', 240_000, 2, 1],
    ['of several processes', 60_000, 437, 3],
    ['large', 400, 65_536, 2],
  ])('%s take no longer than their number says', (_, count, size, processes) => {
    const pieces: Uint8Array[] = [];
    const writes = Array.from({ length: count }, (__, i) => {
      const bytes = Buffer.alloc(size, `${i * 7919} of ${i} `);
      bytes[size - 1] = 0x0a;
      pieces.push(bytes);
      const { high, low } = hashOf(bytes);
      return {
        atNs: HEADER.startedNs + BigInt(i * 20_000),
        tookNs: processes > 1 ? 60_000 : 2000,
        stream: 'stdout' as const,
        length: size,
        hash: (BigInt(high) << 32n) | BigInt(low),
        process: i % processes,
      };
    });
    const output = Buffer.concat(pieces);
    const at = Number(HEADER.startedNs / 1_000_000n);
    const chunk = { offset: 0, length: output.length, channel: 'stdout', at, lines: 0 } as const;
    let segments: ReturnType<typeof attribute> = [];
    const work = workOf(() => {
      segments = attribute({
        chunks: [chunk],
        writes,
        read: (offset, length) => output.subarray(offset, offset + length),
        writerOf: () => undefined,
      });
    });
    expect(work).toBeLessThan(700);
    expect(segments.every(({ process: id }) => id !== undefined)).toBe(true);
    expect(segments).toHaveLength(processes === 1 ? 1 : count);
  });
});
