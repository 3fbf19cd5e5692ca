// A reader of clean text and a writer that is faster: every question is answered with what there
// was when it came, and with bounded work.
import { describe, expect, it } from 'vitest';
import { NewOutput } from '../../../src/shell/output/new-output.ts';
import { EndlessOutput } from './growing.ts';

const MIB = 1024 * 1024;

function endsOf(output: EndlessOutput, bytesMax: number) {
  const half = Math.floor(bytesMax / 2);
  const taken = new NewOutput('all').take(output.capture(), { first: bytesMax, last: half });
  const { all, passed } = taken.ends;
  return { ...taken, passed, head: all.head(half), tail: all.tail(half) };
}

describe('a writer that is faster than its reader', () => {
  it('does not keep it: both ends are those of what there was', () => {
    for (const size of [0, 100 * MIB, 900 * MIB]) {
      const output = new EndlessOutput('1234567\n', size);
      const { head, tail, from, to } = endsOf(output, 1_000);
      expect([from, to]).toEqual([0, size + MIB]);
      expect(head).toBe('1234567\n'.repeat(63).slice(0, 500));
      expect(tail).toBe('1234567\n'.repeat(63).slice(-500));
      expect(output.bytesRead).toBeLessThan(6 * MIB);
    }
  });

  it('does not keep one who reads page by page', () => {
    const output = new EndlessOutput('1234567\n', 100 * MIB);
    const { text, more } = new NewOutput('all').next(output.capture(), 1_000);
    expect([text, more]).toEqual(['1234567\n'.repeat(125), true]);
  });

  it('cannot hide behind bytes that have nothing to show', () => {
    const output = new EndlessOutput('\x1b[31m\x1b[0m', 100 * MIB);
    const next = new NewOutput('all').next(output.capture(), 1_000);
    expect(next).toEqual({ text: '', more: true, looked: 2 * MIB });
    const near = endsOf(new EndlessOutput('\x1b[31m\x1b[0m', MIB), 9);
    expect([near.head, near.tail, near.passed]).toEqual(['', '', false]);
    const long = new EndlessOutput('\x1b[31m\x1b[0m', 900 * MIB);
    const far = endsOf(long, 1_000);
    expect([far.head, far.tail, far.passed]).toEqual(['', '', true]);
    expect(long.bytesRead).toBeLessThan(8 * MIB);
  });

  it('is passed by when it does not print text', () => {
    const output = new EndlessOutput('\0\x01\x02', 900 * MIB);
    expect(endsOf(output, 1_000)).toMatchObject({ head: '', binary: true, to: 901 * MIB });
    expect(output.bytesRead).toBeLessThan(16_384);
  });
});
