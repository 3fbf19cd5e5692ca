// Prints what a program that a developer runs would print, by its name: the same each time. Copied
// into the project of `bench/commands/project.mjs`, where the commands of the list call it.
const WORDS = 'cart order user token cache queue mail invoice search session report audit'.split(
  ' ',
);
const VERBS = 'adds keeps drops merges parses sorts rounds retries splits escapes'.split(' ');

let state = 7;
const next = (below) => {
  state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
  return Math.floor((state / 2_147_483_648) * below);
};
const word = () => WORDS[next(WORDS.length)];
const verb = () => VERBS[next(VERBS.length)];
const out = (line) => process.stdout.write(`${line}\n`);
const err = (line) => process.stderr.write(`${line}\n`);
const many = (count, line) => {
  for (let i = 1; i <= count; i += 1) out(line(i));
};
const phrase = (i) => `${verb()} the ${word()} of a ${word()} that has no ${word()} (case ${i})`;

const SAYINGS = {
  /** A test run with its one failure in the middle of 160 kB. */
  tests() {
    out(' RUN  v3.2.4 /app\n');
    many(900, (i) => ` ✓ src/${word()}/${word()}.test.ts > ${word()} > ${phrase(i)} ${next(40)}ms`);
    out(' ✗ src/cart/discount.test.ts > discount > applies the voucher once 14ms');
    out('   AssertionError: expected 85 to be 90 // Object.is equality');
    out('     at src/cart/discount.test.ts:41:27');
    many(900, (i) => ` ✓ src/${word()}/${word()}.test.ts > ${word()} > ${phrase(i)} ${next(40)}ms`);
    out('\n Test Files  1 failed | 143 passed (144)');
    out('      Tests  1 failed | 1800 passed (1801)');
    out('   Duration  41.07s');
    process.exitCode = 1;
  },
  /** `make -k`: one translation unit fails in the middle, the rest goes on. */
  make() {
    const cc = (i) =>
      `cc -O2 -g -Wall -Wextra -Iinclude -Ibuild/gen -DNDEBUG -DVERSION=\\"4.2.${i}\\" -MMD -MP ` +
      `-c src/${word()}/${word()}_${verb()}.c -o build/obj/${word()}/${word()}_${verb()}.o`;
    many(520, cc);
    out("src/net/socket.c:212:17: error: 'struct conn' has no member named 'fd'");
    out('  212 |         close(conn->fd);');
    out('make: *** [Makefile:31: build/obj/net/socket.o] Error 1');
    many(520, cc);
    out("make: Target 'all' not remade because of errors.");
    process.exitCode = 2;
  },
  tsc() {
    many(
      40,
      (i) =>
        `src/${word()}/${verb()}.ts(${i},${next(60) + 1}): error TS2345: Argument of type ` +
        `'${word()}' is not assignable to parameter of type '${word()}'.`,
    );
    out("src/main.ts(90,3): error TS2304: Cannot find name 'startServer'.");
    out('\nFound 41 errors in 22 files.');
    process.exitCode = 2;
  },
  /** Progress bars: one line that is written over, then the summary. */
  npm() {
    for (let i = 1; i <= 700; i += 1) {
      const bar = '#'.repeat(Math.floor(i / 20)).padEnd(35, '.');
      process.stdout.write(`\r[${bar}] ${i}/700 reify:${word()}-${word()}: timing`);
    }
    out('\n\nadded 312 packages, and audited 313 packages in 9s');
    out('\n2 moderate severity vulnerabilities\n\nTo address all issues, run:\n  npm audit fix');
  },
  cargo() {
    many(90, (i) => `   Compiling ${word()}-${verb()} v1.${i}.${next(9)}`);
    out('warning: unused variable: `retries`');
    out('  --> src/main.rs:88:9');
    out('    Finished `release` profile [optimized] target(s) in 1m 12s');
  },
  migrate() {
    many(3_000, (i) => `[${i}/3000] inserted batch ${i}: 500 rows in ${next(90)} ms`);
    out('migration 0042_split_orders done: 1500000 rows');
  },
  /** A container build that fails at a step in the middle of a verbose log. */
  container() {
    many(
      2_600,
      (i) => `#${next(9) + 1} ${i / 10} Get:${i} bookworm/main ${word()} ${next(900)} kB`,
    );
    out('#7 [4/9] RUN pip install -r requirements.txt');
    out('#7 31.4 ERROR: No matching distribution found for torch==9.9.9');
    many(600, (i) => `#8 ${i / 10} CANCELED ${word()} ${phrase(i)}`);
    err('ERROR: failed to solve: process "/bin/sh -c pip install" exit code: 1');
    process.exitCode = 1;
  },
  pytest() {
    out('============================= test session starts =============================');
    many(24, (i) => `tests/test_${word()}_${i}.py ${'.'.repeat(next(40) + 4)} [ ${i * 4}%]`);
    out('=================================== FAILURES ===================================');
    out('__________________________ test_total_includes_tax ____________________________');
    out('    def test_total_includes_tax():\n>       assert total(100) == 119');
    out('E       assert 100 == 119\nE        +  where 100 = total(100)');
    out('tests/test_tax.py:12: AssertionError');
    out('FAILED tests/test_tax.py::test_total_includes_tax - assert 100 == 119');
    out('========================= 1 failed, 311 passed in 4.02s =========================');
    process.exitCode = 1;
  },
  gradle() {
    many(16, (i) => `> Task :${word()}:${verb()}${i} UP-TO-DATE ${phrase(i)}`);
    out('> Task :app:compileKotlin FAILED');
    out('e: file:///app/src/Main.kt:17:24 Unresolved reference: PaymentGateway');
    many(16, (i) => `> Task :${word()}:${verb()}${i} SKIPPED ${phrase(i)}`);
    err('BUILD FAILED in 38s\n412 actionable tasks: 3 executed, 409 up-to-date');
    process.exitCode = 1;
  },
  terraform() {
    many(90, (i) => `aws_instance.${word()}_${verb()}[${i}]: Refreshing state... [id=i-0a${i}]`);
    out('\nTerraform will perform the following actions:\n');
    out('  # aws_s3_bucket.logs will be destroyed\n  - resource "aws_s3_bucket" "logs" {}');
    out('\nPlan: 1 to add, 0 to change, 1 to destroy.');
  },
  eslint() {
    const red = (text) => `\u001b[31m${text}\u001b[39m`;
    out('\n\u001b[4m/app/src/cart.ts\u001b[24m');
    out(`  \u001b[2m14:7\u001b[22m  ${red('error')}  'total' is never reassigned  prefer-const`);
    out(`  \u001b[2m88:1\u001b[22m  ${red('error')}  Unexpected console statement  no-console`);
    out('\n\u001b[31m\u001b[1m✖ 2 problems (2 errors, 0 warnings)\u001b[22m\u001b[39m');
    process.exitCode = 1;
  },
  api() {
    const items = Array.from({ length: 110 }, (_, id) => ({ id, name: word(), price: next(999) }));
    out(JSON.stringify({ status: 'ok', count: 110, items }));
  },
  warnings() {
    err('(node:4242) [DEP0040] DeprecationWarning: The `punycode` module is deprecated.');
    out('bundle written to dist/app.js (148 kB)');
  },
  /** A menu that draws itself again with cursor movements. */
  menu() {
    for (const one of ['sqlite', 'mysql', 'postgres']) {
      process.stdout.write(`\r\u001b[2K? Database \u001b[36m${one}\u001b[39m`);
    }
    out('\r\u001b[2K✔ Database · postgres');
  },
  crash() {
    const config = undefined;
    out('reading config');
    out(config.port);
  },
  passing() {
    out('> app@1.4.0 test\n> vitest run\n');
    out(' Test Files  12 passed (12)\n      Tests  96 passed (96)');
  },
  /** Both streams, and the cause on stderr between a thousand lines of each. */
  deploy() {
    many(1_100, (i) => `uploaded assets/${word()}/${verb()}-${i}.js ${phrase(i)}`);
    for (let i = 0; i < 700; i += 1) err(`retry ${word()} ${phrase(i)}`);
    err('fatal: authentication failed for https://deploy.example.test');
    for (let i = 0; i < 700; i += 1) err(`cleanup ${word()} ${phrase(i)}`);
    process.exitCode = 128;
  },
};

SAYINGS[process.argv[2]]();
