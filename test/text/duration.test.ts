import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from '../../src/text/duration.ts';

describe('durations', () => {
  it('what people write is understood to the millisecond', () => {
    const known = {
      '24h': 86_400_000,
      '1h30m': 5_400_000,
      '90s': 90_000,
      '500ms': 500,
      '1500ms': 1_500,
      '1.5s': 1_500,
      '.5s': 500,
      '1.s': 1_000,
      '1.001s': 1_001, // 1000.9999999999999 in floating point
      '7d': 604_800_000,
      '1d12h': 129_600_000,
      '1s1s': 2_000,
      '250us': 0.25,
      '250µs': 0.25,
      '1ns': 0.000_001,
      '0': 0,
      '0s': 0,
    };
    expect(Object.keys(known).map(parseDuration)).toEqual(Object.values(known));
  });

  it('anything else is refused', () => {
    const refused = ['', ' ', '5', '5 s', 's', '.s', '-1s', '+1s', '1h-30m', '1x', '1hh', '1,5s'];
    const long = ['9999999999h', `${'0'.repeat(200)}s`, '1e3s', '٣s', '1s\n'];
    expect([...refused, ...long].map(parseDuration).filter((one) => one !== undefined)).toEqual([]);
  });

  it('a formatted duration parses back to itself', () => {
    fc.assert(
      fc.property(fc.nat({ max: 10_000_000_000 }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBe(ms);
      }),
    );
    const shown = [0, 20, 1_500, 60_000, 5_400_000, 86_400_000, 93_784_005].map(formatDuration);
    expect(shown).toEqual(['0s', '20ms', '1.5s', '1m', '1h30m', '1d', '1d2h3m4.005s']);
  });

  it('no text makes it throw', () => {
    fc.assert(fc.property(fc.string(), (text) => parseDuration(text) !== null));
  });
});
