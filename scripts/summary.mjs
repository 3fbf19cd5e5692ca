// The last words of CI: vitest's own closing summaries once more, and one plain line with the
// counts of their reports together. Fails when a report is missing or counts no passed test.
//   node scripts/summary.mjs LOG REPORT [LOG REPORT]...
import { readFileSync } from 'node:fs';

const total = { passed: 0, failed: 0 };
for (let at = 2; at < process.argv.length; at += 2) {
  const [log, report] = process.argv.slice(at);
  console.log(closing(log));
  const { passed, failed } = counts(report);
  if (passed === 0 || failed > 0) process.exitCode = 1;
  total.passed += passed;
  total.failed += failed;
}
console.log(`${total.passed} passed, ${total.failed} failed`);

function closing(log) {
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
  const start = lines.findLastIndex((line) => /^\s*Test Files\s/.test(line));
  const rest = start < 0 ? [] : lines.slice(start);
  const end = rest.indexOf('');
  return (end < 0 ? rest : rest.slice(0, end)).join('\n');
}

function counts(report) {
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
