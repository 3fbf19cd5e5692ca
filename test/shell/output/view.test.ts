// What a model sees of a capture, held against the plainest reading of it: sanitise everything in
// memory, then cut.
import { rmSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openCapture } from '../../../src/capture/store.ts';
import { NewOutput } from '../../../src/shell/output/new-output.ts';
import { type CleanView, cleanView } from '../../../src/shell/output/view.ts';
import { sanitize } from '../../../src/text/sanitize.ts';
import { build, type Part, RUNNER, streamOf, testStore } from '../../capture/helper.ts';

type Options = Parameters<typeof cleanView>[1];

/** Views of a capture made of these parts, which is gone afterwards. */
function withCapture<T>(parts: readonly Part[], use: (ask: (o: Options) => CleanView) => T): T {
  const store = testStore();
  build(store, parts);
  const capture = openCapture(store, 'one');
  try {
    return use((options) => cleanView(capture, options));
  } finally {
    rmSync(store.root, { recursive: true });
  }
}

function viewOf(bytes: string | Uint8Array, options: Options): CleanView {
  return withCapture([{ bytes }], (view) => view(options));
}

const text = (bytes: Uint8Array, cr: 'keep' | 'overwrite' = 'keep'): string =>
  Buffer.from(sanitize(bytes, { cr })).toString();
const newlines = (all: string): number => all.split('\n').length - 1;
const lines = (all: string): number => newlines(all) + (/[^\n]$/.test(all) ? 1 : 0);

const UNITS = ['a', 'b', '\n', '\n', 'é', '😀', '\r', '\t', '\x1b[31m', '\x1b]0;t\x07', '\x1b[K'];
const unit = fc.constantFrom(...UNITS);
const given: fc.Arbitrary<Part[]> = fc
  .array(
    fc.record({
      text: fc.string({ unit, maxLength: 40 }),
      cut: fc.nat(60),
      channel: fc.constantFrom('stdout' as const, 'stderr' as const),
    }),
    { maxLength: 10 },
  )
  .map((all) =>
    all.flatMap(({ text: one, cut, channel }) => {
      const bytes = Buffer.from(one);
      return [bytes.subarray(0, cut), bytes.subarray(cut)].map((part) => ({
        bytes: part,
        channel,
      }));
    }),
  );
const channel = fc.constantFrom('stdout' as const, 'stderr' as const, 'all' as const);
const cr = fc.constantFrom('keep' as const, 'overwrite' as const);

