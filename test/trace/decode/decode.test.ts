// Frames and bytes: the format as C has it, the way there and back, and every kind of damage.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeTrace } from '../../../src/trace/decode/decode.ts';
import { buildProcesses } from '../../../src/trace/processes/processes.ts';
import { workOf } from '../../pace.ts';
import { anyFrame } from '../arbitrary.ts';
import { encodeFrame, encodeHeader, encodeTrace, HEADER } from '../encode.ts';
import { HEADER_HEX, USAGE_VECTORS, VECTORS } from './vectors.ts';

const header = Buffer.alloc(4096);
header.write(HEADER_HEX, 'hex');
const vectors = Object.values(VECTORS);
const all = Buffer.concat([header, ...vectors.map(({ hex }) => Buffer.from(hex, 'hex'))]);
const meant = vectors.map(({ frame }) => frame);

describe('the golden vectors', () => {
  it('mean what they say', () => {
    expect(decodeTrace(all)).toEqual({ header: HEADER, frames: meant, damagedBytes: 0 });
  });

  it('are what is written for it', () => {
    expect(encodeHeader(HEADER).equals(header)).toBe(true);
    for (const { hex, frame } of vectors) expect(encodeFrame(frame).toString('hex')).toBe(hex);
  });

  it('of a child without a name say since when it was started', () => {
    const frame = { ...VECTORS.reap.frame, child: 0, sinceNs: HEADER.startedNs } as const;
    expect(decodeTrace(encodeTrace(HEADER, [frame])).frames).toEqual([frame]);
  });

  it('with what a process used mean it, and older ones have nothing of it', () => {
    const bytes = Buffer.concat(USAGE_VECTORS.map(({ hex }) => Buffer.from(hex, 'hex')));
    const frames = USAGE_VECTORS.map(({ frame }) => frame);
    const decoded = decodeTrace(Buffer.concat([header, bytes]));
    expect(decoded).toEqual({ header: HEADER, frames, damagedBytes: 0 });
    expect(VECTORS.exit.frame).not.toHaveProperty('usage');
    expect(decodeTrace(all).frames.filter((frame) => 'usage' in frame)).toEqual([]);
  });

  it('of a start have every fact about the process', () => {
    expect(VECTORS.start.frame).toMatchObject({
      who: { pid: 4102 },
      parent: 4101,
      argv: ['env', '[API_KEY]'],
      env: { PATH: '/bin:/usr/bin' },
      cwd: '/tmp/ä',
      exe: '/usr/bin/env',
    });
    expect(decodeTrace(all).frames[0]).toEqual(VECTORS.start.frame);
  });

  it('of writes tell stdout from stderr', () => {
    const write = decodeTrace(all).frames.find(({ type }) => type === 'write');
    const writes = write?.type === 'write' ? write.writes : [];
    expect(writes.map(({ stream, length }) => [stream, length])).toEqual([
      ['stdout', 6],
      ['stderr', 1],
      ['pty', 70_000],
    ]);
  });
});

describe('a header', () => {
  const changed = (at: number, value: number): Buffer => {
    const bytes = Buffer.from(all);
    bytes.writeUInt32LE(value, at);
    return bytes;
  };

  it.each([
    ['another magic', 0, 0x12345678],
    ['another size', 12, 8192],
    ['an unknown mode', 32, 9],
  ])('with %s is none, and its frames are still found', (_, at, value) => {
    const { header: found, frames, damagedBytes } = decodeTrace(changed(at, value));
    expect([found, frames.length, damagedBytes]).toEqual([undefined, meant.length, 4096]);
  });

  it('of another version makes nothing of the frames', () => {
    const bytes = changed(8, 2);
    expect(decodeTrace(bytes)).toEqual({
      header: undefined,
      frames: [],
      damagedBytes: bytes.length,
    });
  });

  it('that is not whole is none', () => {
    expect(decodeTrace(header.subarray(0, 4095))).toEqual({
      header: undefined,
      frames: [],
      damagedBytes: 4095,
    });
    expect(decodeTrace(new Uint8Array())).toEqual({
      header: undefined,
      frames: [],
      damagedBytes: 0,
    });
  });

  it('says whether the streams are one, and whether static programs are followed', () => {
    const other = { ...HEADER, mode: 'pty', merged: true, follows: true, envNames: [] } as const;
    expect(decodeTrace(encodeTrace(other, [])).header).toEqual(other);
  });
});

