// Which lines look like errors, and which of many are told.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ErrorPick, errorWeight } from '../../src/text/error-lines.ts';

const STRONG = [
  "src/net/socket.c:212:17: error: 'struct conn' has no member named 'fd'",
  "src/main.ts(90,3): error TS2304: Cannot find name 'startServer'.",
  '   AssertionError: expected 85 to be 90',
  "TypeError: Cannot read properties of undefined (reading 'port')",
  'java.lang.NullPointerException',
  ' ✗ src/cart/discount.test.ts > applies the voucher once',
  'FAIL src/cart.test.ts',
  '--- FAIL: TestTotal (0.00s)',
  'not ok 4 - totals',
  'E       assert 100 == 119',
  'e: file:///app/src/Main.kt:17:24 Unresolved reference: PaymentGateway',
  "thread 'main' panicked at src/main.rs:4:5",
  'Traceback (most recent call last):',
  'fatal: authentication failed for https://example.test',
  'make: *** [Makefile:31: build/socket.o] Error 1',
  'error[E0382]: borrow of moved value: `x`',
  'ERROR: No matching distribution found for torch==9.9.9',
  'Segmentation fault (core dumped)',
  'bash: pnpmx: command not found',
  'sh: 1: pnpmx: not found',
  'npm ERR! code 1',
  "Error [ERR_MODULE_NOT_FOUND] of 'x'",
  'curl: (6) Could not resolve host: db.example.org',
  'dial tcp 127.0.0.1:5432: connect: connection refused',
  'Killed',
  'CRITICAL: the queue is full',
  'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory',
];

const NONE = [
  '',
  'Found 0 errors. Watching for file changes.',
  ' ✓ src/errors.test.ts > fails on an error 3ms',
  'ok 12 - rejects with an error',
  'Tests  1801 passed (1801)',
  'errors: 0',
  'no failures',
  'compiling terrorist-free.c and failover.c',
];

describe('a line', () => {
  it.each(STRONG)('looks like an error: %s', (line) => {
    expect(errorWeight(line)).toBe('strong');
  });

  it.each(NONE)('does not: %s', (line) => {
    expect(errorWeight(line)).toBe('none');
  });

  it('is around one at least, when it only speaks of one', () => {
    expect(errorWeight('      Tests  1 failed | 1800 passed (1801)')).toBe('weak');
    expect(errorWeight('retrying: the request failed')).toBe('weak');
    expect(errorWeight('Tests run: 12, Failures: 1')).toBe('weak');
  });
});

describe('of many lines', () => {
  it('five are told, those with the error itself first, each kind once; all count', () => {
    const pick = new ErrorPick();
    pick.add(1, 'retrying: the request failed');
    for (let i = 2; i <= 100; i += 1) pick.add(i, `error: cannot open file ${i}`);
    for (let i = 101; i <= 106; i += 1) pick.add(i, `error: ${'x'.repeat(i)}`);
    const { lines, count } = pick.result;
    expect(lines.map(({ number }) => number)).toEqual([2, 101, 102, 103, 104]);
    expect(count).toBe(105);
  });

  it('none is told that was not there, and none is longer than a line may be', () => {
    const line = fc.oneof(fc.constantFrom(...STRONG, ...NONE), fc.string({ maxLength: 3_000 }));
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), (texts) => {
        const pick = new ErrorPick();
        for (const [i, text] of texts.entries()) pick.add(i + 1, text);
        const { lines, count } = pick.result;
        expect(lines.length).toBeLessThanOrEqual(Math.min(5, count));
        expect(count > 0).toBe(texts.some((text) => errorWeight(text) !== 'none'));
        for (const { number, text } of lines) {
          expect([...text].length).toBeLessThanOrEqual(201);
          expect(texts[number - 1]?.startsWith(text.replace(/…$/, ''))).toBe(true);
        }
      }),
    );
  });
});
