// The README's blocks are run as they stand there, and what they print is compared.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../src/text/json.ts';
import { binary } from './cli/helper.ts';
import { claudeCall } from './recordings/transcripts/helper.ts';

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

const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

test('the README has at most 140 lines', () => {
  expect(README.trimEnd().split('\n').length).toBeLessThanOrEqual(140);
});

test('the README draws the way of a command, and says the same in text', () => {
  const way = README.slice(README.indexOf('## The way of a command'));
  expect(way).toMatch(/^## The way of a command\n\n```mermaid\n[\s\S]+?```\n\n```text\n/);
});

test('the review of the README prints what it says', () => {
  const [, block = ''] =
    /## What did your agents do\?\n\n```console\n([\s\S]*?)```/.exec(README) ?? [];
  const home = mkdtempSync(join(tmpdir(), 'cuff-readme-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const claude = [
    ...claudeCall('a', 'ls', { at: '2026-11-17T08:51:00.000Z', cwd: '/srv/app' }),
    ...claudeCall('b', 'cat .env.production', { at: '2026-11-17T08:52:00.000Z', cwd: '/srv/app' }),
  ];
  const item = (id: string, command: string): JsonObject => ({
    type: 'event_msg',
    payload: {
      type: 'item_completed',
      started_at_ms: Date.parse('2026-11-02T10:00:00Z'),
      item: { type: 'CommandExecution', id, command, exit_code: 0 },
    },
  });
  const meta = { type: 'session_meta', payload: { id: 'x', cwd: '/srv/app' } };
  const codex = [meta, ...['git push', 'rm -rf src', 'make'].map((one, i) => item(`c${i}`, one))];
  const write = (name: string, records: readonly JsonObject[]): void => {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), records.map((one) => JSON.stringify(one)).join('\n'));
  };
  write('.claude/projects/-srv-app/d44028a0.jsonl', claude);
  write('.codex/sessions/2026/11/02/rollout-x.jsonl', codex);
  const [command = '', ...lines] = block.trimEnd().split('\n');
  const words = [binary('cuff'), ...command.split(' ').slice(2), '--since', '2026-11-01'];
  const env = { ...process.env, HOME: home, CUFF_STATE_ROOT: join(home, 'state'), NO_COLOR: '1' };
  const out = execFileSync(process.execPath, words, { env, cwd: home, encoding: 'utf8' });
  expect(lines.pop()).toBe('...');
  expect(out.split('\n').slice(0, lines.length)).toEqual(lines);
});

test('the sixty seconds of the README print what they say', () => {
  const [, block = ''] = /## Sixty seconds\n\n```console\n([\s\S]*?)```/.exec(README) ?? [];
  const state = mkdtempSync(join(tmpdir(), 'cuff-readme-'));
  onTestFinished(() => rmSync(state, { recursive: true, force: true }));
  const env = { ...process.env, CUFF_STATE_ROOT: state, NO_COLOR: '1' };
  const bash = (command: string): string => {
    // A file, because the sleeper would hold a pipe open.
    const script = `exec >"$OUT" 2>&1; cuff() { '${process.execPath}' "$0" "$@"; }; ${command}`;
    const OUT = join(state, 'printed');
    spawnSync('bash', ['-c', script, binary('cuff')], { env: { ...env, OUT }, stdio: 'ignore' });
    return readFileSync(OUT, 'utf8');
  };
  const steps = block.split(/^\$ /m).slice(1);
  expect(steps).toHaveLength(5);
  for (const step of steps) {
    const [command = ''] = step.split('\n');
    const printed = bash(command);
    expect([command, sorted(printed)]).toEqual([command, sorted(step.slice(command.length + 1))]);
  }
});

/** Pids, ages and the columns they widen differ; two streams have no order between them. */
function sorted(text: string): string[] {
  return text
    .replace(/\b\d{3,}\b/g, 'PID')
    .replace(/\b\d+s\b/g, 'AGE')
    .replace(/ +/g, ' ')
    .split('\n')
    .sort();
}

test.each(['claude', 'codex', 'cursor', 'vscode', 'opencode'])(
  'the README names the file that `cuff init --client %s` writes to',
  (client) => {
    const home = mkdtempSync(join(tmpdir(), 'cuff-readme-'));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const { CODEX_HOME: _, ...rest } = process.env;
    const args = [binary('cuff'), 'init', '--client', client, '--print'];
    const options = { cwd: home, env: { ...rest, HOME: home }, encoding: 'utf8' } as const;
    const { stderr } = spawnSync(process.execPath, args, options);
    const file = /It belongs into (\S+)\.$/m.exec(stderr)?.[1];
    const row = README.split('\n').find((line) => line.includes(`--client ${client}`));
    expect(file).toBeDefined();
    expect(row).toContain(`\`${file}\``);
  },
);

test('no document installs a package by a name that anybody could claim', () => {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name));
  const bare = /\b(?:npx|npm exec|bunx|pnpm dlx|yarn dlx) (?:-\S+ )*(?:cuff|derun)\b/;
  const verbs = '(?:npm|pnpm|yarn|bun) (?:i|install|add|global add)';
  const install = new RegExp(`\\b${verbs} (?:-\\S+ )*(?:cuff|derun)(?!\\S*\\.tgz)\\b`);
  const found = ['README.md', 'CONTRIBUTING.md', ...docs].filter((name) => {
    const text = readFileSync(join(ROOT, name), 'utf8');
    return bare.test(text) || install.test(text);
  });
  expect(found).toEqual([]);
  for (const text of ['npm i -g cuff', 'npm install cuff', 'npx -y cuff mcp']) {
    expect(bare.test(text) || install.test(text)).toBe(true);
  }
});
