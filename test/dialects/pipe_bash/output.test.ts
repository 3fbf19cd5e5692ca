// What `pipe_bash` does with output, whatever it is: what is kept in memory, what several checks
// give together, and what holds for every answer.

import * as fs from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readOutput } from '../../../src/capture/reader.ts';
import { OutputSince, Rolling } from '../../../src/dialects/pipe_bash/new-output.ts';
import type { ReadResult } from '../../../src/shell/shell.ts';
import { sanitize, sanitizer } from '../../../src/text/sanitize.ts';
import { decodeUtf8, utf8End } from '../../../src/text/utf8.ts';
import { build, type Part, testStore } from '../../capture/helper.ts';
import { World } from '../../recorder/helper.ts';
import { background, bash, fullOutput, pipe, text } from './helper.ts';

/** Text, colours, broken characters, and what can be cut in two. */
const anything = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.string({ unit: 'grapheme' }).map((one) => new Uint8Array(Buffer.from(`${one}\n`))),
  fc
    .constantFrom('\x1b[1;31m', '\x1b]0;title\x07', '\r\n', '\r', '€', '\x1b[38:5:1m', '\x9b1m')
    .map((one) => new Uint8Array(Buffer.from(one))),
);

describe('the memory of pipe_bash', () => {
  it('holds the last 102400 bytes of what is new, and knows how much there was', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('a', 'b\n', 'ccc'), fc.nat(120_000)), { maxLength: 8 }),
        (parts) => {
          const rolling = new Rolling();
          const pieces = parts.map(([unit, size]) => Buffer.alloc(size, unit));
          for (const piece of pieces) rolling.push(piece);
          const all = Buffer.concat(pieces);
          expect(Buffer.compare(rolling.bytes, all.subarray(-102_400))).toBe(0);
          const { totals } = rolling.shown({ linesMax: 1, bytesMax: 10 });
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
  it('give together what was printed, however it was cut', async () => {
    const chunk = fc.record({ channel: fc.constantFrom('stdout', 'stderr'), bytes: anything });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(chunk, { maxLength: 6 }), { maxLength: 6 }),
        async (checks) => {
          const source = new Captured();
          const since = new OutputSince(source, 'id', {});
          const given = { stdout: '', stderr: '', both: '' };
          for (const chunks of checks) {
            for (const { channel, bytes } of chunks) source.append(channel, bytes);
            const added = await since.take();
            const all = { linesMax: 1e9, bytesMax: 1e9 };
            for (const name of ['stdout', 'stderr', 'both'] as const) {
              given[name] += added[name].shown(all).text;
            }
          }
          for (const channel of ['stdout', 'stderr'] as const) {
            const printed = source.stream(channel);
            // What is not whole yet is still to come.
            const clean = sanitizer().push(printed);
            const whole = clean.subarray(0, utf8End(clean, clean.length));
            expect(given[channel]).toBe(decodeUtf8(whole));
          }
          expect(given.both).toHaveLength(given.stdout.length + given.stderr.length);
        },
      ),
    );
  });

  it('give nothing twice when two ask at once', async () => {
    const source = new Captured();
    source.append('stdout', Buffer.alloc(3_000_000, 'x'));
    const since = new OutputSince(source, 'id', {});
    const taken = await Promise.all([since.take(), since.take()]);
    const all = { linesMax: 1, bytesMax: 1 };
    expect(taken.map(({ both }) => both.shown(all).totals.bytes)).toEqual([3_000_000, 0]);
  });
});

