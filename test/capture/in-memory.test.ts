// A capture whose files are in memory: every reader finds it there, it is brought to the disk
// whichever operation fails, and only a directory that belongs to it is taken for its own.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newIdentity } from '../../src/age/x25519.ts';
import { encodeFinal } from '../../src/capture/format.ts';
import { bringHome, createInMemory, sweepMemory } from '../../src/capture/in-memory.ts';
import { encryptCapture } from '../../src/capture/packed/encrypt.ts';
import type { PackOps } from '../../src/capture/packed/pack.ts';
import { captureDir } from '../../src/capture/paths.ts';
import { readOutput } from '../../src/capture/reader.ts';
import { createCapture, listCaptures, openCapture, pinCapture } from '../../src/capture/store.ts';
import { removeCapture, sweep } from '../../src/capture/sweep.ts';
import { follow } from '../../src/capture/wait.ts';
import { to } from '../age/helper.ts';
import { faulty } from '../sealing/redact/faulty.ts';
import { finalOf, INTENT, metaOf, RUNNER, STARTER, tempDir, testStore } from './helper.ts';

const ARGV = ['echo', 'wombat'];

function capture({ output = 'a wombat\n', over = true } = {}) {
  const store = testStore();
  const folder = join(tempDir(), 'cuff');
  const memory = join(folder, 'one-run');
  const command = { kind: 'argv', argv: ARGV } as const;
  const meta = metaOf('one', { command, journal: INTENT, runner: RUNNER, transport: 'merged' });
  const dir = createInMemory(store, memory, meta, ARGV);
  fs.writeFileSync(join(dir, 'output.bin'), output, { mode: 0o600 });
  const final = encodeFinal(finalOf({ outputBytes: output.length }), 'one');
  if (over) fs.writeFileSync(join(dir, 'final.json'), final, { mode: 0o600 });
  return { store, folder, memory, dir, home: join(store.sessions, 'one'), meta };
}

function outputOf(store: ReturnType<typeof testStore>): string {
  const { chunks } = readOutput(openCapture(store, 'one'), 0, 1_000);
  return Buffer.concat(chunks.map(({ bytes }) => bytes)).toString();
}

function textsIn(dir: string): string {
  const names = fs.readdirSync(dir, { recursive: true, encoding: 'utf8' });
  const files = names.map((name) => join(dir, name)).filter((path) => fs.statSync(path).isFile());
  return files.map((path) => fs.readFileSync(path, 'latin1')).join('\n');
}

describe('a capture in memory', () => {
  it('is found by every reader, and has no word on the disk', () => {
    const { store, dir, home } = capture();
    expect(captureDir(store.root, 'one')).toBe(dir);
    expect(fs.statSync(dir).mode & 0o777).toBe(0o700);
    expect(outputOf(store)).toBe('a wombat\n');
    const [listed] = listCaptures(store);
    expect([listed?.state, listed?.meta?.argv, listed?.outputBytes]).toEqual(['exited', ARGV, 9]);
    expect(fs.readdirSync(home).sort()).toEqual(['live', 'meta.json']);
    expect(textsIn(home)).not.toContain('wombat');
    expect(JSON.parse(fs.readFileSync(join(home, 'meta.json'), 'utf8'))).toMatchObject({
      session_id: 'one',
      command: [],
      in_memory: true,
      journal: { session_id: INTENT.sessionId, entry: { command: '(was in memory)' } },
    });
  });

  it('that is gone is a failed run with a reason, which retention removes', async () => {
    const { store, memory } = capture({ over: false });
    store.living.push(RUNNER, STARTER);
    expect(openCapture(store, 'one').state).toBe('running');
    fs.rmSync(memory, { recursive: true });
    const { state, reason, outputOpen } = openCapture(store, 'one');
    expect([state, reason, outputOpen]).toEqual([
      'failed',
      'was kept in memory, which is gone',
      false,
    ]);
    expect(outputOf(store)).toBe('');
    const later = { ...store, now: () => Date.now() + 400 * 86_400_000 };
    const rows: string[] = [];
    for await (const { id, reason } of sweep(later)) rows.push(`${id} ${reason}`);
    expect(rows).toEqual(['one expired']);
    expect(fs.readdirSync(store.sessions)).toEqual([]);
  });

  it('is one that no other can take the place of', () => {
    const { store, folder, dir, meta } = capture();
    const again = (): string => createInMemory(store, join(folder, 'other'), meta, ARGV);
    expect(again).toThrow("There is a session 'one' already.");
    expect(() => createCapture(store, meta, ARGV)).toThrow("There is a session 'one' already.");
    expect(captureDir(store.root, 'one')).toBe(dir);
    expect(fs.readdirSync(folder)).toEqual(['one-run']);
  });

  it('that cannot be made leaves nothing behind', () => {
    const store = testStore();
    const folder = tempDir();
    fs.writeFileSync(join(folder, 'file'), '');
    const meta = metaOf('one', {});
    expect(() => createInMemory(store, join(folder, 'file', 'x'), meta, ARGV)).toThrow();
    expect(fs.readdirSync(store.sessions)).toEqual([]);
    expect(createCapture(store, meta, ARGV)).toBe(join(store.sessions, 'one'));
  });

  it('is removed with what is on the disk', async () => {
    const { store, folder, dir } = capture();
    await removeCapture(dir);
    expect([fs.readdirSync(store.sessions), fs.readdirSync(folder)]).toEqual([[], []]);
  });
});

