// What `pipe_bash` does with output, whatever it is: what is kept in memory, what several checks
// give together, and what holds for every answer.

import * as fs from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Source } from '../../../src/capture/snapshot.ts';
import { Ends } from '../../../src/shell/output/ends.ts';
import { type Growth, NewOutput } from '../../../src/shell/output/new-output.ts';
import { sanitize, sanitizer } from '../../../src/text/sanitize.ts';
import { decodeUtf8 } from '../../../src/text/utf8.ts';
import { build, type Part, testStore } from '../../capture/helper.ts';
import { World } from '../../recorder/helper.ts';
import { EndlessOutput, GrowingOutput } from '../../shell/output/growing.ts';
import { background, bash, fullOutput, pipe, text } from './helper.ts';

/** Text, colours, broken characters, and what can be cut in two. */
const anything = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.string({ unit: 'grapheme' }).map((one) => new Uint8Array(Buffer.from(`${one}\n`))),
  fc
    .constantFrom('\x1b[1;31m', '\x1b]0;title\x07', '\r\n', '\r', '€', '\x1b[38:5:1m', '\x9b1m')
    .map((one) => new Uint8Array(Buffer.from(one))),
);

const newOutput = (): NewOutput => new NewOutput('both', { binary: 'shown' });
const take = (since: NewOutput, capture: Source): Growth['ends'] =>
  since.take(capture, { first: 0, last: 102_400 }).ends;

describe('the memory of pipe_bash', () => {
  it('holds the last 102400 bytes of what is new, and knows how much there was', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('a', 'b\n', 'ccc'), fc.nat(120_000)), { maxLength: 8 }),
        (parts) => {
          const rolling = new Ends(0, 102_400);
          const pieces = parts.map(([unit, size]) => Buffer.alloc(size, unit));
          for (const piece of pieces) rolling.push(piece);
          const all = Buffer.concat(pieces);
          expect(Buffer.compare(rolling.last, all.subarray(-102_400))).toBe(0);
          const { totals } = rolling.lines({ linesMax: 1, bytesMax: 10 });
          const lines = all.toString().split('\n').length - (/\n$|^$/.test(all.toString()) ? 1 : 0);
          expect(totals).toEqual({ bytes: all.length, lines });
        },
      ),
      { numRuns: 50 },
    );
  });

  it('does not grow with the output', async () => {
    const plugin = await pipe(new World());
    const size = 100 * 1024 * 1024;
    const most = { bytes: 0 };
    const used = (): number => process.memoryUsage().external;
    const before = used();
    const timer = setInterval(() => {
      most.bytes = Math.max(most.bytes, used() - before);
    }, 2);
    try {
      const over = await text(bash(plugin, `yes 0123456789 | head -c ${size}; exit 0`));
      expect(over).toContain(`of ${Math.ceil(size / 11)} lines. Full output: `);
      expect(fs.statSync(fullOutput(over)).size).toBe(size);
      const { pid } = await background(plugin, `yes 0123456789 | head -c ${size}; sleep 100`);
      for (;;) if ((await text(bash(plugin, { check_pid: pid }))).includes('(0 lines)')) break;
    } finally {
      clearInterval(timer);
    }
    expect(most.bytes).toBeLessThan(size * 0.6);
  });
});

describe('the checks of pipe_bash', () => {
  it('give together what was printed, however it was cut', () => {
    const channel = fc.constantFrom('stdout' as const, 'stderr' as const);
    const chunk = fc.record({ channel, bytes: anything });
    fc.assert(
      fc.property(fc.array(fc.array(chunk, { maxLength: 6 }), { maxLength: 6 }), (checks) => {
        const source = new GrowingOutput();
        const since = newOutput();
        const given = { stdout: '', stderr: '', all: '' };
        for (const chunks of checks) {
          for (const { channel, bytes } of chunks) source.append(channel, bytes);
          const added = take(since, source.capture());
          const all = { linesMax: 1e9, bytesMax: 1e9 };
          for (const name of ['stdout', 'stderr', 'all'] as const) {
            given[name] += added[name].lines(all).text;
          }
        }
        for (const channel of ['stdout', 'stderr'] as const) {
          const printed = source.stream(channel);
          // What is not whole yet is still to come.
          const clean = sanitizer({ broken: 'replace' }).push(printed);
          expect(given[channel]).toBe(decodeUtf8(clean));
        }
        expect(given.all).toHaveLength(given.stdout.length + given.stderr.length);
      }),
    );
  });

  it('give nothing twice', () => {
    const source = new GrowingOutput();
    source.append('stdout', Buffer.alloc(3_000_000, 'x'));
    const since = newOutput();
    const taken = [take(since, source.capture()), take(since, source.capture())];
    expect(taken.map(({ all }) => all.totals.bytes)).toEqual([3_000_000, 0]);
  });

  it('show a quiet stream once, however loud the other one is', () => {
    const source = new GrowingOutput();
    const since = newOutput();
    source.append('stderr', Buffer.from('warning\n'));
    expect(take(since, source.capture()).stderr.tail(100)).toBe('warning\n');
    source.append('stdout', Buffer.alloc(9_000_000, 'loud\n'));
    source.append('stderr', Buffer.from('again\n'));
    const { stdout, stderr } = take(since, source.capture());
    expect(stderr.lines({ linesMax: 9, bytesMax: 99 })).toMatchObject({
      text: 'again\n',
      totals: { bytes: 6, lines: 1 },
    });
    expect(stdout.totals).toEqual({ bytes: 9_000_000, lines: 1_800_000 });
  });
});

