// A project and a state root of a test's own, and tools that are closed when it is over.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { HouseOptions } from '../../src/index.ts';

export type Home = {
  readonly dir: string;
  readonly options: HouseOptions & { readonly cwd: string; readonly stateRoot: string };
};

export function home(): Home {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'cuff-library-')));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));
  return { dir, options: { cwd: dir, stateRoot: join(dir, 'state') } };
}

/** Closed before the home is removed. */
export function closing<T extends { close(): Promise<void> }>(made: T): T {
  onTestFinished(() => made.close());
  return made;
}
