import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatSize } from '../../src/text/size.ts';

describe('sizes', () => {
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

  it('a shown size is right to within its last digit', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 50 }), (bytes) => {
        const [number, unit = ''] = formatSize(bytes).split(' ');
        const power = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'].indexOf(unit);
        const shown = Number(number) * 1024 ** power;
        expect(Math.abs(shown - bytes)).toBeLessThanOrEqual(Math.max(0, bytes * 0.0501));
      }),
    );
  });
});
