import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatSize, parseSize } from '../../src/text/size.ts';

describe('sizes', () => {
  it('units are those of coreutils', () => {
    const known = {
      '0': 0,
      '65536': 65_536,
      '100B': 100,
      '64K': 65_536,
      '64KiB': 65_536,
      '64kib': 65_536,
      '10KB': 10_000,
      '1.5 MiB': 1_572_864,
      '1G': 1_073_741_824,
      '1TB': 1e12,
    };
    expect(Object.keys(known).map(parseSize)).toEqual(Object.values(known));
    const refused = ['', 'K', '-1', '1.K', '1 X', '1KiBs', '1e3', '9999999999999999P', ' 1'];
    expect(refused.map(parseSize).filter((one) => one !== undefined)).toEqual([]);
  });

  it('sizes are shown with one decimal at most', () => {
    const shown = [0, 999, 1_023, 1_024, 1_572_864, 1_048_575, 1_073_741_824, 2 ** 53].map(
      formatSize,
    );
    expect(shown).toEqual([
      '0 B',
      '999 B',
      '1023 B',
      '1 KiB',
      '1.5 MiB',
      '1 MiB',
      '1 GiB',
      '8 PiB',
    ]);
  });

  it('a shown size parses back to within its last digit', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 50 }), (bytes) => {
        const back = parseSize(formatSize(bytes)) ?? -1;
        expect(Math.abs(back - bytes)).toBeLessThanOrEqual(Math.max(0, bytes * 0.0501));
      }),
    );
  });
});
