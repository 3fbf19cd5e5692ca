// The hash of short texts is the one that crypto has for them.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sha256 } from '../../src/text/hash.ts';

const known = (text: string): string => createHash('sha256').update(text).digest('hex');

it('is that of FIPS 180-4', () => {
  expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});

it('is the same for texts of every length around the ends of blocks', () => {
  const texts = Array.from({ length: 300 }, (_, length) => 'é~'.repeat(length).slice(0, length));
  expect(texts.map(sha256)).toEqual(texts.map(known));
  expect(sha256('x'.repeat(3_000))).toBe(known('x'.repeat(3_000)));
});

it('is the same for any text', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => sha256(text) === known(text)));
});
