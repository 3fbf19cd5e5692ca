// One reader for everything that shows output: whatever bytes come, in whatever chunks, and
// whenever a reader asks, pieces put together are the whole, and nothing is lost or repeated.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NewsReader } from '../../../src/agent/report-news.ts';
import { NewOutput } from '../../../src/shell/output/new-output.ts';
import { OutputReader } from '../../../src/shell/output/reader.ts';
import { sanitize, sanitizer } from '../../../src/text/sanitize.ts';
import { type Channel, GrowingOutput } from './growing.ts';

const UNITS = [
  ...['a', 'bc ', '\n', '\n', '\r', '\r\n', '\0', '\b', '\t', 'é', '€', '😀', '\xff'],
  ...['\x1b', '\x1b[', '\x1b[31m', '\x1b[2K', '\x1b[1G', '\x1b]0;t\x07', '\x1b]0;t', '\x9b1m'],
];
const bytes = fc.oneof(
  { weight: 3, arbitrary: fc.array(fc.constantFrom(...UNITS), { maxLength: 9 }) },
  { weight: 1, arbitrary: fc.array(fc.constantFrom('\xe2', '\x82', '\xac', '\xf0\x9f', 'x\n')) },
);
const chunk = fc
  .record({
    channel: fc.constantFrom<Channel>('stdout', 'stderr'),
    utf8: fc.boolean(),
    units: bytes,
    cut: fc.nat(30),
  })
  .map(({ channel, utf8, units, cut }) => {
    const all = Buffer.from(units.join(''), utf8 ? 'utf8' : 'latin1');
    return { channel, bytes: all.subarray(0, Math.max(1, all.length - (cut % 4))) };
  });
/** What comes between two questions. */
const growth = fc.array(fc.array(chunk, { maxLength: 4 }), { minLength: 1, maxLength: 6 });

type Growth = readonly (readonly { readonly channel: Channel; readonly bytes: Uint8Array }[])[];

/** Asks after each growth, and once more when nothing can follow. */
function grown(all: Growth, ask: (output: GrowingOutput, over: boolean) => void): GrowingOutput {
  const output = new GrowingOutput();
  for (const chunks of all) {
    for (const one of chunks) output.append(one.channel, one.bytes);
    ask(output, false);
  }
  ask(output, true);
  return output;
}

const clean = (raw: Uint8Array, cr: 'keep' | 'overwrite' = 'keep'): string =>
  Buffer.from(sanitize(raw, { cr, broken: 'replace' })).toString();

const CHANNELS = ['stdout', 'stderr'] as const;
const ALL = { first: 0, last: 1_000_000 };

describe('what is new, asked for while output grows', () => {
  it('comes part after part as the clean output, in parts of any size', () => {
    fc.assert(
      fc.property(growth, fc.integer({ min: 4, max: 40 }), (all, bytesMax) => {
        const since = new NewOutput('all');
        let told = '';
        const output = grown(all, (now, over) => {
          for (let more = true; more; ) {
            const next = since.next(now.capture(over), bytesMax);
            expect(Buffer.byteLength(next.text)).toBeLessThanOrEqual(bytesMax);
            told += next.text;
            ({ more } = next);
          }
        });
        expect(told).toBe(clean(output.stream('all')));
      }),
      { numRuns: 300 },
    );
  });

  it('comes in whole lines where they are wanted, and the last one at the end', () => {
    fc.assert(
      fc.property(growth, (all) => {
        const since = new NewOutput('all');
        let told = '';
        const output = grown(all, (now, over) => {
          const { text } = since.next(now.capture(over), 1_000_000, 'whole');
          if (!over) expect(text === '' || text.endsWith('\n')).toBe(true);
          told += text;
        });
        expect(told).toBe(clean(output.stream('all')));
      }),
      { numRuns: 200 },
    );
  });

  it('comes at once in order and by stream, and the totals are those of all of it', () => {
    const cr = fc.constantFrom('keep' as const, 'overwrite' as const);
    fc.assert(
      fc.property(growth, cr, (all, how) => {
        const since = new NewOutput('both', { cr: how, binary: 'shown' });
        const told = { all: '', stdout: '', stderr: '' };
        const output = grown(all, (now, over) => {
          const { ends, from, to, totals } = since.take(now.capture(over), ALL);
          for (const name of ['all', ...CHANNELS] as const) {
            told[name] += ends[name].tail(1_000_000);
            expect(ends[name].totals.bytes).toBe(Buffer.byteLength(ends[name].tail(1_000_000)));
          }
          expect([totals.bytes, to]).toEqual([now.stream('all').length, totals.bytes]);
          expect(from).toBeLessThanOrEqual(to);
        });
        for (const channel of CHANNELS) {
          expect(told[channel]).toBe(clean(output.stream(channel), how));
        }
        expect(told.all).toHaveLength(told.stdout.length + told.stderr.length);
      }),
      { numRuns: 300 },
    );
  });

  it('is the same read at once as asked for often', () => {
    fc.assert(
      fc.property(growth, fc.constantFrom(...CHANNELS), (all, channel) => {
        const since = new NewOutput(channel, { binary: 'shown' });
        let told = '';
        const output = grown(all, (now, over) => {
          told += since.take(now.capture(over), ALL).ends.all.tail(1_000_000);
        });
        const once = new NewOutput(channel, { binary: 'shown' });
        const { ends } = once.take(output.capture(true), ALL);
        expect(told).toBe(ends.all.tail(1_000_000));
        expect(told).toBe(clean(output.stream(channel)));
      }),
      { numRuns: 300 },
    );
  });

  it('goes on from any cursor at which nothing is unfinished', () => {
    fc.assert(
      fc.property(growth, fc.nat(80), (all, wanted) => {
        const output = grown(all, () => undefined);
        const raw = output.stream('stdout');
        const first = sanitizer({ broken: 'replace', cr: 'raw' });
        const at = Math.min(wanted, raw.length);
        first.push(raw.subarray(0, at));
        const since = new NewOutput('stdout', { cr: 'raw', binary: 'shown' });
        since.jump(at - first.pending);
        const { ends } = since.take(output.capture(true), ALL);
        const behind = sanitize(raw.subarray(at - first.pending), { cr: 'raw', broken: 'replace' });
        expect(ends.all.tail(1_000_000)).toBe(Buffer.from(behind).toString());
      }),
      { numRuns: 200 },
    );
  });

  it('shows the unfinished line, and then only what follows it', () => {
    const lines = fc.array(
      fc.array(
        fc.record({
          channel: fc.constant<Channel>('stdout'),
          bytes: fc
            .array(fc.constantFrom('a', 'é', '😀', '\n', '\x1b[1m', '\x1b]0;t\x07'), {
              maxLength: 5,
            })
            .map((units) => Buffer.from(units.join(''))),
        }),
        { maxLength: 3 },
      ),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(lines, (all) => {
        const news = new NewsReader();
        let told = '';
        const output = grown(all, (now, over) => {
          told += news.take(now.capture(over), 'stdout', 1_000_000).text;
          expect(told).toBe(clean(now.stream('stdout'), 'overwrite'));
        });
        expect(told).toBe(clean(output.stream('stdout'), 'overwrite'));
      }),
      { numRuns: 300 },
    );
  });
});