describe('any frames', () => {
  const frames = fc.array(anyFrame, { maxLength: 12 });

  it('come back as they were', () => {
    fc.assert(
      fc.property(frames, (some) => {
        expect(decodeTrace(encodeTrace(HEADER, some))).toEqual({
          header: HEADER,
          frames: some,
          damagedBytes: 0,
        });
      }),
    );
  });

  it('tell of the same processes when what they wrote is not wanted', () => {
    fc.assert(
      fc.property(frames, (some) => {
        const whole = buildProcesses(some, HEADER);
        const light = decodeTrace(encodeTrace(HEADER, some), 'processes');
        const { processes, writes } = buildProcesses(light.frames, light.header);
        expect({ processes, writes }).toEqual({ processes: whole.processes, writes: [] });
      }),
    );
  });

  it('are lost only where the file was damaged', () => {
    const one = anyFrame.map((frame) => encodeFrame(frame).toString('hex'));
    const damage = fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      removed: fc.nat(300),
      inserted: fc.oneof(
        fc.uint8Array({ maxLength: 200 }).map((bytes) => [Buffer.from(bytes).toString('hex')]),
        fc.nat(5000).map((length) => ['00'.repeat(length)]),
        fc.constant(['43464652'.repeat(3)]),
        one.chain((hex) => fc.nat(31).map((cut) => [hex.slice(0, -2 - 2 * cut), hex])),
      ),
    });
    fc.assert(
      fc.property(fc.uniqueArray(one, { maxLength: 12 }), damage, (some, damaged) => {
        const whole = some.join('');
        const from = 2 * Math.floor((damaged.at * whole.length) / 2);
        const to = Math.min(whole.length, from + 2 * damaged.removed);
        const untouched = new Set(some.filter((_, i) => isOutside(some, i, from, to)));
        const left = whole.slice(0, from) + damaged.inserted[0] + whole.slice(to);
        const bytes = Buffer.concat([encodeHeader(HEADER), Buffer.from(left, 'hex')]);
        const { frames: found, damagedBytes } = decodeTrace(bytes);
        const again = found.map((frame) => encodeFrame(frame).toString('hex'));
        expect(again.filter((hex) => untouched.has(hex))).toEqual([...untouched]);
        // A cut frame may be whole again where what it lacks happens to be put beside it.
        const possible = new Set([...some, ...damaged.inserted]);
        expect(again.filter((hex) => !possible.has(hex))).toEqual([]);
        expect(damagedBytes).toBe((left.length - again.join('').length) / 2);
      }),
      { numRuns: 500 },
    );
  });

  it('are found behind a torn tail that another frame was written over', () => {
    const [first, second, third] = meant.slice(0, 3).map((frame) => encodeFrame(frame));
    if (!first || !second || !third) throw new Error('three vectors');
    const torn = Buffer.concat([header, first.subarray(0, 50), second, third.subarray(0, 9)]);
    expect(decodeTrace(torn)).toEqual({
      header: HEADER,
      frames: [meant[1]],
      damagedBytes: 59,
    });
  });

  it('whose check was forged over nonsense are damage', () => {
    const exit = encodeFrame(VECTORS.exit.frame);
    for (const type of [0, 1, 2, 3, 4, 7, 9, 65_535]) {
      const bytes = Buffer.concat([header, forged(exit, type)]);
      expect(decodeTrace(bytes)).toMatchObject({ frames: [], damagedBytes: exit.length });
    }
  });
});

describe('any bytes', () => {
  it('never make it throw', () => {
    const pieces = fc.oneof(
      fc.uint8Array({ maxLength: 400 }),
      fc.constant(new Uint8Array(Buffer.from('CFFR'))),
      fc.constant(new Uint8Array(header)),
      anyFrame.map((frame) => new Uint8Array(encodeFrame(frame))),
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 8 }), (some) => {
        const bytes = Buffer.concat(some);
        const { damagedBytes } = decodeTrace(bytes);
        expect(damagedBytes).toBeGreaterThanOrEqual(0);
        expect(damagedBytes).toBeLessThanOrEqual(bytes.length);
      }),
      { numRuns: 500 },
    );
  });

  it('full of false heads take no longer than as many others', () => {
    // Each claims 64 KiB, so that looking at all of them would mean 2.7 GB.
    const head = Buffer.from('434646520100000000000100', 'hex');
    const bytes = Buffer.concat([header, Buffer.alloc(500_000, head), all.subarray(4096)]);
    let found: ReturnType<typeof decodeTrace> | undefined;
    const work = workOf(() => {
      found = decodeTrace(bytes);
    });
    expect(found?.frames).toEqual(meant);
    expect(work).toBeLessThan(150);
  });
});

/** Whether frame `i` has nothing in the hex digits from `from` to `to`. */
function isOutside(frames: readonly string[], i: number, from: number, to: number): boolean {
  const start = frames.slice(0, i).join('').length;
  return start >= to || start + (frames[i] ?? '').length <= from;
}

/** The frame as one of another type, with a check that holds. */
function forged(frame: Buffer, type: number): Buffer {
  const bytes = Buffer.from(frame);
  bytes.writeUInt16LE(type, 4);
  bytes.writeUInt32LE(0, 12);
  const hash = bytes.reduce((sum, byte) => Math.imul(sum ^ byte, 0x01000193), 0x811c9dc5);
  bytes.writeUInt32LE(hash >>> 0, 12);
  return bytes;
}
