// The lanes: every name in the lists is a test file, and a pure test cannot start a process.
import * as childProcess from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { laneComplaint, laneOf, PURE_FILES, REAL_FILES, testFiles } from './lanes.ts';

describe('the lists', () => {
  it('name test files that exist, each once', () => {
    const names = [...PURE_FILES, ...REAL_FILES];
    const path = (name: string) => join(import.meta.dirname, `${name}.test.ts`);
    expect(names.filter((name) => !existsSync(path(name)))).toEqual([]);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it('give every file one lane', () => {
    expect(laneOf('lanes.test.ts')).toBe('pure');
    expect(laneOf('text/new.test.ts')).toBe('pure');
    expect(laneOf('cli/new.test.ts')).toBe('real');
    expect(laneOf('cli/stop-signal.test.ts')).toBe('pure');
    expect(laneOf('text/redact.test.ts')).toBe('real');
    expect(laneOf('requirements.test.ts')).toBe('gate');
    expect(laneOf('agents/new.test.ts')).toBe('agents');
    const all = (['pure', 'real', 'gate', 'agents'] as const).flatMap(testFiles);
    expect(new Set(all).size).toBe(all.length);
  });
});

describe('a pure test', () => {
  const SENTENCE = 'Name its file in test/lanes.ts, so that it runs in the real lane.';

  it.each([
    ['exec', () => childProcess.exec('true')],
    ['execFile', () => childProcess.execFile('true')],
    ['execFile as a promise', () => promisify(childProcess.execFile)('true')],
    ['execFileSync', () => childProcess.execFileSync('true')],
    ['execSync', () => childProcess.execSync('true')],
    ['fork', () => childProcess.fork('none.js')],
    ['spawn', () => childProcess.spawn('true')],
    ['spawnSync', () => childProcess.spawnSync('true')],
    ['node-pty', () => process.dlopen({ exports: {} }, '/none/pty.node')],
  ])('that starts a process with %s is told where it belongs', async (_, start) => {
    await expect(async () => start()).rejects.toThrow(SENTENCE);
  });

  it('that starts one from another module is told, too', async () => {
    const { default: again } = await import('node:child_process');
    expect(() => again.spawn('true')).toThrow(SENTENCE);
  });
});

describe('a file of the real lane', () => {
  const test = { mode: 'run' } as const;
  const skipped = { mode: 'skip' } as const;

  it('that starts no process is told to move, unless some of its tests did not run', () => {
    const group = (...tasks: { mode: 'run' | 'skip' }[]) => ({ mode: 'run', tasks }) as const;
    expect(laneComplaint('a.test.ts', 0, [test, group(test)])).toBe(
      'a.test.ts starts no process, so it belongs into the pure lane: see test/lanes.ts.',
    );
    expect(laneComplaint('a.test.ts', 1, [test])).toBeUndefined();
    expect(laneComplaint('a.test.ts', 0, [test, group(skipped)])).toBeUndefined();
    expect(laneComplaint('a.test.ts', 0, [skipped, test])).toBeUndefined();
  });
});
