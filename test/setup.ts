// Before each test file: property tests begin with the seed of this run, which global-setup.ts has
// printed. After it: the tests that prove requirements have the names that stand in the table, and
// what they proved is reported to the gate.
import { relative } from 'node:path';
import { configureGlobal } from 'fast-check';
import { afterAll, type RunnerTestSuite } from 'vitest';
import { folderOf, provenBy, readProofs, report, type TestResult } from './proofs.ts';
import { seedOf } from './seed.ts';

configureGlobal({ seed: seedOf('properties') });

// biome-ignore lint/correctness/noEmptyPattern: vitest wants a pattern for what is not used
afterAll(({}, suite) => {
  const file = relative(import.meta.dirname, suite.file.filepath).replaceAll('\\', '/');
  const proofs = readProofs(folderOf(file))[file];
  if (proofs !== undefined) report(provenBy(file, proofs, testsOf(suite)));
});

function testsOf(suite: RunnerTestSuite, above: readonly string[] = []): TestResult[] {
  return suite.tasks.flatMap((task) => {
    const names = [...above, task.name];
    if (task.type === 'suite') return testsOf(task, names);
    const passed = task.mode === 'run' && task.result?.state === 'pass';
    return [{ name: names.join(' > '), passed }];
  });
}
