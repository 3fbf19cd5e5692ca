// The README's library example is run as it stands there, comments with what it prints included.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

test('the library example of the README prints what it says', () => {
  const [, code = ''] =
    /```ts\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'README.md'), 'utf8')) ?? [];
  const dir = mkdtempSync(join(tmpdir(), 'cuff-readme-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, 'example.mjs');
  writeFileSync(file, code.replace("'cuff'", JSON.stringify(join(ROOT, 'dist/index.js'))));
  const env = { ...process.env, CUFF_STATE_ROOT: join(dir, 'state') };
  const out = execFileSync(process.execPath, [file], { env, encoding: 'utf8' });
  const promised = [...code.matchAll(/^console\.log.*\/\/ (.*)$/gm)].map(([, text]) => text);
  expect(promised).toHaveLength(2);
  expect(out).toBe(`${promised.join('\n')}\n\n`);
});

test('the README shows code within its first twelve lines', () => {
  const lines = readFileSync(join(ROOT, 'README.md'), 'utf8').split('\n').slice(0, 12);
  expect(lines.filter((line) => line.startsWith('```'))).toHaveLength(2);
});
