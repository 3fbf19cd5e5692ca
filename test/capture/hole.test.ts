// Captures whose middle was given back: every way of reading one shows what was printed and nothing
// else, with true numbers, while the hole grows and after the runner was killed at any step of it.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { searchOutputs } from '../../src/agent/search.ts';
import { matcherOf } from '../../src/agent/search-match.ts';
import { readOutput } from '../../src/capture/reader.ts';
import { type Capture, openCapture } from '../../src/capture/store.ts';
import { streamChunks } from '../../src/capture/stream.ts';
import { findRunner } from '../../src/run/binary.ts';
import { readPage } from '../../src/shell/output/page.ts';
import { rawView } from '../../src/shell/output/raw-view.ts';
import { OutputReader } from '../../src/shell/output/reader.ts';
import { cleanView } from '../../src/shell/output/view.ts';
import { createShell } from '../../src/shell/shell.ts';
import { openStore } from '../../src/shell/store.ts';
import { lacking } from '../requirements.ts';

const runner = findRunner();
const noRunner = lacking(runner.kind === 'none', 'there is no native runner here');
const noStrace = lacking(spawnSync('strace', ['-V']).status !== 0, 'there is no strace here');
const CAP = 256 * 1024;

function root(): string {
  const dir = mkdtempSync(join(tmpdir(), 'cuff-hole-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** What `seq` prints, and every tenth number on stderr, too. */
const COUNT = 300_000;
const BOTH = `for (1..${COUNT}) { print "$_\\n"; print STDERR "e$_\\n" if $_ % 10 == 0 }`;

function numbers(from: number, to: number, word = '', step = 1): string {
  let text = '';
  for (let n = from; n <= to; n += step) text += `${word}${n}\n`;
  return text;
}

async function captured(command: string, transport: 'pipe' | 'merged' = 'pipe'): Promise<Capture> {
  const stateRoot = root();
  const shell = createShell({ stateRoot, runner: 'native', outputBytesMax: CAP });
  const run = shell.start(command, { transport });
  await run.closed;
  shell.close();
  return openCapture(openStore(stateRoot), run.id);
}

describe.skipIf(noRunner)('a capture with a hole', () => {
  it('has true totals and both ends of each stream', async () => {
    const capture = await captured(`perl -e '${BOTH}'`);
    const [stdout, stderr] = [numbers(1, COUNT), numbers(10, COUNT, 'e', 10)];
    expect(capture.final?.outputBytes).toBe(stdout.length + stderr.length);
    for (const [channel, all] of [
      ['stdout', stdout],
      ['stderr', stderr],
    ] as const) {
      const lines = all.split('\n').length - 1;
      const totals = { bytes: all.length, lines };
      const tail = rawView(capture, { kind: 'tail', channel, linesMax: 7 });
      expect(tail).toMatchObject({ totals, firstLine: lines - 6, lastLine: lines, cut: 'lines' });
      expect(tail.text).toBe(all.split('\n').slice(-8).join('\n'));
      const whole = rawView(capture, { kind: 'tail', channel });
      expect(all.endsWith(whole.text)).toBe(true);
      expect(whole.firstLine).toBe(lines - whole.shown.lines + 1);
      expect(whole.cut).toBe('bytes');
      const head = rawView(capture, { kind: 'head', channel });
      expect(all.startsWith(head.text)).toBe(true);
      const { hole = { from: 0, to: 0 } } = head;
      expect(hole.to).toBeGreaterThan(hole.from);
      const kept = Buffer.concat([...streamChunks(capture, channel)]).toString();
      expect(kept).toBe(all.slice(0, hole.from) + all.slice(hole.to));
      const inside = rawView(capture, {
        kind: 'raw',
        channel,
        offset: hole.from + 5,
        bytesMax: 64,
      });
      expect([inside.from, inside.text]).toEqual([hole.to, all.slice(hole.to, hole.to + 64)]);
      expect(inside.firstLine).toBe(all.slice(0, hole.to).split('\n').length);
      const clean = cleanView(capture, {
        kind: 'tail',
        channel,
        bytesMax: 50,
      });
      expect(clean).toMatchObject({ totals, lastLine: lines, missingBytes: hole.to - hole.from });
      expect(all.endsWith(clean.text)).toBe(true);
    }
  });

  it('is read page by page and searched on both sides, with the numbers lines had', async () => {
    const capture = await captured(`seq ${COUNT}`);
    let [from, text, pages] = [0, '', 0];
    for (;;) {
      const options = { channel: 'stdout', fromByte: from, bytesMax: 50_000 } as const;
      const page = readPage(capture, options);
      text += page.text;
      pages += 1;
      // The first line behind the hole is only the end of one.
      const [line = ''] = page.text.split('\n').slice(page.partialLine ? 1 : 0);
      expect(Number(line)).toBe(page.firstLine + (page.partialLine ? 1 : 0));
      if (page.next === undefined) break;
      from = page.next.byte;
    }
    expect(pages).toBeGreaterThan(3);
    expect(text).not.toContain('\0');
    expect(text.endsWith(`\n${COUNT}\n`)).toBe(true);
    const lost = readPage(capture, { channel: 'stdout', fromLine: 100_000, bytesMax: 100 });
    expect(Number(lost.text.split('\n')[1])).toBe(lost.firstLine + 1);
    const last = readPage(capture, { channel: 'stdout', fromLine: COUNT - 1, bytesMax: 100 });
    expect([last.text, last.firstLine]).toEqual([numbers(COUNT - 1, COUNT), COUNT - 1]);
    const matcher = matcherOf({ text: `^(77|${COUNT - 1})$`, regex: true, ignoreCase: false });
    const { signal } = new AbortController();
    const options = { matcher, limit: 10, context: 0, signal };
    const { found } = await searchOutputs([capture], (one) => OutputReader.of(one), options);
    const matches = found[0]?.matches.map(({ number, text }) => [number, text]);
    expect(matches).toEqual([
      [77, '77'],
      [COUNT - 1, `${COUNT - 1}`],
    ]);
  });

  it('gives a reader who follows it no byte that was not printed', async () => {
    const stateRoot = root();
    const shell = createShell({ stateRoot, runner: 'native', outputBytesMax: CAP });
    const run = shell.start(`seq ${COUNT * 5}`, { transport: 'merged' });
    const printed = Buffer.from(numbers(1, COUNT * 5));
    let [cursor, jumped] = [0, 0];
    for (;;) {
      const read = readOutput(openCapture(openStore(stateRoot), run.id), cursor, 50_000);
      for (const { chunk, bytes } of read.chunks) {
        const real = printed.subarray(chunk.offset, chunk.offset + chunk.length);
        if (!real.equals(bytes)) throw new Error(`other bytes at ${chunk.offset}`);
      }
      if (read.skipped !== undefined) jumped += 1;
      cursor = read.nextCursor;
      if (read.final) break;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(cursor).toBe(printed.length);
    // From the start again, now that it is over.
    const again = readOutput(openCapture(openStore(stateRoot), run.id), CAP, 10);
    expect(again.skipped).toMatchObject({ from: CAP / 2 });
    expect(jumped).toBeGreaterThanOrEqual(0);
    shell.close();
  });

  it.skipIf(noStrace)('is whole after SIGKILL at any step of making it', () => {
    const path = runner.kind === 'native' ? runner.path : '';
    const printed = Buffer.from(numbers(1, COUNT));
    const steps = [1, 2, 3, 4, 5, 6].flatMap((when) => [
      `fallocate:signal=KILL:when=${when + 2}`,
      `writev:signal=KILL:when=${when * 3}`,
      `write:signal=KILL:when=${60 + when}`,
    ]);
    for (const [index, step] of steps.entries()) {
      const stateRoot = root();
      const dir = join(stateRoot, 'sessions', `k${index}`);
      mkdirSync(dir, { recursive: true, mode: 0o700 });
      const [name] = step.split(':');
      const inject = ['-qqq', '-e', `trace=${name}`, '-e', `inject=${step}`, '-o', '/dev/null'];
      const words = ['run', `k${index}`, '--dir', dir, '--cap', `${CAP}`, '--transport', 'merged'];
      spawnSync('strace', [...inject, path, ...words, '--', 'seq', `${COUNT}`]);
      const capture = openCapture(openStore(stateRoot), `k${index}`);
      let cursor = 0;
      for (;;) {
        const read = readOutput({ ...capture, outputOpen: false }, cursor, 100_000);
        for (const { chunk, bytes } of read.chunks) {
          const real = printed.subarray(chunk.offset, chunk.offset + chunk.length);
          if (!real.equals(bytes)) throw new Error(`${step}: other bytes at ${chunk.offset}`);
        }
        cursor = read.nextCursor;
        if (read.eof) break;
      }
      expect(cursor, step).toBeGreaterThan(0);
    }
  });

  it('keeps the head and says so where blocks cannot be given back', async () => {
    const dir = root();
    const mounted = spawnSync('mount', ['-t', 'ramfs', 'cuff-test', dir]).status === 0;
    if (lacking(!mounted, 'mounting a ramfs needs root')) return;
    onTestFinished(() => void execFileSync('umount', ['-l', dir]));
    const shell = createShell({
      stateRoot: join(dir, 'state'),
      runner: 'native',
      outputBytesMax: CAP,
    });
    const run = shell.start(`seq ${COUNT}`);
    await run.closed;
    shell.close();
    const capture = openCapture(openStore(join(dir, 'state')), run.id);
    const printed = numbers(1, COUNT);
    expect(capture.final).toMatchObject({
      outputBytes: CAP,
      lostBytes: printed.length - CAP,
    });
    expect(capture.final?.hole).toBe(undefined);
    expect(readFileSync(join(capture.dir, 'output.bin'), 'utf8')).toBe(printed.slice(0, CAP));
    expect(existsSync(join(capture.dir, 'final.json'))).toBe(true);
  });
});
