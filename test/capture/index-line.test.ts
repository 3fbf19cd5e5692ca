import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeIndex, encodeIndex, type IndexRecord } from '../../src/capture/format.ts';
import { scanIndex } from '../../src/capture/index-line.ts';
import { defined } from '../../src/text/json.ts';
import { indexOf, NOW } from './helper.ts';

const scan = (line: string): IndexRecord | undefined => {
  const bytes = Buffer.from(`##${line}##`);
  return scanIndex(bytes, 2, bytes.length - 2);
};

const record = fc
  .record({
    bytes: fc.uint8Array({ min: 9, max: 11, minLength: 1, maxLength: 30 }),
    channel: fc.constantFrom('stdout' as const, 'stderr' as const, 'pty' as const),
    at: fc.integer({ min: 0, max: Date.UTC(9999, 0) }),
    t: fc.option(fc.nat(), { nil: undefined }),
    pid: fc.option(fc.nat(4_194_304), { nil: undefined }),
  })
  .map(({ t, pid, ...part }) => ({ ...part, ...defined({ t, pid }) }))
  .map((part) => indexOf([part])[0] as IndexRecord);

describe('reading a line of the index without JSON.parse', () => {
  it('understands every line that is written', () => {
    fc.assert(
      fc.property(record, (one) => {
        expect(scan(encodeIndex(one).trimEnd())).toEqual(one);
      }),
    );
  });

  it('never disagrees with the decoder, however the line is changed', () => {
    const change = fc.record({
      at: fc.nat(200),
      cut: fc.nat(4),
      put: fc.string({ unit: fc.constantFrom(...'0123456789{}[]",:-. TZ\0x'), maxLength: 4 }),
    });
    fc.assert(
      fc.property(record, change, (one, { at, cut, put }) => {
        const line = encodeIndex(one).trimEnd();
        const changed = line.slice(0, at) + put + line.slice(at + cut);
        const scanned = scan(changed);
        if (scanned !== undefined) expect(scanned).toEqual(decodeIndex(changed));
      }),
      { numRuns: 3_000 },
    );
  });

  it('knows the calendar', () => {
    const [one] = indexOf([{ bytes: 'x', at: NOW }]);
    const line = encodeIndex(one as IndexRecord).trimEnd();
    const at = (time: string): number | undefined =>
      scan(line.replace('2026-11-15T21:38:35', time))?.at;
    expect(at('2024-02-29T23:59:59')).toBe(Date.UTC(2024, 1, 29, 23, 59, 59, 123));
    expect(at('2026-12-31T00:00:00')).toBe(Date.UTC(2026, 11, 31, 0, 0, 0, 123));
    const wrong = ['2026-02-30T00:00:00', '2026-00-15T00:00:00', '2026-13-15T00:00:00'];
    const never = ['2026-11-00T00:00:00', '2026-11-15T24:00:00', '2026-11-15T00:60:00'];
    const before = ['1969-12-31T00:00:00', '2026-11-15T00:00:60'];
    expect([...wrong, ...never, ...before].map(at)).toEqual(Array(8).fill(undefined));
  });
});
