// The health of a recorder: six keys, the disk really tried, and the reasons in words.
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { REAL_DISK, type RecorderFacts, recorderHealth } from '../../src/ops/health.ts';

function facts(directory: string): RecorderFacts {
  const session = '20260118_143052_a7b3c9d2-e4f5';
  return { directory, recording: true, trouble: undefined, session, entries: 15 };
}

function temp(): string {
  const dir = fs.mkdtempSync(join(tmpdir(), 'cuff-health-'));
  onTestFinished(() => fs.rmSync(dir, { recursive: true, force: true }));
  return dir;
}

const roomy = { ...REAL_DISK, freeBytes: () => 2 ** 40 };

describe('health', () => {
  it('is the six keys of the seed, and why', () => {
    expect(recorderHealth(facts(temp()), roomy)).toEqual({
      healthy: true,
      recording_enabled: true,
      directory_writable: true,
      disk_space_ok: true,
      current_session: '20260118_143052_a7b3c9d2-e4f5',
      entries_recorded: 15,
      reasons: [],
    });
  });

  it('has no session and no entries before there are any', () => {
    const none = { ...facts(temp()), recording: false, session: undefined, entries: 0 };
    expect(recorderHealth(none, roomy)).toMatchObject({
      recording_enabled: false,
      current_session: null,
      entries_recorded: 0,
    });
  });

  it('is good exactly when the directory is writable and the disk has room', () => {
    for (const writable of [true, false]) {
      for (const room of [true, false]) {
        const disk = {
          writeProblem: () => (writable ? undefined : 'EROFS'),
          freeBytes: () => (room ? 100 : 99) * 2 ** 20,
        };
        const health = recorderHealth(facts('/journal'), disk);
        expect(health).toMatchObject({
          healthy: writable && room,
          directory_writable: writable,
          disk_space_ok: room,
        });
        expect(health.reasons).toEqual([
          ...(writable ? [] : ['/journal cannot be written: EROFS.']),
          ...(room ? [] : ['Only 99 MiB are free for /journal.']),
        ]);
      }
    }
  });

  it('tells what happened to the last command', () => {
    const { reasons } = recorderHealth({ ...facts(temp()), trouble: 'disk full' }, roomy);
    expect(reasons).toEqual(['The last command was not recorded: disk full.']);
  });

  it('is found out by writing, and leaves nothing behind', () => {
    const dir = temp();
    expect(REAL_DISK.writeProblem(dir)).toBeUndefined();
    expect(REAL_DISK.writeProblem(join(dir, 'not', 'yet'))).toBeUndefined();
    expect(fs.readdirSync(dir)).toEqual([]);
    fs.writeFileSync(join(dir, 'file'), '');
    expect(REAL_DISK.writeProblem(join(dir, 'file', 'below'))).toBe('ENOTDIR');
    expect(REAL_DISK.writeProblem('/proc/self')).toMatch(/^E[A-Z]+$/);
    expect(REAL_DISK.freeBytes(dir)).toBeGreaterThan(0);
  });
});
