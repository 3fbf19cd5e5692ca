// Pages of a stream: put together they are the sanitised stream, none is larger than asked for, and
// each says exactly where the next one starts.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Capture } from '../../../src/capture/store.ts';
import { type Page, type PageOptions, readPage } from '../../../src/shell/output/page.ts';
import { sanitize } from '../../../src/text/sanitize.ts';
import { build, type Part, testStore } from '../../capture/helper.ts';

function captured(parts: readonly Part[]): Capture {
  return build(testStore(), parts);
}

/** All pages, by the calls that each of them names. */
function allPages(capture: Capture, options: PageOptions): Page[] {
  const pages = [readPage(capture, options)];
  for (let next = pages[0]?.next; next !== undefined; next = pages.at(-1)?.next) {
    const { byte, line, inLine } = next;
    const from = inLine ? { fromByte: byte } : { fromLine: line };
    pages.push(readPage(capture, { ...options, ...from }));
    if (pages.length > 5_000) throw new Error('it does not end');
  }
  return pages;
}

const text = fc.string({
  unit: fc.constantFrom(
    'a',
    'bc',
    '\n',
    'é',
    '€',
    '😀',
    '\x1b[31m',
    '\x1b[0m',
    '\t',
    '\x1b]0;t\x07',
  ),
  maxLength: 300,
});

describe('pages', () => {
  it('put together are the sanitised stream, and none is too large', () => {
    const parts = fc.array(
      fc.record({ bytes: text, channel: fc.constantFrom('stdout' as const, 'stderr' as const) }),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(parts, fc.integer({ min: 8, max: 200 }), (some, bytesMax) => {
        const capture = captured(some);
        for (const channel of ['stdout', 'stderr'] as const) {
          const own = some.filter((part) => part.channel === channel).map(({ bytes }) => bytes);
          const pages = allPages(capture, { channel, bytesMax });
          for (const page of pages) {
            expect(Buffer.byteLength(page.text)).toBeLessThanOrEqual(bytesMax);
          }
          const whole = Buffer.from(sanitize(Buffer.from(own.join('')))).toString();
          expect(pages.map((page) => page.text).join('')).toBe(whole);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('have the lines that sed prints', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50)), fc.integer({ min: 1, max: 30 }), (lengths, fromLine) => {
        const lines = lengths.map((length) => `${'x'.repeat(length)}\n`);
        const capture = captured(lines.map((bytes) => ({ bytes })));
        const page = readPage(capture, {
          channel: 'stdout',
          fromLine,
          linesMax: 3,
          bytesMax: 1_000,
        });
        const wanted = lines.slice(fromLine - 1, fromLine + 2);
        expect(page.text).toBe(wanted.join(''));
        if (wanted.length > 0) {
          expect([page.firstLine, page.lastLine]).toEqual([fromLine, fromLine + wanted.length - 1]);
        }
        const more = lines.length > fromLine + 2;
        expect(page.next?.line).toBe(more ? fromLine + 3 : undefined);
      }),
      { numRuns: 60 },
    );
  });

  it('of one line of ten million bytes come in parts', () => {
    const capture = captured([{ bytes: 'x'.repeat(10_000_000) }]);
    const page = readPage(capture, { channel: 'stdout', bytesMax: 30_000 });
    expect(page.text).toBe('x'.repeat(30_000));
    expect(page.next).toEqual({ byte: 30_000, line: 1, inLine: true });
    expect(page.totals).toEqual({ bytes: 10_000_000, lines: 1 });
    const last = readPage(capture, { channel: 'stdout', fromByte: 9_999_990, bytesMax: 30_000 });
    expect(last).toMatchObject({ text: 'x'.repeat(10), next: undefined, partialLine: true });
  });

  it('of a progress bar show what is left of it', () => {
    const bar = Array.from({ length: 100_000 }, (_, i) => `\r${i}`).join('');
    const capture = captured([{ bytes: `${bar}\ndone\n` }]);
    const page = readPage(capture, { channel: 'stdout', bytesMax: 100 });
    expect(page.text).toBe('99999\ndone\n');
    expect(page.totals.lines).toBe(2);
  });

  it('never start or end inside of a character', () => {
    const capture = captured([{ bytes: '€'.repeat(100) }]);
    for (let fromByte = 0; fromByte < 20; fromByte += 1) {
      const page = readPage(capture, { channel: 'stdout', fromByte, bytesMax: 10 });
      expect(page.text).toBe('€€€');
    }
  });

  it('that are behind the end are empty', () => {
    const capture = captured([{ bytes: 'a\nb\n' }]);
    for (const from of [{ fromLine: 3 }, { fromLine: 99 }, { fromByte: 4 }, { fromByte: 99 }]) {
      const page = readPage(capture, { channel: 'stdout', ...from, bytesMax: 10 });
      expect(page).toMatchObject({ text: '', next: undefined, lastLine: page.firstLine - 1 });
    }
  });

  it('count bytes that are no characters as what they are shown as', () => {
    const capture = captured([{ bytes: Buffer.alloc(90, 0xff) }]);
    const page = readPage(capture, { channel: 'stdout', bytesMax: 30 });
    expect(Buffer.byteLength(page.text)).toBeLessThanOrEqual(30);
    expect(page.text).toMatch(/^\ufffd+$/);
  });
});
