// docs/cli.md is what the help of the programs says.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');

it('docs/cli.md is current: `node scripts/cli-reference.mjs` writes it', () => {
  const args = [join(ROOT, 'scripts/cli-reference.mjs'), '--print'];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  expect(readFileSync(join(ROOT, 'docs/cli.md'), 'utf8')).toBe(stdout);
});
