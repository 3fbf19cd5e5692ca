// The last words of CI: vitest's own closing summary once more, and one plain line with the counts
// of its report. Fails when there is no report or when it counts no passed test.
//   node scripts/summary.mjs LOG REPORT
import { readFileSync } from 'node:fs';

const [log, report] = process.argv.slice(2);
const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
const start = lines.findLastIndex((line) => /^\s*Test Files\s/.test(line));
const rest = start < 0 ? [] : lines.slice(start);
const end = rest.indexOf('');
console.log((end < 0 ? rest : rest.slice(0, end)).join('\n'));

const { passed, failed } = counts();
console.log(`${passed} passed, ${failed} failed`);
if (passed === 0 || failed > 0) process.exitCode = 1;

function counts() {
  try {
    const { numPassedTests, numFailedTests, numFailedTestSuites, success } = JSON.parse(
      readFileSync(report, 'utf8'),
    );
    // A file that could not even be loaded has no tests to fail, but it is a failure.
    const unseen = !success && numFailedTests === 0 ? Math.max(1, numFailedTestSuites) : 0;
    return { passed: numPassedTests, failed: numFailedTests + unseen };
  } catch {
    return { passed: 0, failed: 1 }; // No report: the tests did not get to their end.
  }
}
