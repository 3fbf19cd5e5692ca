// Unified diffs: what `patch` would accept, and nothing a terminal would obey.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unifiedDiff } from '../../src/text/diff.ts';

describe('a diff', () => {
  it('shows three lines around each change', () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`);
    const changed = lines.with(1, 'new 2\n').with(15, 'new 16\nand more\n');
    expect(unifiedDiff('a.txt', lines.join(''), changed.join(''))).toBe(`--- a.txt
+++ a.txt
@@ -1,5 +1,5 @@
 line 1
-line 2
+new 2
 line 3
 line 4
 line 5
@@ -13,7 +13,8 @@
 line 13
 line 14
 line 15
-line 16
+new 16
+and more
 line 17
 line 18
 line 19
`);
  });

  it('shows a new file and a file that goes', () => {
    expect(unifiedDiff('a', undefined, 'x\n')).toBe('--- /dev/null\n+++ a\n@@ -0,0 +1,1 @@\n+x\n');
    expect(unifiedDiff('a', 'x\n', undefined)).toBe('--- a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x\n');
  });

  it('shows that the last line has no end', () => {
    const said = '\\ No newline at end of file';
    expect(unifiedDiff('a', 'x\ny', 'x\ny\n')).toBe(
      `--- a\n+++ a\n@@ -1,2 +1,2 @@\n x\n-y\n${said}\n+y\n`,
    );
    expect(unifiedDiff('a', 'x\ny', 'z\ny')).toBe(
      `--- a\n+++ a\n@@ -1,2 +1,2 @@\n-x\n+z\n y\n${said}\n`,
    );
    expect(unifiedDiff('a', 'x', 'x')).toBe('--- a\n+++ a\n');
  });

  it('shows no escape sequence as such', () => {
    expect(unifiedDiff('a\x1b', '', '\x1b[2J\r\n')).toContain('\n+\\x1b[2J\n');
  });

  it('is what turns the one text into the other', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 30 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        const [before, after] = [a, b].map((lines) => lines.map((line) => `${line}\n`).join(''));
        const diff = unifiedDiff('file', before, after);
        expect(patched(a, diff)).toEqual(b);
        const changes = diff.split('\n').filter((line) => /^[-+][a-d]$/.test(line)).length;
        expect(changes).toBe(a.length + b.length - 2 * commonLength(a, b));
      }),
    );
  });
});

describe('a diff of large texts', () => {
  const log = (count: number, change: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => `${change(i)}\n`).join('');

  it('shows the few lines that differ', () => {
    const before = log(100_000, (i) => `line ${i}`);
    const after = log(100_000, (i) => (i % 10_000 === 5_000 ? `new ${i}` : `line ${i}`));
    const diff = unifiedDiff('log', before, after);
    expect(diff.match(/^@@.*@@$/gm)).toHaveLength(10);
    expect(diff.match(/^[-+](line|new) /gm)).toHaveLength(20);
  });

  it('does not try every way to compare equal lines', () => {
    const before = log(300_000, (i) => (i % 3_000 === 0 ? `${i}` : 'ok'));
    const after = log(300_000, (i) => (i % 3_001 === 0 ? `${i}` : 'ok'));
    expect(unifiedDiff('log', before, after)).toContain('\n-3000\n');
  });

  it('is one change where all of them do', () => {
    const before = log(200_000, (i) => `line ${i}`);
    const after = `line 0\n${log(200_000, (i) => `other ${i}`)}line 199999\n`;
    const diff = unifiedDiff('log', before, after);
    expect(diff.slice(0, 61)).toBe(
      '--- log\n+++ log\n@@ -1,200000 +1,200002 @@\n line 0\n-line 1\n-li',
    );
    expect(diff.endsWith('+other 199999\n line 199999\n')).toBe(true);
  });
});

/** The length of the longest common subsequence. */
function commonLength(a: readonly string[], b: readonly string[]): number {
  let above = b.map(() => 0);
  for (const line of a) {
    const row: number[] = [];
    for (const [j, other] of b.entries()) {
      const same = (above[j - 1] ?? 0) + (line === other ? 1 : 0);
      row.push(Math.max(same, above[j] ?? 0, row[j - 1] ?? 0));
    }
    above = row;
  }
  return above.at(-1) ?? 0;
}

/** As `patch` does it: every hunk says which lines it found, and puts others in their place. */
function patched(lines: readonly string[], diff: string): string[] {
  const out = [...lines];
  let shift = 0;
  for (const hunk of diff.split(/^(?=@@ )/m).slice(1)) {
    const [head = '', ...body] = hunk.trimEnd().split('\n');
    const [, from, count, , added] = /^@@ -(\d+),(\d+) \+(\d+),(\d+) @@$/.exec(head) ?? [];
    const side = (sign: string) =>
      body.filter((line) => ` ${sign}`.includes(line[0] ?? '')).map((line) => line.slice(1));
    const at = Number(from) - (count === '0' ? 0 : 1) + shift;
    const found = out.splice(at, Number(count), ...side('+'));
    expect([found, Number(added)]).toEqual([side('-'), side('+').length]);
    shift += Number(added) - Number(count);
  }
  return out;
}
