// What is new of a stream: however often somebody asks while it grows, the answers put together are
// the sanitised stream, unless one says which lines it had no room for.
import { rmSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NewsReader } from '../../../src/agent/report-news.ts';
import type { Capture } from '../../../src/capture/store.ts';
import { sanitize } from '../../../src/text/sanitize.ts';
import { build, type Part, testStore } from '../../capture/helper.ts';

/** A capture that grows part by part; the last look is at one that has ended. */
function* growing(parts: readonly Part[]): Generator<Capture> {
  const store = testStore();
  for (let count = 0; count <= parts.length; count += 1) {
    const some = parts.slice(0, count);
    rmSync(store.sessions, { recursive: true, force: true });
    const capture = build(store, some);
    yield { ...capture, outputOpen: count < parts.length };
  }
}

const text = fc.string({
  unit: fc.constantFrom('a', 'bc ', '\n', 'é', '€', '😀', '\x1b[31m', '\x1b]0;t\x07'),
  maxLength: 60,
});

describe('news', () => {
  it('put together are the sanitised stream', () => {
    const parts = fc.array(
      fc.record({ bytes: text, channel: fc.constantFrom('stdout' as const, 'stderr' as const) }),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(parts, (some) => {
        const reader = new NewsReader();
        const told = { stdout: '', stderr: '' };
        for (const capture of growing(some)) {
          for (const channel of ['stdout', 'stderr'] as const) {
            const news = reader.take(capture, channel, 100_000);
            expect(news.hidden).toBeUndefined();
            told[channel] += news.text;
          }
        }
        for (const channel of ['stdout', 'stderr'] as const) {
          const own = some.filter((part) => part.channel === channel).map(({ bytes }) => bytes);
          const whole = Buffer.from(sanitize(Buffer.from(own.join('')))).toString();
          expect(told[channel]).toBe(whole);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('come in characters, wherever the bytes were cut', () => {
    const bytes = Buffer.from('a😀b€c\n');
    const parts = [...bytes].map((byte) => ({ bytes: Buffer.of(byte) }));
    const reader = new NewsReader();
    const told = Array.from(growing(parts), (capture) => reader.take(capture, 'stdout', 100).text);
    expect(told.join('')).toBe('a😀b€c\n');
    expect(told.join('|')).not.toContain('\ufffd');
  });

  it('show a line that was written over as it is now', () => {
    const parts = [{ bytes: '10%' }, { bytes: '\r20%' }, { bytes: '\r100%\nok\n' }];
    const reader = new NewsReader();
    const told = Array.from(growing(parts), (capture) => reader.take(capture, 'stdout', 100).text);
    expect(told).toEqual(['', '10%', '20%', '100%\nok\n']);
  });

  it('say which lines they have no room for', () => {
    const lines = Array.from({ length: 100 }, (_, i) => `line ${i + 1}\n`).join('');
    const reader = new NewsReader();
    const [, first, second] = Array.from(growing([{ bytes: lines }, { bytes: lines }]), (capture) =>
      reader.take(capture, 'stdout', 20),
    );
    expect(first).toMatchObject({
      text: 'line 99\nline 100\n',
      hidden: { firstLine: 1, lastLine: 98 },
    });
    expect(second?.hidden).toEqual({ firstLine: 101, lastLine: 198 });
    expect(second?.totals).toEqual({ bytes: lines.length * 2, lines: 200 });
  });

  it('of many megabytes are their end', () => {
    const bytes = `${'y'.repeat(99)}\n`.repeat(50_000);
    const [, capture] = [...growing([{ bytes }])];
    const news = capture && new NewsReader().take(capture, 'stdout', 1_000);
    expect(news).toMatchObject({
      text: `${'y'.repeat(99)}\n`.repeat(10),
      hidden: { firstLine: 1, lastLine: 49_990 },
      bytes: 5_000_000,
    });
  });

  it('leave out what was told in another way', () => {
    const [, , capture] = [...growing([{ bytes: 'told\n' }, { bytes: 'new\n' }])];
    const reader = new NewsReader();
    reader.heard('stdout', 5);
    expect(capture && reader.take(capture, 'stdout', 100).text).toBe('new\n');
    expect(capture && reader.take(capture, 'stdout', 100).text).toBe('');
  });
});
