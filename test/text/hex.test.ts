import { expect, it } from 'vitest';
import { HEX_LINE_LENGTH, hexText } from '../../src/text/hex.ts';

it('bytes are shown 16 in a line, behind their position, and as text', () => {
  const text = hexText(Buffer.from('\x7fELF and more than one line', 'latin1'), 32);
  expect(text).toBe(
    '00000020: 7f45 4c46 2061 6e64 206d 6f72 6520 7468  .ELF and more th\n' +
      '00000030: 616e 206f 6e65 206c 696e 65              an one line\n',
  );
  expect(text.split('\n')[0]).toHaveLength(HEX_LINE_LENGTH - 1);
  expect(hexText(new Uint8Array(), 0)).toBe('');
});