describe('what else is in the place of its files', () => {
  it('is not taken for them: a link, an open directory, one that names another', () => {
    const { store, dir, home, memory } = capture();
    const live = join(home, 'live');
    const other = join(tempDir(), 'sessions', 'one');
    fs.mkdirSync(other, { recursive: true, mode: 0o700 });
    fs.writeFileSync(join(other, 'output.bin'), 'planted');
    for (const path of [other, `${dir}/..`, 'one', '/etc', '']) {
      fs.writeFileSync(live, `${path}\n`);
      expect([path, captureDir(store.root, 'one')]).toEqual([path, home]);
    }
    fs.writeFileSync(live, `${dir}\n`);
    fs.chmodSync(dir, 0o755);
    expect(captureDir(store.root, 'one')).toBe(home);
    fs.chmodSync(dir, 0o700);
    fs.renameSync(dir, `${dir}-moved`);
    fs.symlinkSync(`${dir}-moved`, dir);
    expect(captureDir(store.root, 'one')).toBe(home);
    fs.rmSync(dir);
    fs.renameSync(`${dir}-moved`, dir);
    fs.renameSync(live, join(memory, 'live'));
    fs.symlinkSync(join(memory, 'live'), live);
    expect(captureDir(store.root, 'one')).toBe(home);
  });
});

describe('bringing it to the disk', () => {
  it('is done again from the beginning, whichever operation fails', () => {
    const mine = newIdentity();
    let operations = Number.POSITIVE_INFINITY;
    for (let fail = 0; fail <= operations; fail += 1) {
      const { store, home, dir, folder } = capture();
      pinCapture(store, 'one', true);
      encryptCapture(dir, [to(mine)]);
      const disk = faulty(fail);
      const moved = (): void => bringHome(dir, disk as unknown as PackOps);
      if (fail === 0) moved();
      else expect(moved).toThrow('EIO');
      if (fail === 0) operations = disk.count;
      const { state } = openCapture(store, 'one');
      expect([fail, state]).toEqual([fail, 'exited']);
      bringHome(dir);
      expect(captureDir(store.root, 'one')).toBe(home);
      expect([fail, fs.readdirSync(home).sort()]).toEqual([
        fail,
        [
          'final.json',
          'final.json.age',
          'meta.json',
          'meta.json.age',
          'output.bin.gz.age',
          'pinned',
        ],
      ]);
      expect(openCapture(store, 'one').pinned).toBe(true);
      expect(textsIn(home)).not.toMatch(/wombat|in_memory/);
      sweepMemory(folder, Date.now() + 120_000);
      expect([fail, fs.readdirSync(folder)]).toEqual([fail, []]);
    }
    expect(operations).toBeGreaterThan(25);
  });

  it('is not noticed by a reader that follows it', async () => {
    const { store, dir } = capture({ over: false, output: 'one\n' });
    store.living.push(RUNNER);
    const seen: string[] = [];
    for await (const { chunks } of follow(store, 'one')) {
      seen.push(...chunks.map(({ bytes }) => Buffer.from(bytes).toString()));
      if (seen.length > 1) continue;
      fs.appendFileSync(join(dir, 'output.bin'), 'two\n');
      const final = encodeFinal(finalOf({ outputBytes: 8 }), 'one');
      fs.writeFileSync(join(dir, 'final.json'), final, { mode: 0o600 });
      bringHome(dir);
    }
    expect(seen.join('')).toBe('one\ntwo\n');
  });

  it('leaves what is young, and what is in use', () => {
    const { folder, memory } = capture();
    sweepMemory(folder, Date.now() + 120_000);
    expect(fs.readdirSync(folder)).toEqual(['one-run']);
    fs.rmSync(join(memory, 'sessions', 'one', 'home'));
    sweepMemory(folder, Date.now());
    expect(fs.readdirSync(folder)).toEqual(['one-run']);
    sweepMemory(folder, Date.now() + 120_000);
    expect(fs.readdirSync(folder)).toEqual([]);
  });
});
