// Runs the contract tests once with a runner that watches itself: AddressSanitizer and the
// undefined behaviour sanitizer. A report of theirs ends the runner, so it fails a test.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildRunner } from './native.mjs';
import { say } from './tools.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
/** Vitest takes the start of a path, and fails if no test file has it. */
const TESTS = 'test/shell/contract';
const FLAGS = ['-O1', '-g', '-fno-omit-frame-pointer', '-fno-sanitize-recover=all'];

try {
  process.exitCode = main();
} catch (error) {
  say(`sanitize: ${error.message}`);
  process.exitCode = 1;
}

function main() {
  const temp = mkdtempSync(join(tmpdir(), 'cuff-sanitize-'));
  try {
    const out = join(temp, 'runner');
    // Linked statically, else gcc's two libraries do not share the file for their reports.
    const libraries = ['-static-libasan', '-static-libubsan'];
    const extraFlags = [...FLAGS, '-fsanitize=address,undefined', ...libraries];
    buildRunner({ cc: 'gcc', out, extraFlags, link: 'dynamic', strip: false });
    // Reports go to files: stderr of a runner may belong to the command it runs.
    const log = join(temp, 'report');
    const env = {
      ...process.env,
      CUFF_RUNNER: out,
      ASAN_OPTIONS: `log_path=${log}:detect_leaks=1:abort_on_error=0:exitcode=99`,
      UBSAN_OPTIONS: `log_path=${log}:print_stacktrace=1:halt_on_error=1`,
    };
    delete env.CUFF_TEST_REPORT; // The report of the whole suite is not this one's to overwrite.
    const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
    const args = [vitest, 'run', TESTS, '--reporter=default'];
    const result = spawnSync(process.execPath, args, { cwd: ROOT, env, stdio: 'inherit' });
    const reports = readdirSync(temp).filter((name) => name.startsWith('report'));
    for (const name of reports) say(readFileSync(join(temp, name), 'utf8'));
    if (reports.length > 0) throw new Error(`${reports.length} report(s), see above.`);
    return result.status ?? 1;
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
}