describe('the ends of much output', () => {
  it('are those of the clean output, and what is between is counted', () => {
    const line = (i: number): string => `\x1b[3${i % 8}mline ${i}\x1b[0m é\n`;
    const lines = Array.from({ length: 250_000 }, (_, i) => line(i)).join('');
    const whole = clean(Buffer.from(lines));
    for (const selection of ['all', 'both', 'stdout'] as const) {
      const output = new GrowingOutput();
      for (let at = 0; at < lines.length; at += 50_001) {
        output.append('stdout', Buffer.from(lines.slice(at, at + 50_001)));
      }
      const since = new NewOutput(selection);
      const { ends, to } = since.take(output.capture(), { first: 1_000, last: 1_000 });
      expect(whole.startsWith(ends.all.head(1_000))).toBe(true);
      expect(whole.endsWith(ends.all.tail(1_000))).toBe(true);
      expect([ends.passed, to]).toEqual([true, output.stream('all').length]);
      expect(ends.all.totals.lines).toBe(250_000);
      output.append('stdout', Buffer.from('more\n'));
      expect(since.take(output.capture(), ALL).ends.all.tail(100)).toBe('more\n');
    }
  });

  it('of a view add up to the totals', () => {
    fc.assert(
      fc.property(growth, fc.nat(60), (all, bytesMax) => {
        const output = grown(all, () => undefined);
        const reader = OutputReader.of(output.capture(true));
        for (const channel of CHANNELS) {
          const raw = output.stream(channel);
          const view = reader.raw({ kind: 'tail', channel, bytesMax });
          expect(view.from + view.shown.bytes).toBe(raw.length);
          expect(view.totals.bytes).toBe(raw.length);
          const middle = reader.raw({ kind: 'middle', channel, bytesMax: 8, endBytes: 4 });
          expect(middle.shown.bytes).toBeLessThanOrEqual(Math.min(raw.length, 8));
          const ends = reader.view({ kind: 'ends', channel, bytesMax, gap: () => '' });
          if (ends.hidden === undefined) expect(ends.text).toBe(clean(raw));
          else expect(ends.hidden.bytes + ends.shown.bytes).toBeGreaterThanOrEqual(raw.length);
          const lines = [...reader.lines(channel)].flat();
          expect([...reader.lines(channel)].flat()).toEqual(lines);
          expect(lines.length).toBeLessThanOrEqual(view.totals.lines);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('the memory of a run without an output file', () => {
  it('is read as a capture is', () => {
    const [out, err] = [Buffer.from('one\ntwo\n'), Buffer.from('\x1b[31mbad\x1b[0m\n')];
    const totals = { stdout: 100, stderr: err.length };
    const pieces = [
      { channel: 'stdout', bytes: out },
      { channel: 'stderr', bytes: err },
    ] as const;
    const streams = { stdout: () => out, stderr: () => err };
    const reader = OutputReader.ofMemory({ ...streams, pieces, totals });
    expect(reader.heads(10)).toEqual({
      stdout: { bytes: out, total: 100 },
      stderr: { bytes: err, total: err.length },
    });
    const view = { kind: 'tail', linesMax: 1, bytesMax: 100 } as const;
    expect(reader.view({ ...view, channel: 'stdout' }).text).toBe('two\n');
    expect(reader.view({ ...view, channel: 'stderr' })).toMatchObject({
      text: 'bad\n',
      totals: { bytes: err.length, lines: 1 },
    });
    expect(reader.totals('all')).toEqual({ bytes: out.length + err.length, lines: 3 });
  });
});
