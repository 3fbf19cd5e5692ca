// Tests start real processes, so they run in forks, two at a time, with room for a busy machine.
import { randomInt } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig, type ViteUserConfig } from 'vitest/config';

// It makes every Node start slower, and the tests start hundreds.
delete process.env.NODE_EXTRA_CA_CERTS;

const ci = process.env.CI === 'true';
const report = process.env.CUFF_TEST_REPORT ?? join(tmpdir(), `cuff-tests-${process.pid}.json`);

const test: ViteUserConfig['test'] = {
  include: ['test/**/*.test.ts'],
  globalSetup: ['test/global-setup.ts'],
  setupFiles: ['test/setup.ts'],
  pool: 'forks',
  maxWorkers: 2,
  // A test waits for facts; this only ends what would never come.
  testTimeout: 600_000,
  hookTimeout: 600_000,
  reporters: ci ? ['default', ['json', { outputFile: report }]] : ['default'],
};

export default defineConfig(({ mode }) => {
  if (mode === 'long') process.env.CUFF_LONG = '1';
  if (process.env.CUFF_LONG === '1') process.env.CUFF_SEED ??= String(randomInt(2 ** 31));
  return { test };
});
