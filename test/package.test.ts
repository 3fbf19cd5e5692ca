// `npm pack` in a clean clone, as a person who has just cloned the repository would call it.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

it('a clean clone sets itself up before it is packed', () => {
  const dir = mkdtempSync(join(tmpdir(), 'cuff-pack-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const clone = join(dir, 'clone');
  expect(spawnSync('git', ['clone', '-q', ROOT, clone]).status).toBe(0);
  // The packages are those of this checkout: a test does not use the network.
  const bin = join(dir, 'bin');
  mkdirSync(bin);
  const script = `#!/bin/sh\n[ "$1" = ci ] && exec cp -r '${ROOT}/node_modules' .\nexit 9\n`;
  writeFileSync(join(bin, 'npm'), script);
  chmodSync(join(bin, 'npm'), 0o755);
  const npm = spawnSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).stdout.trim();
  const { status, stdout, stderr } = spawnSync(npm, ['pack', '--silent'], {
    cwd: clone,
    env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
    encoding: 'utf8',
  });
  expect([status, stderr], stdout).toEqual([0, expect.stringContaining('setup: npm ci')]);
  const packed = join(clone, stdout.trim().split('\n').at(-1) ?? '');
  const files = spawnSync('tar', ['tzf', packed], { encoding: 'utf8' }).stdout.split('\n');
  expect(files).toEqual(
    expect.arrayContaining(['package/dist/cuff.cjs', 'package/dist/verify.py']),
  );
  expect(files.filter((name) => name.startsWith('package/dist/plugin/')).sort()).toEqual([
    'package/dist/plugin/.claude-plugin/marketplace.json',
    'package/dist/plugin/cuff/.claude-plugin/plugin.json',
    'package/dist/plugin/cuff/.mcp.json',
    'package/dist/plugin/cuff/gemini-extension.json',
    'package/dist/plugin/cuff/hooks/hooks.json',
    'package/dist/plugin/cuff/skills/cuff/SKILL.md',
  ]);
});
