// Brings dist/ and the runner up to date once before the tests, so that `vitest run test/one` tests
// the sources as they are. Costs a few hashes when nothing changed.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { seedText } from './seed.ts';

export function setup(): void {
  process.stderr.write(`${seedText()}\n`);
  const script = join(import.meta.dirname, '..', 'scripts', 'build.mjs');
  const result = spawnSync(process.execPath, [script], { stdio: ['ignore', 'ignore', 'inherit'] });
  if (result.status === 0) return;
  // While somebody works on one room, its tests should run although another room does not build.
  if (process.env.CI === 'true') throw new Error('The build failed.');
  process.stderr.write('The build failed: tests of dist/ and of the runner see an older build.\n');
}

export function teardown(): void {
  if (process.env.CUFF_PROOFS !== undefined) rmSync(process.env.CUFF_PROOFS, { force: true });
}