describe('more new output than is read for one check of pipe_bash', () => {
  const line = (i: number): string => `\x1b[3${i % 8}m${`line ${i}`.padEnd(90)}\x1b[0m\n`;
  const lines = (from: number, to: number): string =>
    Array.from({ length: to - from }, (_, i) => line(from + i)).join('');
  const clean = (text: string): string => Buffer.from(sanitize(Buffer.from(text))).toString();

  function since(parts: readonly Part[]): OutputSince {
    const capture = build(testStore(), parts);
    const read = (_: string, cursor: number, max: number) => readOutput(capture, cursor, max);
    return new OutputSince({ read, open: () => capture }, 'one', {});
  }

  it('is shown from its end, and what is not shown is counted', async () => {
    const [out, quiet] = [lines(0, 160_000), 'first words\n'];
    const last = 'last words\n';
    const added = await since([
      { bytes: quiet, channel: 'stderr' },
      { bytes: out },
      { bytes: last, channel: 'stderr' },
    ]).take();
    const limits = { linesMax: 1_000, bytesMax: 51_200 };
    const stdout = added.stdout.shown(limits);
    expect(clean(out).endsWith(stdout.text)).toBe(true);
    expect(stdout).toMatchObject({ cut: 'bytes', partialLine: false });
    expect(stdout.totals.lines).toBe(160_000);
    expect(stdout.shown.lines).toBe(Math.floor(51_200 / 91));
    // The other stream is not lost behind the loud one.
    expect(added.stderr.shown(limits)).toMatchObject({ text: quiet + last, cut: 'none' });
    const both = added.both.shown(limits);
    expect((clean(out) + last).endsWith(both.text)).toBe(true);
    expect(both.totals.lines).toBe(160_002);
  });

  it('is read on as if all had been read', async () => {
    // The title began in what is passed by, and the check after that has its end.
    const long = `\x1b]0;${'t'.repeat(900_000)}`;
    const parts: Part[] = [{ bytes: lines(0, 100_000) }, { bytes: long }];
    const store = testStore();
    let capture = build(store, parts);
    const read = (_: string, cursor: number, max: number) => readOutput(capture, cursor, max);
    const reader = new OutputSince({ read, open: () => capture }, 'one', {});
    const limits = { linesMax: 1_000, bytesMax: 51_200 };
    const first = (await reader.take()).stdout.shown(limits);
    expect(first.text).not.toContain('ttt');
    fs.rmSync(capture.dir, { recursive: true });
    capture = build(store, [...parts, { bytes: '\x07end\n' }]);
    expect((await reader.take()).stdout.shown(limits)).toMatchObject({
      text: 'end\n',
      cut: 'none',
    });
  });

  it('says that something is missing when what is left of it is short', async () => {
    const added = await since([{ bytes: 'a\x1b[1m\x1b[0m'.repeat(2_000_000) }]).take();
    const all = { linesMax: 2_000, bytesMax: 102_400 };
    expect(added.stdout.shown(all)).toMatchObject({ cut: 'bytes', partialLine: true });
  });

  it('is what there was when the check came, however fast the writer is', async () => {
    let end = 1_000_000;
    let asked = 0;
    const read = (_: string, cursor: number, max: number): ReadResult => {
      asked += 1;
      if (asked > 100) throw new Error('it reads for ever');
      end += 1_000_000;
      const bytes = Buffer.alloc(Math.max(0, Math.min(max, end - cursor)), 'y\n');
      const chunk = { offset: cursor, length: bytes.length, at: 0, lines: 0 };
      const nextCursor = Math.min(cursor, end) + bytes.length;
      const chunks = [{ chunk: { ...chunk, channel: 'stdout' as const }, bytes }];
      return { chunks: max === 0 ? [] : chunks, nextCursor, eof: false, final: false };
    };
    const open = () => expect.fail('so little is read as a whole');
    const added = await new OutputSince({ read, open }, 'one', {}).take();
    expect(added.both.shown({ linesMax: 1, bytesMax: 9 }).totals.bytes).toBe(2_000_000);
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

/** A capture in memory, as far as somebody reads it by cursor. */
class Captured {
  readonly #chunks: { channel: 'stdout' | 'stderr'; offset: number; bytes: Uint8Array }[] = [];
  #end = 0;

  append(channel: string, bytes: Uint8Array): void {
    if (channel !== 'stdout' && channel !== 'stderr') throw new Error(channel);
    this.#chunks.push({ channel, offset: this.#end, bytes });
    this.#end += bytes.length;
  }

  stream(channel: string): Uint8Array {
    return Buffer.concat(this.#chunks.filter((one) => one.channel === channel).map((c) => c.bytes));
  }

  open(): never {
    throw new Error('so little is read as a whole');
  }

  read(_id: string, cursor: number, maxBytes: number): ReadResult {
    const from = Math.min(cursor, this.#end);
    const to = Math.min(from + maxBytes, this.#end);
    const chunks = this.#chunks.flatMap(({ channel, offset, bytes }) => {
      const part = bytes.subarray(Math.max(0, from - offset), Math.max(0, to - offset));
      const at = {
        offset: Math.max(offset, from),
        length: part.length,
        channel,
        at: 0,
        lines: 0,
      };
      return part.length === 0 ? [] : [{ chunk: at, bytes: part }];
    });
    return { chunks, nextCursor: to, eof: to === this.#end, final: false };
  }
}
