// The agent of docs/getting-started.md is a program: it is run as it stands there.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { binary } from './cli/helper.ts';

const page = readFileSync(join(import.meta.dirname, '../docs/getting-started.md'), 'utf8');

test('the agent of the first ten minutes works, and so does what is shown behind it', () => {
  const home = mkdtempSync(join(tmpdir(), 'cuff-start-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
  const project = join(home, 'shop');
  for (const name of ['shop', 'bin']) mkdirSync(join(home, name));
  symlinkSync(binary('cuff'), join(home, 'bin', 'cuff'));
  const [, program] = /```js\n(.*?)```/s.exec(page) ?? [];
  writeFileSync(join(project, 'agent.mjs'), program ?? '');
  const { CUFF_SETTINGS: _, ...rest } = process.env;
  const env = {
    ...rest,
    HOME: home,
    PATH: `${join(home, 'bin')}:${process.env.PATH}`,
    CUFF_STATE_ROOT: join(home, 'state'),
    XDG_CONFIG_HOME: home,
    NO_COLOR: '1',
  };
  const run = (file: string, ...args: readonly string[]): string => {
    const { stdout, stderr, status } = spawnSync(file, args, { cwd: project, env });
    if (status !== 0) throw new Error(`${file} ${args.join(' ')}: ${status} ${stderr}`);
    return stdout.toString();
  };

  expect(run('cuff', 'init', '--client', 'claude', '--yes')).toContain('+++ .mcp.json');
  const told = run(
    process.execPath,
    'agent.mjs',
    'printf "cost %s\\n" 500 >&2; exit 1',
    // Forked is not yet what it will be: it is told under its own name only then.
    'sleep 100 & until grep -q ^sleep /proc/$!/cmdline; do :; done; echo up',
  );
  expect(told).toContain('"stdout": "up\\n"');
  expect(told).toContain('"command": "sleep 100"');
  expect(run('cuff', 'record', 'list')).toMatch(/ 2 +\S+ +shutdown +sealed\n$/);
  expect(run('cuff', 'record', 'search', 'cost 500', '--exit', '1')).toContain(
    'stderr+0: cost 500',
  );
  expect(run('cuff', 'record', 'stats')).toContain('Total Commands: 2');
  run('cuff', 'record', 'export', 'all', '--format', 'html', '--output', 'report.html');
  expect(readFileSync(join(project, 'report.html'), 'utf8')).toContain('cost 500');
});
