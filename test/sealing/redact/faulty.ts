// A disk that fails on purpose.
import * as fs from 'node:fs';
import type { CaptureDisk } from '../../../src/sealing/redact/capture.ts';

/** Fails at one operation, from 1 on; counts them all. */
export function faulty(fail: number): CaptureDisk & { count: number } {
  const disk: Record<string, unknown> = { ...fs, count: 0 };
  const counting = disk as { count: number };
  for (const name of ['openSync', 'writeSync', 'fsyncSync', 'renameSync', 'unlinkSync'] as const) {
    const real = disk[name] as (...args: unknown[]) => unknown;
    disk[name] = (...args: unknown[]): unknown => {
      counting.count += 1;
      if (counting.count === fail) throw Object.assign(new Error('EIO: told to'), { code: 'EIO' });
      return real(...args);
    };
  }
  return disk as unknown as CaptureDisk & { count: number };
}
