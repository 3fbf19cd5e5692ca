// Other programs read what we pack, we read what they pack, and a packer may be killed at any step.
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findSource } from '../../../src/capture/open-source.ts';
import { packCapture } from '../../../src/capture/packed/pack.ts';
import { lacking } from '../../requirements.ts';
import { build, compile, program, setFile, tempDir, testStore } from '../helper.ts';

const NO_BGZIP = lacking(
  spawnSync('bgzip', ['--version']).error !== undefined,
  'bgzip, from tabix',
);

function lines(bytes: number): Buffer {
  const text = Array.from({ length: bytes / 20 }, (_, i) => `line ${i} of a log\n`).join('');
  return Buffer.from(text.padEnd(bytes, 'x').slice(0, bytes));
}

function plainOf(dir: string, name = 'output.bin'): Buffer {
  const source = findSource(dir, name);
  const bytes = Buffer.from(source?.read(0, source.size) ?? []);
  source?.close();
  return bytes;
}

describe('a packed file', () => {
  it.each([4_097, 65_279, 65_280, 65_281, 300_000, 2_000_003])(
    'of %i bytes is read by zcat',
    (size) => {
      const capture = build(testStore(), [{ bytes: lines(size) }]);
      packCapture(capture.dir);
      expect(program('zcat', join(capture.dir, 'output.bin.gz')).equals(lines(size))).toBe(true);
    },
  );

  it.skipIf(NO_BGZIP)('is tested and read in the middle by bgzip, with our table', () => {
    const bytes = lines(1_000_000);
    const { dir } = build(testStore(), [{ bytes }]);
    packCapture(dir);
    const path = join(dir, 'output.bin.gz');
    program('bgzip', '-t', path);
    for (const [from, length] of [
      [0, 10],
      [65_279, 2],
      [500_001, 140_000],
      [999_990, 10],
    ] as const) {
      const read = program('bgzip', '-b', String(from), '-s', String(length), path);
      expect(read.equals(bytes.subarray(from, from + length))).toBe(true);
    }
    const ours = fs.readFileSync(`${path}.gzi`);
    program('bgzip', '-r', path);
    const theirs = fs.readFileSync(`${path}.gzi`);
    // They may list the empty member at the end, too.
    expect(theirs.subarray(8, ours.length).equals(ours.subarray(8))).toBe(true);
    expect(plainOf(dir).equals(bytes)).toBe(true);
  });

  it.skipIf(NO_BGZIP)('that bgzip made is read by us, with its table and without', () => {
    for (const size of [0, 1, 65_280, 65_281, 700_000]) {
      const capture = build(testStore(), [{ bytes: lines(size) }]);
      const path = join(capture.dir, 'output.bin');
      program('bgzip', '-i', path);
      expect(fs.existsSync(path)).toBe(false);
      expect(plainOf(capture.dir).equals(lines(size))).toBe(true);
      fs.rmSync(`${path}.gz.gzi`);
      expect(plainOf(capture.dir).equals(lines(size))).toBe(true);
    }
  });

  it.skipIf(NO_BGZIP)('that bgzip put together of two is read by us', () => {
    const { dir } = build(testStore(), [{ bytes: 'a' }]);
    const packed = [lines(100_000), lines(70_000)].map((bytes) => {
      const path = join(tempDir(), 'part');
      fs.writeFileSync(path, bytes);
      return program('bgzip', '-c', path);
    });
    fs.rmSync(join(dir, 'output.bin'));
    setFile({ dir }, 'output.bin.gz', Buffer.concat(packed));
    expect(plainOf(dir).equals(Buffer.concat([lines(100_000), lines(70_000)]))).toBe(true);
  });
});

it('is whole wherever the packer is killed, and packed by the next', () => {
  const packer = compile(`
    import * as fs from 'node:fs';
    import { packCapture } from '../../src/capture/packed/pack.ts';
    const [dir, last] = process.argv.slice(2);
    let count = 0;
    const step = (act) => (...args) => {
      count += 1;
      if (count === Number(last)) process.kill(process.pid, 'SIGKILL');
      return act(...args);
    };
    const names = ['openSync', 'writeSync', 'fsyncSync', 'renameSync', 'unlinkSync', 'closeSync'];
    packCapture(dir, { ...fs, ...Object.fromEntries(names.map((name) => [name, step(fs[name])])) });
    console.log(count);
  `);
  const bytes = lines(100_000);
  const made = () => build(testStore(), [{ bytes }]).dir;
  const run = (dir: string, last: number) =>
    spawnSync(process.execPath, [packer, dir, String(last)], { encoding: 'utf8' });
  const steps = Number(run(made(), 0).stdout);
  expect(steps).toBeGreaterThan(15);
  for (let last = 1; last <= steps; last += 1) {
    const dir = made();
    const { signal, stderr } = run(dir, last);
    expect([signal, stderr]).toEqual(['SIGKILL', '']);
    expect(plainOf(dir).equals(bytes)).toBe(true);
    packCapture(dir);
    expect(plainOf(dir).equals(bytes)).toBe(true);
    expect(fs.readdirSync(dir).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    expect(fs.existsSync(join(dir, 'output.bin'))).toBe(false);
  }
});
