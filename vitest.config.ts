// Two lanes: pure tests share a worker for each core, tests with real processes have a worker each,
// two at a time, with room for a busy machine. The gate of the requirements comes behind both.
import { randomInt } from 'node:crypto';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { type Lane, testFiles } from './test/lanes.ts';

// It makes every Node start slower, and the tests start hundreds.
delete process.env.NODE_EXTRA_CA_CERTS;

const ci = process.env.CI === 'true';
const report = process.env.CUFF_TEST_REPORT ?? join(tmpdir(), `cuff-tests-${process.pid}.json`);

// Where test files say what they have proven; `test/global-setup.ts` removes it.
process.env.CUFF_PROOFS = join(tmpdir(), `cuff-proofs-${process.pid}`);

type TestOptions = TestProjectInlineConfiguration['test'];

function lane(
  name: Lane,
  groupOrder: number,
  options: TestOptions,
): TestProjectInlineConfiguration {
  return {
    test: {
      name,
      include: testFiles(name),
      sequence: { groupOrder },
      pool: 'forks',
      // A test waits for facts; this only ends what would never come.
      testTimeout: 600_000,
      hookTimeout: 600_000,
      ...options,
    },
  };
}

function lanes(): TestProjectInlineConfiguration[] {
  return [
    lane('pure', 0, {
      isolate: false,
      restoreMocks: true,
      maxWorkers: availableParallelism(),
      setupFiles: ['test/lane-pure.ts', 'test/setup.ts'],
    }),
    lane('real', 1, { maxWorkers: 2, setupFiles: ['test/lane-real.ts', 'test/setup.ts'] }),
    lane('gate', 2, { setupFiles: ['test/lane-pure.ts'] }),
  ];
}

/** `npm run test:agents` alone: it needs programs of other makers, which are fetched first. */
function agentsLane(): TestProjectInlineConfiguration {
  return lane('agents', 0, {
    maxWorkers: 2,
    testTimeout: 1_500_000, // two programs, one after the other
    setupFiles: ['test/lane-real.ts', 'test/setup.ts'],
  });
}

export default defineConfig(({ mode }) => {
  if (mode === 'long') process.env.CUFF_LONG = '1';
  if (process.env.CUFF_LONG === '1') process.env.CUFF_SEED ??= String(randomInt(2 ** 31));
  return {
    test: {
      globalSetup: ['test/global-setup.ts'],
      reporters: ci ? ['default', ['json', { outputFile: report }]] : ['default'],
      projects: mode === 'agents' ? [agentsLane()] : lanes(),
    },
  };
});