describe('a clean view', () => {
  it('is a part of the clean stream that fits its limits, with the totals of the raw one', () => {
    const kind = fc.constantFrom('tail' as const, 'head' as const, 'ends' as const);
    const limits = fc.record({ kind, channel, cr, bytesMax: fc.nat(80) });
    fc.assert(
      fc.property(given, limits, fc.option(fc.nat(9)), (parts, options, most) => {
        const linesMax = most ?? undefined;
        const view = withCapture(parts, (ask) => ask({ ...options, linesMax, gap: () => '|' }));
        const raw = streamOf(parts, options.channel);
        const whole = text(raw, options.cr);
        const [start = '', end] = options.kind === 'ends' ? view.text.split('|') : [view.text];
        if (end !== undefined) {
          expect(whole.startsWith(start) && whole.endsWith(end)).toBe(true);
          expect(whole.length).toBeGreaterThanOrEqual(start.length + end.length);
        } else if (options.kind === 'tail') expect(whole.endsWith(view.text)).toBe(true);
        else expect(whole.startsWith(start)).toBe(true);
        const shown = `${start}${end ?? ''}`;
        expect(view.totals).toEqual({ bytes: raw.length, lines: lines(raw.toString()) });
        expect(view.shown.bytes).toBe(Buffer.byteLength(shown));
        expect(view.shown.bytes).toBeLessThanOrEqual(options.bytesMax);
        expect(view.shown.lines).toBeLessThanOrEqual(linesMax ?? Number.POSITIVE_INFINITY);
        expect(view.cut === 'none').toBe(shown.length === whole.length);
        expect(view.text).not.toMatch(/\x1b|\ufffd/);
        if (end === undefined) expect(view.lastLine - view.firstLine + 1).toBe(lines(shown));
        // An unfinished line of sequences alone is a line, and nothing of it can be seen.
        const last = shown === '' ? view.lastLine : newlines(raw.toString());
        if (options.kind === 'tail') expect(view.lastLine).toBeGreaterThanOrEqual(last);
        expect(view.lastLine).toBeLessThanOrEqual(view.totals.lines);
        if (options.kind !== 'tail') expect(view.firstLine).toBe(1);
      }),
      { numRuns: 300 },
    );
  });

  it('numbers lines as they are in the raw stream, also behind pictures of many lines', () => {
    const picture = `\x1bPq${'#0;2;0;0;0\n'.repeat(40)}\x1b\\`;
    const raw = `one\ntwo ${picture}still\n${'more\n'.repeat(10)}end`;
    const [first] = [viewOf(raw, { kind: 'head', bytesMax: 10_000, linesMax: 2 })];
    expect(first).toMatchObject({ text: 'one\ntwo still\n', firstLine: 1, lastLine: 42 });
    expect(viewOf(raw, { kind: 'tail', bytesMax: 14 })).toMatchObject({
      text: 'more\nmore\nend',
      firstLine: 51,
      lastLine: 53,
      totals: { bytes: Buffer.byteLength(raw), lines: 53 },
    });
  });

  it('of a line longer than its limit is the end of it, or its start', () => {
    const raw = `${'x'.repeat(10_000_000)}é`;
    expect(viewOf(raw, { kind: 'tail', bytesMax: 5 })).toMatchObject({
      text: 'xxxé',
      cut: 'bytes',
      partialLine: true,
      firstLine: 1,
      lastLine: 1,
      totals: { bytes: 10_000_002, lines: 1 },
    });
    const ends = viewOf(raw, {
      kind: 'ends',
      bytesMax: 7,
      gap: (hidden) => JSON.stringify(hidden),
    });
    expect(ends.text).toBe('xxx{"firstLine":1,"lastLine":1,"bytes":9999995}xxé');
    expect(ends).toMatchObject({ partialLine: true, cut: 'bytes' });
  });

  it('of the end of a long stream is what it is in the whole', () => {
    const title = '\x1b]8;;http://x/\x1b\\link\x1b]8;;\x1b\\ ';
    const line = (i: number): string => `\x1b[3${i % 8}mline ${i}\x1b[0m ${title}é\r\n`;
    const raw = Array.from({ length: 60_000 }, (_, i) => line(i)).join('');
    const whole = text(Buffer.from(raw));
    for (const bytesMax of [100, 5_000, 50_000]) {
      const view = viewOf(raw, { kind: 'tail', bytesMax });
      expect(whole.endsWith(view.text)).toBe(true);
      expect(view.shown.bytes).toBeGreaterThan(bytesMax - 40);
      expect(view.firstLine).toBe(60_000 - view.shown.lines + 1);
      expect(view.text.startsWith(`line ${view.firstLine - 1} link`)).toBe(true);
    }
  });

  it('never shows the rest of a sequence whose start it did not read', () => {
    const long = `\x1b]52;c;${'QUJD\n'.repeat(150_000)}\x07`; // 750 KB for the clipboard
    const raw = `${'before\n'.repeat(300_000)}${long}behind\n`;
    for (const bytesMax of [20, 3_000, 200_000]) {
      const view = viewOf(raw, { kind: 'tail', bytesMax });
      expect(view.text).toMatch(/^(before\n)*behind\n$/);
      expect(view.lastLine).toBe(450_001);
    }
  });

  it('reads further where nearly all is sequences', () => {
    const raw = `${'start\n'.repeat(10)}${`\x1b[${'0;'.repeat(60)}1m`.repeat(30_000)}end`;
    const view = viewOf(raw, { kind: 'tail', bytesMax: 1_000 });
    expect(view.text).toBe(`${'start\n'.repeat(10)}end`);
    expect(view.cut).toBe('none');
  });

  it('of a progress bar is its last state', () => {
    const raw = `${Array.from({ length: 101 }, (_, i) => `\r${i}%`).join('')}\ndone\n`;
    const options = { bytesMax: 100, cr: 'overwrite' as const };
    for (const kind of ['tail', 'head', 'ends'] as const) {
      expect(viewOf(raw, { kind, ...options })).toMatchObject({
        text: '100%\ndone\n',
        cut: 'none',
      });
    }
  });

  it('keeps its limit where bytes are no UTF-8, and says that they are no text', () => {
    const view = viewOf(Buffer.alloc(1_000, 0xff), { kind: 'tail', bytesMax: 100 });
    expect(Buffer.byteLength(view.text)).toBe(99);
    expect(view.totals.bytes).toBe(1_000);
    const elf = Buffer.concat([Buffer.from('\x7fELF\x02\x01\x01'), Buffer.alloc(500)]);
    expect(viewOf(elf, { kind: 'tail', bytesMax: 100 }).binary).toBe(true);
    expect(viewOf('text\n', { kind: 'tail', bytesMax: 100 }).binary).toBe(false);
  });

  it('leaves out a character that is not whole yet, while its rest can come', () => {
    const store = testStore();
    store.living.push(RUNNER);
    build(store, [{ bytes: Buffer.from('aé').subarray(0, 2) }], { final: 'missing' });
    const capture = openCapture(store, 'one');
    const view = cleanView(capture, { kind: 'tail', bytesMax: 100 });
    expect(view).toMatchObject({ text: 'a', totals: { bytes: 2, lines: 1 } });
  });

  it('of nothing is empty', () => {
    expect(viewOf('', { kind: 'ends', bytesMax: 100 })).toMatchObject({
      text: '',
      totals: { bytes: 0, lines: 0 },
      shown: { bytes: 0, lines: 0 },
      firstLine: 1,
      lastLine: 0,
      cut: 'none',
      binary: false,
    });
  });
});

describe('a reader that comes back', () => {
  it('gets all of the clean stream, in pieces that fit', () => {
    fc.assert(
      fc.property(given, fc.integer({ min: 4, max: 60 }), (parts, bytesMax) => {
        const store = testStore();
        const capture = build(store, parts);
        const reader = new NewOutput('all');
        let all = '';
        for (let more = true; more; ) {
          const piece = reader.next(capture, bytesMax);
          expect(Buffer.byteLength(piece.text)).toBeLessThanOrEqual(bytesMax);
          all += piece.text;
          ({ more } = piece);
        }
        expect(all).toBe(text(streamOf(parts, 'all')));
        expect(reader.next(capture, bytesMax)).toEqual({ text: '', more: false, looked: 0 });
        rmSync(store.root, { recursive: true });
      }),
      { numRuns: 200 },
    );
  });
});