describe('more new output than is read for one check of pipe_bash', () => {
  const line = (i: number): string => `\x1b[3${i % 8}m${`line ${i}`.padEnd(90)}\x1b[0m\n`;
  const lines = (from: number, to: number): string =>
    Array.from({ length: to - from }, (_, i) => line(from + i)).join('');
  const clean = (text: string): string => Buffer.from(sanitize(Buffer.from(text))).toString();

  const since = (parts: readonly Part[]): Growth['ends'] =>
    take(newOutput(), build(testStore(), parts));

  it('is shown from its end, and what is not shown is counted', () => {
    const [out, quiet] = [lines(0, 160_000), 'first words\n'];
    const last = 'last words\n';
    const added = since([
      { bytes: quiet, channel: 'stderr' },
      { bytes: out },
      { bytes: last, channel: 'stderr' },
    ]);
    const limits = { linesMax: 1_000, bytesMax: 51_200 };
    const stdout = added.stdout.lines(limits);
    expect(clean(out).endsWith(stdout.text)).toBe(true);
    expect(stdout).toMatchObject({ cut: 'bytes', partialLine: false });
    expect(stdout.totals.lines).toBe(160_000);
    expect(stdout.shown.lines).toBe(Math.floor(51_200 / 91));
    // The other stream is not lost behind the loud one.
    expect(added.stderr.lines(limits)).toMatchObject({ text: quiet + last, cut: 'none' });
    const both = added.all.lines(limits);
    expect((clean(out) + last).endsWith(both.text)).toBe(true);
    expect(both.totals.lines).toBe(160_002);
  });

  it('is read on as if all had been read', () => {
    // The title began in what is passed by, and the check after that has its end.
    const long = `\x1b]0;${'t'.repeat(900_000)}`;
    const parts: Part[] = [{ bytes: lines(0, 100_000) }, { bytes: long }];
    const store = testStore();
    let capture = build(store, parts);
    const reader = newOutput();
    const limits = { linesMax: 1_000, bytesMax: 51_200 };
    const first = take(reader, { ...capture, outputOpen: true }).stdout.lines(limits);
    expect(first.text).not.toContain('ttt');
    fs.rmSync(capture.dir, { recursive: true });
    capture = build(store, [...parts, { bytes: '\x07end\n' }]);
    expect(take(reader, capture).stdout.lines(limits)).toMatchObject({
      text: 'end\n',
      cut: 'none',
    });
  });

  it('says that something is missing when what is left of it is short', () => {
    const added = since([{ bytes: 'a\x1b[1m\x1b[0m'.repeat(2_000_000) }]);
    const all = { linesMax: 2_000, bytesMax: 102_400 };
    expect(added.stdout.lines(all)).toMatchObject({ cut: 'bytes', partialLine: true });
  });

  it('is what there was when the check came, however fast the writer is', () => {
    const added = take(newOutput(), new EndlessOutput('y\n', 0).capture());
    expect(added.all.totals.bytes).toBe(1024 * 1024);
  });
});

describe('an answer of pipe_bash', () => {
  it('holds its limits and tells the truth, whatever is printed', async () => {
    const world = new World();
    const plugin = await pipe(world);
    const output = fc
      .tuple(fc.array(anything, { minLength: 1, maxLength: 6 }), fc.integer({ min: 1, max: 9_000 }))
      .map(([units, times]) => Buffer.concat(Array.from({ length: times }, () => units).flat()));
    await fc.assert(
      fc.asyncProperty(output, output, async (out, err) => {
        fs.writeFileSync(join(world.project, 'out'), out);
        fs.writeFileSync(join(world.project, 'err'), err);
        const answer = await text(bash(plugin, 'cat out; cat err >&2'));
        expect(Buffer.byteLength(answer)).toBeLessThanOrEqual(2 * 51_200 + 2_000);
        expect(Buffer.from(answer).toString()).toBe(answer);
        const all = new Map([
          ['stdout', out],
          ['stderr', err],
        ]);
        const notices =
          /\[(stdout|stderr): Showing last \d+ of (\d+) (lines|bytes).*?( Full .*)?\]/g;
        for (const [, name = '', count, unit, full] of answer.matchAll(notices)) {
          const raw = all.get(name) ?? Buffer.alloc(0);
          const last = raw.length > 0 && raw[raw.length - 1] !== 10 ? 1 : 0;
          const lines = raw.toString('latin1').split('\n').length - 1 + last;
          expect(Number(count)).toBe(unit === 'lines' ? lines : raw.length);
          expect(full === undefined).toBe(raw.length <= 51_200);
          if (full === undefined) continue;
          const clean = Buffer.from(sanitize(raw));
          expect(Buffer.compare(fs.readFileSync(full.slice(' Full output: '.length)), clean)).toBe(
            0,
          );
        }
      }),
      { numRuns: 15 },
    );
  });
});
